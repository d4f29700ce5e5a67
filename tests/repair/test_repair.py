"""`twinstep repair` from a broken candidate to a verdict, and its other ends."""

import contextlib
import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from twinstep.project.commits import Commits
from twinstep.tests.support.project_folder import EARLY, RIGHT, TAKES, TAKES_ALL, WRONG
from twinstep.tests.support.scripted_agent import SCRIPTED, Repaired

pytestmark = pytest.mark.e2e

SHORT = ("--workers", "1", "--episodes", "24")
DUEL = ("--env", "duel", "--candidate", "mine", *SCRIPTED, *SHORT)

#: A module is fixed in the second try, the step in the fourth; in between a try makes it worse.
PARTIAL = f"""
RULES = "fastduel/rules.py"

def try2():
    change(RULES, {TAKES_ALL!r}, {TAKES!r})

def try3():
    change(RULES, "heap - left - right", "heap - left")

def try4():
    change(RULES, {EARLY!r}, {RIGHT!r})
"""


def git(folder, *args):
    done = subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def two_bugs(folder):
    """A project with a bug in a module and one that only episodes show, and the agent for it."""
    made = Repaired.duel(folder)
    made.project.plant(RIGHT, EARLY)
    made.project.plant(TAKES, TAKES_ALL)
    made.commit(PARTIAL)
    return made


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """A run with each kind of try: it does nothing, fixes a bug, makes it worse, fixes a bug."""
    made = two_bugs(tmp_path_factory.mktemp("walked"))
    return made, made.repair(*DUEL)


class TestWalked:
    """A run that was verified."""

    def test_partial_fixes_lead_to_a_verified_candidate(self, walked):
        made, done = walked
        assert done.returncode == 0, done.stdout + done.stderr
        assert "verified: every check passed" in done.stdout
        files = git(made.folder, "show", f"twinstep/{made.run.name}:fastduel/rules.py")
        made.project.mend()
        assert files == made.project.rules.read_text().strip()

    def test_a_module_is_mended_before_the_whole_and_the_whole_before_episodes(self, walked):
        made, _ = walked
        asked = [(entry["phase"], entry["module"]) for entry in made.log("try")]
        assert asked == [("1", "take"), ("1", "take"), ("3", "step"), ("3", "step")]
        stages = list(dict.fromkeys(entry["stage"] for entry in made.log("check")))
        assert stages == [
            "level 1", "level 1 of take", "levels 1 to 2", "levels 1 to 3 with tree seeds",
            "level 3 with holdout seeds", "levels 1 to 3", "a user's own program",
        ]  # fmt: skip

    def test_what_makes_it_worse_is_undone_and_the_next_prompt_says_so(self, walked):
        made, _ = walked
        (undone,) = made.log("undo")
        assert undone["number"] == 3
        tries = made.log("try")
        tree = [
            git(made.folder, "rev-parse", f"{c}^{{tree}}")
            for c in (undone["commit"], tries[2]["base"])
        ]
        assert tree[0] == tree[1]
        assert "Try 3 was undone: it made things worse" in (made.run / "tries" / "4.md").read_text()

    def test_the_witness_of_a_failed_episode_is_a_regression_before_the_next_prompt(self, walked):
        made, _ = walked
        kinds = [entry["kind"] for entry in made.log()]
        kept = made.log("regression")[0]
        assert kinds[kinds.index("regression") + 1] == "try"
        files = git(made.folder, "ls-tree", "-r", "--name-only", made.log("try")[2]["base"]).split()
        for name in kept["reports"]:
            assert f"rollouts/regressions/{name}.json" in files
            assert f"properties/regressions/{name}.json" in files

    def test_the_verdict_is_that_of_what_ships_and_says_nothing_of_the_run(self, walked):
        made, _ = walked
        verdict = json.loads((made.run / "verdict.json").read_text())
        assert verdict["pairs"]["duel-mine"]["levels"].keys() == {"level1", "level2", "level3"}
        assert "run" not in verdict

    def test_costs_are_added_up_and_lines_counted(self, walked):
        made, done = walked
        assert [entry["cost"] for entry in made.log("try")] == [0.25] * 4
        assert made.log("try")[1]["lines"] == {"added": 1, "removed": 1}
        assert "try 2 (phase 1, take): " in done.stdout

    def test_a_run_that_is_verified_says_so_again_and_does_nothing(self, walked):
        made, _ = walked
        before = (made.run / "log.jsonl").read_bytes()
        again = made.repair("--resume", made.run.name)
        assert again.returncode == 0, again.stderr
        assert "verified" in again.stdout
        assert (made.run / "log.jsonl").read_bytes() == before

    def test_merging_the_branch_gives_a_project_that_passes(self, walked):
        made, done = walked
        git(made.folder, "checkout", "-q", "--", ".")
        git(made.folder, "merge", "-q", f"twinstep/{made.run.name}")
        merged = Commits(made.folder / ".git", Path()).digest("HEAD")
        assert f"whose files have sha256 {merged}" in done.stdout
        assert made.log("check")[-1]["files"] == made.log("end")[0]["files"] == merged
        run = made.project.pytest()
        assert run.code == 0, run.text
        git(made.folder, "reset", "-q", "--hard", "HEAD@{1}")

    @pytest.mark.slow
    def test_killed_at_ten_moments_it_ends_the_same(self, walked, tmp_path):
        made, _ = walked
        killed = two_bugs(tmp_path)
        code = killed_at(killed, DUEL, 10, 9.0)
        assert code == 0
        assert [_essence(entry) for entry in killed.log()] == [_essence(e) for e in made.log()]
        assert _end(killed) == _end(made)


