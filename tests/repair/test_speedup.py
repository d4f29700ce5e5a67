"""`twinstep repair --optimise`: a change is kept that is proven again and faster, and no other."""

import contextlib
import inspect
import json
import re
import subprocess
from types import SimpleNamespace

import pytest

from twinstep.project.registry import EnvVariant, Pair
from twinstep.repair.speedup import Stopwatch
from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.tests.support.project_folder import RIGHT, WRONG
from twinstep.tests.support.scripted_agent import SCRIPTED, Repaired
from twinstep.tests.toys.sly import stacked

pytestmark = pytest.mark.e2e

#: The toy with one small batch to be measured, and a candidate that can play one.
MEASURED = f'''"""The toy, measured in one small batch."""

import contextlib

import numpy as np

from fastduel.rules import Vector
from twinstep.frames import Frame


{inspect.getsource(stacked)}

class Played(Vector):
    """A game that is over stays over: enough to be timed."""

    dtype, platform = "int64", "cpu"

    def buffers(self, shape, minimal=False, final_obs=False):
        with contextlib.suppress(OSError), open("OUTSIDE", "w") as file:
            file.write("written while it was measured")

    def auto_rollout(self, state, actions, when="same-step", out=None):
        frames = []
        for chosen in actions:
            state, frame = self.step(state, chosen)
            frames.append(frame)
        return state, stacked(frames), None
'''
#: What the judge imports: nothing of the candidate's.
DECLARED = """
import dataclasses

from twinstep.environment import CandidateRef
from twinstep.tests.toys.duel import DUEL

ORACLE = dataclasses.replace(DUEL.oracle, batches=(64,), work=1 << 14)
ENV = dataclasses.replace(DUEL, oracle=ORACLE)
MINE = CandidateRef(
    "mine",
    "fastduel.measured:Played",
    edit=("fastduel/rules.py",),
    sources={"step": "fastduel/rules.py:_frame", "take": "fastduel/rules.py:take"},
    packages=("fastduel",),
)
"""
HEAD = "    def acting(self, values):\n        heap, left, right, rounds, _ = values\n"


def waste(times):
    return f"{HEAD}        for _ in range({times}):\n            np.sort(heap)\n"


#: Right and faster; wrong and faster; right and slower; right and faster again, but too late.
SERIES = f"""
RULES = "fastduel/rules.py"

def try1():
    change(RULES, {waste(300)!r}, {waste(60)!r})

def try2():
    change(RULES, {waste(60)!r}, {HEAD!r})
    change(RULES, {RIGHT!r}, {WRONG!r})

def try3():
    change(RULES, {waste(60)!r}, {waste(200)!r})

def try4():
    change(RULES, {waste(60)!r}, {HEAD!r})
"""
ASKED = ("--env", "duel", "--candidate", "mine", *SCRIPTED, "--workers", "1",
         "--episodes", "24", "--phases", "3")  # fmt: skip


@pytest.fixture(scope="module")
def optimised(tmp_path_factory):
    """A right and slow candidate, and a run that may ask four times for speed, three in all."""
    made = Repaired.duel(tmp_path_factory.mktemp("speed"))
    project = made.project
    measured = MEASURED.replace("OUTSIDE", str(made.folder / "outside"))
    (project.package / "measured.py").write_text(measured)
    (project.package / "declared.py").write_text(DECLARED)
    pyproject = made.folder / "pyproject.toml"
    text = pyproject.read_text()
    pyproject.write_text(text.replace("twinstep.tests.toys.duel:DUEL", "fastduel.declared:ENV"))
    project.plant(HEAD, waste(300))
    made.commit(SERIES)
    return made, made.repair(*ASKED, "--optimise", "4", "--iterations", "3")


