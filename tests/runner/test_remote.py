"""With --isolate a candidate cannot reach where the verdict is made, whatever it tries."""

import re
from pathlib import Path

import numpy as np
import pytest

from twinstep.frames import Frame, Start
from twinstep.protocols import ModuleCall
from twinstep.runner.wire import Garbled, Held, pack, unpack
from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.tests.support.project_folder import Project
from twinstep.walls.standing import standing

PROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.attackers:DUEL"
"""
SAYS = {
    "exits": "CandidateDied: its process ended by itself with exit code 0",
    "aborts": "CandidateDied: its process crashed (SIGABRT)",
    "crashes": "CandidateDied: its process crashed (SIGSEGV)",
    "hangs": "CandidateDied: its process said nothing for 3 s",
    "garbles": "CandidateDied: its process sent what is no answer",
}
#: What the operating system answers them is an answer to the case, and a report.
RAISE = {
    "connects": "OSError: [Errno 97] Address family not supported by protocol",
    "readstraces": "FileNotFoundError: [Errno 2] No such file or directory",
}
#: They do what they try, in a place that is theirs alone, and differ as if they had not.
IN_VAIN = ("spawns", "writes", "looks", "patches", "stale")


@pytest.fixture(scope="module")
def ran(tmp_path_factory, toy_cache):
    Path("/tmp/verdict-of-an-attacker.json").unlink(missing_ok=True)
    project = Project(tmp_path_factory.mktemp("isolated") / "project", toy_cache)
    (project.folder / "pyproject.toml").write_text(PROJECT)
    run = project.pytest(
        "-m", "level1 or level3", "--driver", "random", "--episodes", "6", "--isolate",
        suite="properties rollouts.test_lockstep",
    )  # fmt: skip
    assert run.code == 1, run.text
    return run


@pytest.mark.parametrize("name", SAYS)
def test_what_it_tries_is_stopped_and_named(ran, name):
    assert ran.verdict["pairs"][f"duel-{name}"]["verdict"] == "differs"
    assert f"duel-{name}: the candidate cannot step: {SAYS[name]}" in ran.text


@needs_namespaces
@pytest.mark.parametrize("name", RAISE)
def test_what_is_not_there_for_it_is_said(ran, name):
    assert ran.verdict["pairs"][f"duel-{name}"]["verdict"] == "differs"
    assert f"duel-{name} fails level 3: the candidate raises {RAISE[name]}" in ran.text


@needs_namespaces
@pytest.mark.parametrize("name", IN_VAIN)
def test_what_it_can_do_inside_does_not_help(ran, name):
    assert ran.verdict["pairs"][f"duel-{name}"]["verdict"] == "differs"
    assert re.search(rf"^duel-{name} fails level 3: ", ran.text, re.MULTILINE)
    assert not Path("/tmp/verdict-of-an-attacker.json").exists()


def test_two_processes_at_one_pipe_do_not_help(ran):
    """Which of them takes a request is chance, and so is what the run says of it."""
    assert ran.verdict["pairs"]["duel-forks"]["verdict"] == "differs"


def test_a_run_says_which_walls_stand(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache, PROJECT)
    run = project.pytest(
        "-vv", "--isolate", "--candidate", "vector", "-k", "its_repetition",
        suite="interactions.test_batches",
    )  # fmt: skip
    assert f"  {standing()}\n" in run.text


def test_an_honest_candidate_beside_them_is_equal(ran):
    assert ran.verdict["pairs"]["duel-vector"]["verdict"].startswith("equal")


def test_every_attacker_is_tested(ran):
    named = {f"duel-{name}" for name in [*SAYS, *RAISE, *IN_VAIN, "forks", "vector"]}
    assert ran.verdict["pairs"].keys() == named


FRAME = Frame(
    np.zeros((2, 1), np.float32), np.ones(2), np.array(False), np.array(True), np.ones(1, bool),
    None, {"key": np.uint32(7)},
)  # fmt: skip
VALUES = [
    None, True, 3, 0.1, "text", [1, (2, "x")], {"a": np.arange(3, dtype=np.int8)}, Held(4),
    Start(np.zeros((2, 2), np.uint32), {"deck": np.ones((2, 3), np.int16)}), FRAME,
    [ModuleCall("m", {"x": np.float64(-0.0)}, {"y": np.zeros((0, 3))})],
    np.array([np.nan, -0.0, np.inf]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_a_value_comes_back_bit_for_bit(value):
    again = unpack(pack(value))
    assert type(again) is type(value) or isinstance(again, np.ndarray)
    assert pack(again) == pack(value)


@pytest.mark.parametrize("value", [object(), {"x": {1, 2}}, np.array([object()]), np.array(["a"])])
def test_what_is_no_number_is_not_sent(value):
    with pytest.raises(TypeError):
        pack(value)


def test_a_message_that_is_none_is_refused():
    good = pack(("ok", np.arange(4)))
    for bad in (b"", b"\x80\x04K\x01.", good[:-1], good + b"x", good.replace(b"<i8", b"|O8")):
        with pytest.raises(Garbled):
            unpack(bad)