def test_from_a_candidate_that_cannot_be_built_to_verified(tmp_path):
    """It has no auto-reset of its own: rows of checks that ask for one are none that it lost."""
    made = Repaired.duel(tmp_path)
    right = made.project.rules.read_text()
    made.project.rules.write_text("raise ImportError('nothing is written yet')\n")
    made.commit(f"def try1():\n    Path('fastduel/rules.py').write_text({right!r})\n")
    done = made.repair(*DUEL, "--phases", "23")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(made.log("try")) == 1


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path):
    made = two_bugs(tmp_path)
    assert killed_at(made, (*DUEL, "--phases", "1"), 3, 6.0) == 0
    kinds = [(entry["kind"], entry.get("number")) for entry in made.log()]
    assert kinds == [
        ("begin", None), ("check", None), ("try", 1), ("check", None), ("try", 2), ("check", None),
        ("check", None), ("end", None),
    ]  # fmt: skip


def killed_at(made, asked, kills, longest):
    """Run and kill so many times after a while of up to `longest` seconds; return how it ended."""
    moments = random.Random(20261123)
    while True:
        process = made.project.start("repair", *asked)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(1.0, longest) if kills else 600)
        if process.returncode is not None:
            assert not kills
            return process.returncode
        process.kill()
        process.wait()
        kills -= 1
        # Before the first entry there is nothing to go on with.
        if begun := list((made.folder / ".twinstep" / "runs").glob("*/log.jsonl")):
            asked = ("--resume", begun[0].parent.name)


def _end(made):
    """The candidate's file and the names of all files at the end."""
    commit = made.log("end")[0]["commit"]
    text = git(made.folder, "show", f"{commit}:fastduel/rules.py")
    return text, git(made.folder, "ls-tree", "-r", "--name-only", commit)


def _essence(entry):
    """The content that must not depend on the time of a kill."""
    names = ["kind", "stage", "number", "module", "passed", "failed", "good", "trouble"]
    # A check's hash covers the regressions, which bear the run's name.
    names += ["files"] if entry["kind"] == "try" else []
    return [entry.get(name) for name in names]


LATE = f"""
def try3():
    change("fastduel/rules.py", {WRONG!r}, {RIGHT!r})
"""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run whose agent does nothing for two tries."""
    made = Repaired.duel(tmp_path_factory.mktemp("stopped"))
    made.project.plant()
    made.commit(LATE)
    return made, made.repair(*DUEL, "--phases", "3", "--tries", "2")


@pytest.mark.slow
class TestStopped:
    """A run that needed a person, and went on."""

    def test_after_so_many_tries_a_person_is_asked(self, stopped):
        made, done = stopped
        assert done.returncode == 2, done.stdout + done.stderr
        assert "step still fails in phase 3 after 2 tries" in done.stderr
        text = (made.run / "needs-human.md").read_text()
        assert "`legal` of player 1" in text
        assert f"twinstep repair --resume {made.run.name} --more-tries 5" in text

    def test_more_tries_go_on_where_it_stopped(self, stopped):
        made, _ = stopped
        assert made.repair("--resume", made.run.name).returncode == 2
        foreign = made.run / "cache" / "traces" / "foreign.npz"
        foreign.write_text("recorded by nobody")
        done = made.repair("--resume", made.run.name, "--more-tries", "2")
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(made.log("try")) == 3
        assert not foreign.exists()


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        (("--iterations", "1"), "1 tries were made"),
        (("--budget-usd", "0.2"), "0.25 of 0.20 dollars are spent"),
        (("--hours", "0.0001"), "0.36 seconds are over"),
    ],
)
def test_a_budget_that_is_spent_ends_the_run(tmp_path, limit, says):
    made = Repaired.duel(tmp_path)
    made.project.plant(TAKES, TAKES_ALL)
    made.commit("")
    done = made.repair(*DUEL, "--phases", "1", *limit)
    assert done.returncode == 1, done.stdout + done.stderr
    assert says in done.stderr


def test_a_run_that_is_killed_ends_the_agent_that_it_started(tmp_path):
    made = Repaired.duel(tmp_path)
    made.project.plant(TAKES, TAKES_ALL)
    at_work = tmp_path / "pid"
    made.commit(f"""
def every():
    import time
    draft = Path({str(at_work.with_suffix(".new"))!r})
    draft.write_text(str(os.getpid()))
    draft.rename({str(at_work)!r})
    time.sleep(600)
""", timeout=900)  # fmt: skip
    # Behind walls it could not say so here; their end is tests/walls' business.
    with made.project.start("repair", *DUEL, "--phases", "1", "--no-sandbox") as running:
        while not at_work.exists():
            assert running.poll() is None
            time.sleep(0.1)
        running.terminate()
        assert running.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(at_work.read_text()), 0)
