"""A project that `twinstep init` writes around a C header."""

import os
import shutil
import subprocess
import sys

import pytest

from twinstep.tests.support import init_projects
from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import EPISODES, SHORT, init, run

# A long way from end to end.
pytestmark = pytest.mark.e2e


@pytest.fixture
def walk(empty):
    if not shutil.which(os.environ.get("CC", "cc").split()[0]):
        pytest.skip("no C compiler")
    beside = empty.parent / "upstream"
    beside.mkdir()
    (beside / "env.h").write_text(init_projects.HEADER)
    (beside / "side.h").write_text("#define SIDE 5\n")
    assert init("header:../upstream/env.h", "--name", "walk") == 0
    return empty


def test_each_place_in_a_headers_project_is_named_until_it_is_filled_in(walk):
    package = walk / "twinstep_walk"
    places = [*[("oracle/oracle.c", place) for place in init_projects.FILLED_C],
              *[("contract.py", place) for place in init_projects.FILLED_CONTRACT]]  # fmt: skip
    named = []
    for file, (old, new) in places:
        if "FILL IN the " in old:
            what = old.partition("FILL IN the ")[2].partition(":")[0]
            with pytest.raises(
                Exception, match=f"{file}:[0-9]+: still to be filled in: the {what}$"
            ):
                _library(package)
            named.append(what)
        fill(package / file, [(old, new)])
    assert named == ["struct", "fields", "reset", "step", "actions", "observation", "randomness"]
    assert _library(package)


def _library(package):
    """Compile in a new process each time, as the oracle's does."""
    code = "from twinstep_walk.oracle import bridge; print(bridge.library())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout


def _filled(walk):
    fill(walk / "twinstep_walk/oracle/oracle.c", init_projects.FILLED_C)
    fill(walk / "twinstep_walk/contract.py", init_projects.FILLED_CONTRACT)
    fill(walk / "twinstep_walk/fast/candidate.py", init_projects.FILLED_JAX)


def test_a_headers_project_is_red_by_name_then_green_then_finds_a_slip(walk):
    code, text = run(walk, "pytest", *EPISODES)
    assert code == 1
    assert "twinstep_walk/oracle/oracle.c:17: still to be filled in: the struct" in text
    assert "Traceback" not in text
    _filled(walk)
    code, text = run(walk, "pytest", *SHORT)
    assert code == 0, text
    assert "walk-jax (float32 on cpu): equal" in text
    fill(walk / "twinstep_walk/fast/candidate.py", [("1.0, -0.25", "1.0, -0.5")])
    code, text = run(walk, "pytest", *EPISODES)
    assert code == 1
    assert "`reward` is -0.5, oracle -0.25, at step 1 of 1" in text


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "says"),
    [
        ("twinstep_walk/oracle/oracle.c", "float obs[2];", "float obs[3];", 1,
         "oracle.c's Result has 24 bytes, observation and STATE in contract.py make 20"),
        ("../upstream/env.h", "-0.25f", "-0.5f", 0,
         "env.h is not the file that was pinned: restore it"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_headers_project_is_said(walk, file, old, new, code, says):
    _filled(walk)
    fill(walk / file, [(old, new)])
    ended, text = run(walk, "pytest", *EPISODES, "-rs")
    assert ended == code, text
    assert says in text
    assert " passed" not in text


def test_a_headers_project_names_a_broken_call_and_a_file_beside_that_was_edited(walk):
    _filled(walk)
    fill(walk / "twinstep_walk/oracle/oracle.c", [("walk_step(", "wlk_step(")])
    with pytest.raises(RuntimeError, match="the reference does not compile: "):
        _library(walk / "twinstep_walk")
    fill(walk / "../upstream/side.h", [("5", "6")])
    code = "from twinstep_walk.oracle.probe import probe; print(probe({}).problem)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=walk, capture_output=True, text=True, check=True
    )
    assert done.stdout == "side.h is not the file that was pinned\n"
