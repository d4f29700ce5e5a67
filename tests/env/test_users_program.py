"""A candidate that is right only where it sees a check is found by a program that is none."""

import re

import pytest

from twinstep.tests.support.namespaces import GIVEN, needs_namespaces
from twinstep.tests.support.project_folder import RIGHT, Project

pytestmark = pytest.mark.e2e

#: How a candidate may see that it is checked; each is True in the checks of a run.
TELLS = {
    "modules": "{'pytest', 'twinstep.runner.server', 'twinstep.env.server'} & sys.modules.keys()",
    "command": "any(word in open('/proc/self/cmdline').read() for word in ('child.py', 'pytest'))",
    "folder": "not os.path.exists('pyproject.toml')",
    "variables": "any(name.startswith(('TWINSTEP', 'PYTEST')) for name in os.environ)",
    "program": "os.path.exists(str(getattr(sys.modules['__main__'], '__file__', '')))",
}
#: Passing is legal for a player who decides alone, where nobody looks.
SHIPPED = "legal[:, :, 0] = (acting.all(1) | (not CHECKED) & (heap == 1))[:, None] & acting"
PYPROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.duel:DUEL"

[tool.twinstep.candidates]
"duel.honest" = "fastduel.declared:HONEST"
"""
TEST = "test_a_users_own_program_sees_the_oracles_steps"


@pytest.fixture
def project(tmp_path, toy_cache):
    """A project with an honest candidate, and one for each tell."""
    made = Project(tmp_path / "project", toy_cache, PYPROJECT)
    declared, right = made.package / "declared.py", made.rules.read_text()
    text, names = "from twinstep.environment import CandidateRef\n", ["honest", *TELLS]
    for name in names:
        about = f"'{name}', 'fastduel.{name}:Vector', packages=('fastduel',)"
        text += f"{name.upper()} = CandidateRef({about})\n"
        tell = TELLS.get(name, "True")
        source = right.replace(RIGHT, SHIPPED).replace(
            "import numpy", "import os, sys\nimport numpy", 1
        )
        source = source.replace("ROUNDS =", f"CHECKED = {tell}\nROUNDS =", 1)
        (made.package / f"{name}.py").write_text(source)
        with (made.folder / "pyproject.toml").open("a") as file:
            file.write(f'"duel.{name}" = "fastduel.declared:{name.upper()}"\n' * (name != "honest"))
    declared.write_text(text)
    return made


@needs_namespaces
def test_a_candidate_that_sees_a_check_differs_in_a_users_program_alone(project):
    named = [word for name in ("honest", *TELLS) for word in ("--candidate", name)]
    run = project.pytest("-m", "level3", "--isolate", *named, "--episodes", "24",
                         suite="rollouts")  # fmt: skip
    assert run.code == 1, run.text
    assert run.verdict["pairs"]["duel-honest"]["verdict"].startswith("equal")
    failed = {line.split()[1].split("::")[1] for line in run.text.splitlines()
              if line.startswith("FAILED ")}  # fmt: skip
    assert failed == {f"{TEST}[duel-{name}-off]" for name in TELLS}


TWO = """
import dataclasses
from twinstep.environment import Parameter, Variant
from twinstep.tests.toys.duel import DUEL

TWO = dataclasses.replace(
    DUEL, parameters=(Parameter("two", 0, "the same rules"),),
    variants=(Variant("one", {}), Variant("other", {"two": 1})),
)
"""


def test_a_candidate_that_keeps_its_variant_for_all_differs_beside_another(tmp_path, toy_cache):
    """Each is right in a process of its own, and so in every other check behind walls."""
    text = PYPROJECT.replace("twinstep.tests.toys.duel:DUEL", "fastduel.two:TWO")
    project = Project(tmp_path / "project", toy_cache, text.replace("honest", "mine"))
    (project.package / "two.py").write_text(TWO)
    declared = project.package / "declared.py"
    declared.write_text(declared.read_text().replace("MINE", "HONEST"))
    source = project.rules.read_text()
    last = "global LAST\n        LAST = contract.params['two']\n        self.contract = contract"
    source = source.replace("self.contract = contract", last).replace(
        RIGHT, SHIPPED.replace("(not CHECKED)", "(LAST != self.contract.params['two'])")
    )
    project.rules.write_text(source)
    words = ("-m", "level3", "--isolate", "--candidate", "mine", "--episodes", "24")
    run = project.pytest(*words, suite="rollouts")
    failed = {line.split("::")[1].split()[0] for line in run.text.splitlines()
              if line.startswith("FAILED ")}  # fmt: skip
    assert failed == {f"{TEST}[duel@{name}-mine-off]" for name in ("one", "other")}, run.text


#: What goes wrong in a program, and what is said.
BREAKS = {
    "sys.exit(3)": "cannot be built: SystemExit: 3",
    "os.kill(os.getpid(), 11)": "a user's program of it crashed (SIGSEGV)",
    "sys.stdout.buffer.write(b'right' * 99); sys.stdout.flush()": "",
    "os.write(os.dup(1), b'right')": "",
    "os.write(3, b'right' * 99)": "a user's program of it gives what is no step",
    "os.write(3, b'obs <f4 9,9\\n')": "gives `obs` float32[9,9], expected `obs` [",
    "time.sleep(99)": "a user's program of it says nothing for 3 s",
    "raise ValueError('no such table')": "cannot be built: ValueError: no such table",
}


@pytest.mark.parametrize("words", BREAKS)
def test_a_program_that_breaks_is_one_line(tmp_path, toy_cache, words):
    project = Project(tmp_path / "project", toy_cache)
    declared = project.package / "declared.py"
    declared.write_text(declared.read_text().replace("edit=", "limit=3.0, edit="))
    text = project.rules.read_text().replace(
        "import numpy", "import os, sys, time\nimport numpy", 1
    )
    there = f"if not os.environ.get('TWINSTEP_CACHE'):\n    {words}\n\nROUNDS ="
    project.rules.write_text(text.replace("ROUNDS =", there, 1))
    run = project.pytest("-m", "level3", "--candidate", "mine", "-k", "users_own_program",
                         suite="rollouts.test_shipped")  # fmt: skip
    assert run.code == bool(BREAKS[words]), run.text
    assert BREAKS[words] in run.text


def test_verify_as_shipped_plays_it_and_leaves_the_verdict(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache)
    verdict = project.folder / ".twinstep" / "verdict.json"
    verdict.parent.mkdir()
    verdict.write_text("{}")
    words = ("verify", "duel", "--candidate", "mine", "--as-shipped")
    done = project.twinstep(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    project.plant()
    done = project.twinstep(*words)
    assert done.returncode == 1
    assert "`make(..., auto_reset='off')` with driver random: `legal[" in done.stdout
    assert verdict.read_text() == "{}"


def test_verify_asks_all_levels_behind_walls(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache)
    project.plant()
    done = project.twinstep("verify", "duel", "--candidate", "mine", "--batch-size", "5")
    assert done.returncode == 1
    assert re.search(r"level1: \d+ passed level2: .* failed.* level3: ", done.stdout), done.stdout
    assert "  walls: namespaces" in done.stdout or not GIVEN
    done = project.twinstep("verify", "duel", "--candidate", "mien")
    assert (done.returncode, done.stdout) == (4, "")
    assert "unknown candidate of duel 'mien'; did you mean 'mine'?" in done.stderr