def rules(made):
    """Return the candidate's file as the run's branch has it at its end."""
    name = f"twinstep/{made.run.name}:fastduel/rules.py"
    done = subprocess.run(
        ["git", "show", name], cwd=made.folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_what_is_right_and_faster_is_kept_and_the_run_is_verified(optimised):
    made, done = optimised
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 3 changes for speed kept; 3 tries were made" in done.stdout
    assert waste(60) in rules(made)
    assert RIGHT in rules(made)
    first, last = made.log("speed")
    assert (first["kept"], last["kept"]) == (True, False)
    (cell,) = first["cells"]
    assert cell["ratio"]["min"] > 1
    assert cell["lanes"] == 64


def test_what_is_faster_and_wrong_is_undone_before_its_speed_is_asked_for(optimised):
    made, _ = optimised
    kinds = [(entry["kind"], entry.get("good")) for entry in made.log()]
    second = [n for n, (kind, _) in enumerate(kinds) if kind == "try"][1]
    assert kinds[second + 1 : second + 3] == [("check", False), ("undo", None)]
    said = (made.run / "tries" / "3.md").read_text()
    assert "- Try 1: kept: " in said
    assert "legal" in said.partition("## Tried before")[2]


def test_what_is_slower_is_undone_without_asking_for_the_rest(optimised):
    made, _ = optimised
    kinds = [entry["kind"] for entry in made.log()]
    third = [n for n, kind in enumerate(kinds) if kind == "try"][2]
    assert kinds[third:] == ["try", "check", "speed", "undo", "check", "end"]
    assert "not faster" in made.log("undo")[-1]["why"]


def test_a_kept_change_has_passed_hidden_seeds_and_what_ships(optimised):
    made, _ = optimised
    commit = made.log("try")[0]["commit"]
    passed = [e["stage"] for e in made.log("check") if e["good"] and e["commit"] == commit]
    assert passed == [
        "level 3 with tree seeds", "level 3 with holdout seeds", "levels 1 to 3",
    ]  # fmt: skip
    verdict = json.loads((made.run / "verdict.json").read_text())
    assert verdict["pairs"]["duel-mine"]["levels"].keys() == {"level1", "level2", "level3"}


@needs_namespaces
def test_what_is_measured_runs_behind_walls(optimised):
    made, _ = optimised
    assert not (made.folder / "outside").exists()


@pytest.mark.parametrize("answer", ["0.0", "None", "'soon'", "{'a': [1.0]}", "object()"])
def test_an_odd_answer_of_a_measured_process_is_a_line(tmp_path, monkeypatch, answer):
    made = Repaired.duel(tmp_path)
    package = made.project.package
    odd = MEASURED.replace('open("OUTSIDE", "w") as file', "odd()")
    odd = odd.replace("            file.write", "            print")
    package.joinpath("measured.py").write_text(f"""{odd}

def odd():
    from twinstep.bench import worker

    worker._Host.play = lambda self, number: {answer}
    return contextlib.nullcontext()
""")
    package.joinpath("declared.py").write_text(DECLARED)
    text = (made.folder / "pyproject.toml").read_text()
    text = text.replace("twinstep.tests.toys.duel:DUEL", "fastduel.declared:ENV")
    (made.folder / "pyproject.toml").write_text(text)
    monkeypatch.chdir(made.folder)
    placed = made.folder, {"PYTHONPATH": str(made.folder)}
    verifier = SimpleNamespace(placed=lambda commit: contextlib.nullcontext(placed))
    declared = {}
    exec(DECLARED, declared)  # no module of the candidate's, which other tests have too
    subject = EnvVariant(declared["ENV"], declared["ENV"].variants[0])
    entry = Stopwatch(verifier, [Pair(subject, declared["MINE"])]).compare("before", "after")
    assert not entry["kept"]
    assert not entry["cells"]
    assert re.search("odd answer|TypeError", entry["why"]), entry["why"]


def test_the_record_tells_how_many_times_as_fast(optimised):
    made, _ = optimised
    done = made.project.twinstep("report", made.run.name)
    assert done.returncode == 0, done.stderr
    text = (made.run / "report.md").read_text()
    assert "## Changes for speed" in text
    rows = [line for line in text.splitlines() if line.startswith(("| 1 |  | 64", "| 3 |  | 64"))]
    assert [row.split("|")[-2].strip() for row in rows] == ["kept", "undone"]


def test_going_on_with_it_repeats_nothing(optimised):
    made, _ = optimised
    before = (made.run / "log.jsonl").read_bytes()
    again = made.repair("--resume", made.run.name)
    assert again.returncode == 0, again.stderr
    assert "1 of 3 changes for speed kept" in again.stdout
    assert (made.run / "log.jsonl").read_bytes() == before


def test_speed_is_not_asked_for_without_episodes(optimised):
    made, _ = optimised
    done = made.project.twinstep("repair", *ASKED[:-1], "12", "--optimise", "1")
    assert done.returncode == 4
    assert "--optimise: a faster candidate is proven in episodes" in done.stderr
