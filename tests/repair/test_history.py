"""`twinstep report`: the content of a journal, no more and no less.

A journal by hand is the command's input here. Its lines have the keys that the loop itself
writes, which one test checks.
"""

import dataclasses
import importlib.util
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from twinstep.cli import main
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.commits import Commits
from twinstep.project.processes import Ended
from twinstep.project.repository import Repository
from twinstep.repair import (
    attempt,
    history,
    history_markdown,
    history_plot,
    loop,
    metadata,
    provenance,
)
from twinstep.repair.checks import Checks
from twinstep.repair.journal import Journal, read
from twinstep.repair.prompting import PromptSource
from twinstep.repair.sandbox import TRUST
from twinstep.repair.speedup import Stopwatch
from twinstep.repair.verifier import Result, Stage
from twinstep.tests.support.deep_folder import nested
from twinstep.tests.toys import duel

drawn = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None,
    reason="draws with matplotlib, of the extra `report`",
)
NAME = "duel-mine-20261123-155421-e8bb"
BEGIN = {
    "kind": "begin", "env": "duel", "candidate": "mine", "agent": "scripted", "tries": 5,
    "iterations": 50, "budget_usd": 0.0, "hours": 1.5, "phases": "1234", "episodes": 100,
    "workers": 2, "check_minutes": 120.0, "base": "c0", "sandbox": True,
}  # fmt: skip


def check(commit, levels, passed, failed=0, skipped=0, **other):
    made = {
        "kind": "check", "commit": commit, "files": f"f{commit[1:]}", "stage": Stage(levels).name,
        "phase_levels": list(levels), "seeds": "public",
        "good": not failed and passed > 0, "passed": passed, "skipped": skipped,
        "failed": [f"test_{n}" for n in range(failed)], "why": {}, "trouble": "",
        "levels": {f"level{levels[-1]}": {"passed": passed, "failed": failed, "errors": 0}},
        "reports": [], "suspect": "", "seconds": 10.0, "traces": "",
    }  # fmt: skip
    return made | other


def tried(number, phase, module, commit, cost=0.25, **other):
    made = {
        "kind": "try", "number": number, "base": "c0", "run": NAME, "try": str(number),
        "phase": str(phase), "module": module, "code": 0, "seconds": 30.0, "timed_out": False,
        "leftovers": 0, "cost": cost, "files": [], "outside": [], "damage": [],
        "commit": commit, "lines": {"added": 4, "removed": 1},
    }  # fmt: skip
    return made | other


END = {"kind": "end", "code": 0, "why": "every check passed", "commit": "c6", "files": "f6"}
WALK = [
    BEGIN,
    check("c0", (1,), 2, 2),
    tried(1, 1, "take", "c1", outside=["README.md", "setup.py"], leftovers=3),
    check("c1", (1,), 1, 3),
    {"kind": "undo", "number": 1, "commit": "c2", "why": "worse"},
    tried(2, 1, "take", "c3", cost=0.0123, timed_out=True),
    check("c3", (1,), 4, skipped=1),
    check("c3", (1, 2, 3), 6, 2),
    {"kind": "regression", "reports": ["aa", "bb"], "commit": "c4"},
    tried(3, 3, "step", "c5", seconds=3700.0),
    check("c5", (1, 2, 3), 3, trouble="refused before it was run: a.py|1: opens\na file"),
    {"kind": "end", "code": 2, "why": "step still fails", "commit": "c5", "files": "f5"},
    {"kind": "more", "tries": 7},
    tried(4, 3, "step", "c6"),
    check("c6", (1, 2, 3), 10),
    END,
]
UNKNOWN = [BEGIN, tried(1, 1, "take", "c1"), tried(2, 1, "take", "c2", cost=None)]


def rendered(entries, about=None):
    found = history.from_entries(NAME, entries)
    return history_markdown.markdown(found, about or metadata.Facts())


def row(text, name):
    (found,) = re.findall(rf"^\| {re.escape(name)} \| (.*) \|$", text, re.MULTILINE)
    return found


def test_the_table_has_every_number_of_the_journal():
    text = rendered(WALK)
    told = {
        "environment": "duel",
        "agent": "scripted",
        "phases asked for": "1, 2, 3, 4",
        "parts asked for": "take, step",
        "lines changed by all tries": "+16 -4",
        "tests of the last check": "10 passed, 0 failed, 0 skipped (levels 1 to 3)",
        "tries": "4, 1 of them undone",
        "regressions kept": "2",
        "refused changes outside its files": "2 in 1 tries",
        "processes left behind": "3",
        "tries ended for their time": "1",
        "time of the agent": "1 h 3 min",
        "time of 6 checks": "1 min 0 s",
        "cost": "0.7623 dollars",
        "tries granted on the way": "7",
        "an end before that": "needs a person: step still fails",
        "how it ended": "verified: every check passed",
    }
    assert {name: row(text, name) for name in told} == told
    assert row(text, "1, modules") == "2 | 1 | +8 -2 | 1 min 0 s | 0.2623"
    assert row(text, "step") == "2 | 0 | +8 -2 | 1 h 2 min | 0.50"
    assert "- try 1, refused: `README.md`, `setup.py`\n" in text


def test_a_try_has_the_tests_of_the_first_check_after_it():
    text = rendered(WALK)
    assert (
        "| 1 | 1 | take | 30.0 | 0.25 | +4 -1 | 1 of 4 (25.0 %) | level 1 "
        "| undone, 2 changes refused, 3 processes left behind |"
    ) in text
    assert "| 4 of 4 (100.0 %) | level 1 | ended for its time |" in text
    assert "| no tests: refused before it was run: a.py\\|1: opens | levels 1 to 3 |  |" in text


def test_what_is_almost_all_is_not_all():
    entries = [BEGIN, tried(1, 1, "take", "c1"), check("c1", (1,), 2999, 1)]
    assert "2999 of 3000 (99.9 %)" in rendered(entries)


def test_what_each_level_said_has_a_column_each():
    first = check("c0", (1,), 2) | {"levels": {"level1": {"passed": 2, "skipped": 4}}}
    third = check("c0", (3,), 1) | {"levels": {"level3": {"passed": 1, "expected_failures": 1}}}
    text = rendered([BEGIN, first, third])
    assert "| after try | check | level 1 | level 3 | all tests | seconds |" in text
    assert "| 0 | level 1 | 2 passed, 4 skipped |  | 2 passed, 0 failed, 0 skipped | 10.0 |" in text
    assert "| 0 | level 3 |  | 1 expected failures, 1 passed |" in text


def test_a_run_killed_at_any_moment_renders_the_same_bytes_twice_and_claims_no_end(tmp_path):
    lines = [json.dumps(entry) + "\n" for entry in WALK]
    for number in range(1, len(lines) + 1):
        (tmp_path / "log.jsonl").write_text("".join(lines[:number]) + '{"kind": "tr')
        entries = read(tmp_path / "log.jsonl")
        text = rendered(entries)
        assert text == rendered(entries)
        ended = entries[-1]["kind"] == "end"
        assert ("under way, or killed: `twinstep repair --resume" in text) == (not ended)
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(widths) == 1, table
    assert "not checked yet" in rendered(WALK[:3])


def test_names_that_an_agent_chose_cannot_break_a_table():
    odd = ["a|b", "c\nd", "e\\|f"]
    text = rendered([BEGIN, tried(1, 1, "x|\ny", "c1", outside=odd)])
    assert row(text, "parts asked for") == "x\\| y"
    assert "- try 1, refused: `a\\|b`, `c d`, `e\\\\\\|f`\n" in text


def test_one_unknown_cost_makes_the_whole_unknown():
    text = rendered(UNKNOWN)
    assert row(text, "cost") == "unknown (known: 0.25 dollars)"
    assert row(text, "1, modules").endswith("| unknown (known: 0.25)")
    assert "| 2 | 1 | take | 30.0 | unknown |" in text
    assert row(rendered([BEGIN]), "cost") == "0.00 dollars"


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([], "killed before it began"),
        ([END], "it begins with 'end'"),
        ([{"kind": "begin", "env": "duel"}], "its first line has no candidate"),
        ([BEGIN, {"kind": "sing"}], "it has 'sing'"),
        ([BEGIN, {"kind": "check"}], "KeyError: 'phase_levels'"),
        ([BEGIN, {"kind": "undo", "number": 1, "commit": "c1"}], "another version"),
    ],
)
def test_a_journal_of_another_version_is_a_clear_error(entries, says):
    with pytest.raises(UserError, match=re.escape(says)):
        history.from_entries(NAME, entries)


def colours(picture):
    """The colours of a picture's pixels, as `0072b2`."""
    from matplotlib.image import imread

    pixels = (imread(io.BytesIO(picture))[:, :, :3] * 255).round().astype("u1")
    return {pixel.hex() for pixel in set(map(bytes, pixels.reshape(-1, 3)))}


class TestFigure:
    def test_an_undone_try_is_off_the_line_and_a_check_without_tests_too(self):
        kept, undone, silent = history_plot.series(history.from_entries(NAME, WALK))
        told = [(one.after, one.phase, one.percent) for one in kept]
        assert told == [(0, 1, 50.0), (2, 1, 100.0), (2, 3, 75.0), (4, 3, 100.0)]
        assert [(one.after, one.percent) for one in undone] == [(1, 25.0)]
        assert [one.after for one in silent] == [3]

    def test_an_undone_try_whose_check_ran_no_tests_is_marked_as_undone_too(self):
        entries = [BEGIN, tried(1, 1, "take", "c1"), check("c1", (1,), 0, trouble="no build"),
                   {"kind": "undo", "number": 1, "commit": "c2", "why": "worse"}]  # fmt: skip
        kept, undone, silent = history_plot.series(history.from_entries(NAME, entries))
        assert (kept, [one.after for one in undone], silent) == ([], [1], undone)

    def test_the_cost_is_drawn_only_if_all_of_it_is_known(self):
        spent = history_plot.spending(history.from_entries(NAME, WALK))
        assert spent == pytest.approx([0.0, 0.25, 0.2623, 0.5123, 0.7623])
        assert history_plot.spending(history.from_entries(NAME, UNKNOWN)) == []

    @drawn
    def test_it_is_drawn_the_same_twice(self):
        found = history.from_entries(NAME, WALK)
        picture = history_plot.png(found)
        assert picture[:8] == b"\x89PNG\r\n\x1a\n"
        assert picture == history_plot.png(found)

    @drawn
    def test_phases_undone_tries_and_the_cost_have_their_colours(self):
        blue, green, orange, red, purple = "0072b2", "009e73", "e69f00", "d00000", "7a5195"
        for entries, has in (
            (WALK[:10], {blue, orange, red, purple}),
            ([entry for entry in WALK[:10] if entry["kind"] != "undo"], {blue, orange, purple}),
            ([BEGIN, check("c0", (1, 2), 3), *UNKNOWN[1:]], {green}),
        ):
            shown = colours(history_plot.png(history.from_entries(NAME, entries)))
            assert shown & {blue, green, orange, red, purple} == has

    @drawn
    def test_a_run_without_a_check_or_a_cost_has_one_too(self):
        for entries in ([BEGIN], UNKNOWN):
            assert history_plot.png(history.from_entries(NAME, entries))[:4] == b"\x89PNG"


class TestProvenance:
    ABOUT = metadata.Facts("duel-v0", 'the "toy"', verdicts=("duel-mine: equal",))

    def test_it_says_what_made_the_candidate_and_what_it_passed(self):
        made = provenance.toml(history.from_entries(NAME, WALK), self.ABOUT)
        table = tomllib.loads(made)
        assert str(table.pop("written")) == "2026-11-23"
        assert table == {
            "contract": "duel-v0",
            "oracle": 'the "toy"',
            "written_by": "the coding agent `scripted`, by `twinstep repair`",
            "run": NAME,
            "command": "twinstep repair --env duel --candidate mine --agent scripted "
            "--check-minutes 120 --episodes 100 --hours 1.5 --iterations 50 --phases 1234 "
            "--tries 5 --workers 2",
            "tries": 4,
            "undone": 1,
            "cost_usd": 0.7623,
            "commit": "c6",
            "files_sha256": "f6",
            "verified_by": ["levels 1 to 3"],
            "verdict": ["duel-mine: equal"],
        }

    def test_only_checks_of_the_last_commit_count(self):
        entries = [BEGIN, check("c0", (1,), 2), tried(1, 3, "step", "c6"),
                   check("c6", (1, 2), 2), check("c6", (3,), 2, 1), END]  # fmt: skip
        assert history.from_entries(NAME, entries).proofs == ["levels 1 to 2"]

    def test_a_run_without_walls_rests_on_trust(self):
        bare = [{**WALK[0], "sandbox": False}, *WALK[1:]]
        found = history.from_entries(NAME, bare)
        assert tomllib.loads(provenance.toml(found, self.ABOUT))["trust"] == TRUST
        assert f"| walls | {TRUST} |" in history_markdown.markdown(found, self.ABOUT, "")
        assert " --no-sandbox" in provenance.command(found)
        walled = history.from_entries(NAME, WALK)
        assert TRUST not in history_markdown.markdown(walled, self.ABOUT, "")

    def test_an_unknown_cost_is_unknown_and_a_name_without_a_date_too(self):
        found = history.from_entries("mine", [*UNKNOWN, END])
        table = tomllib.loads(provenance.toml(found, metadata.Facts()))
        assert table["cost_usd"] == "unknown"
        assert table["cost_usd_known_part"] == 0.25
        assert (table["written"], table["contract"]) == ("unknown", "unknown")

    def test_the_command_is_one_that_repair_understands(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        words = provenance.command(history.from_entries(NAME, WALK)).split()
        with pytest.raises(SystemExit) as asked:
            main([*words[1:], "--help"])
        assert asked.value.code == 0


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a run in it; the environment is one whose candidate may edit `fast/`."""
    mine = CandidateRef("mine", "none:Such", edit=("fast/*.py",), sources={"step": "fast/a.py:f"})
    env = dataclasses.replace(duel.DUEL, candidates=(mine,))
    monkeypatch.setattr(registry, "environment", lambda name: env)
    monkeypatch.chdir(tmp_path)
    log(tmp_path, NAME, WALK)
    return tmp_path


def log(folder, name, entries):
    run = folder / ".twinstep" / "runs" / name
    run.mkdir(parents=True)
    (run / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return run


class TestCommand:
    def test_the_only_run_is_written_into_its_folder(self, project, capsys):
        run = project / ".twinstep" / "runs" / NAME
        assert main(["report"]) == 0
        text = (run / "report.md").read_text()
        assert row(text, "contract") == "duel-v0"
        assert row(text, "modules of the contract") == "1: take"
        told = capsys.readouterr().out
        assert f"wrote .twinstep/runs/{NAME}/report.md" in told
        assert told.endswith("\n" + (run / "PROVENANCE.toml").read_text())

    def test_a_run_that_is_not_verified_has_no_provenance(self, project, capsys):
        log(project, "other", WALK[:12])
        assert main(["report", "other", "--out", "there/too"]) == 0
        assert (project / "there" / "too" / "report.md").is_file()
        assert not (project / "there" / "too" / "PROVENANCE.toml").exists()
        assert "contract =" not in capsys.readouterr().out

    def test_a_wrong_or_missing_name_is_one_line(self, project, capsys, monkeypatch):
        log(project, "other", WALK[:1])
        for args, says in (
            ([NAME[:-1]], f"unknown run '{NAME[:-1]}'; did you mean '{NAME}'?"),
            (["../runs/other"], "unknown run"),
            ([], f"say which run: {NAME}, other"),
        ):
            assert main(["report", *args]) == 4
            assert says in capsys.readouterr().err
        monkeypatch.chdir(project / ".twinstep")
        assert main(["report"]) == 4
        assert "there are no runs in .twinstep/runs" in capsys.readouterr().err

    def test_without_matplotlib_the_rest_is_written(self, project, capsys, monkeypatch):
        for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert main(["report"]) == 0
        assert "pip install 'twinstep[report]'" in capsys.readouterr().out
        run = project / ".twinstep" / "runs" / NAME
        assert "tests.png" not in (run / "report.md").read_text()
        assert not (run / "tests.png").exists()

    @drawn
    def test_with_it_the_markdown_shows_the_picture(self, project):
        assert main(["report", "--out", "here"]) == 0
        assert "(tests.png)" in (project / "here" / "report.md").read_text()
        assert (project / "here" / "tests.png").read_bytes()[:4] == b"\x89PNG"

    def test_a_verdict_is_taken_for_what_it_names(self, project):
        pair = {"contract": "duel-v7", "oracle": "the old one", "verdict": "equal", "missing": []}
        run = project / ".twinstep" / "runs" / NAME
        (run / "verdict.json").write_text(json.dumps({"pairs": {"duel-mine": pair}}))
        about = metadata.find(history.from_entries(NAME, WALK), run)
        assert (about.contract, about.oracle) == ("duel-v7", "the old one")
        assert about.verdicts == ("duel-mine: equal",)
        about = metadata.find(history.from_entries(NAME, WALK[:-1]), run)
        assert (about.contract, about.verdicts) == ("duel-v0", ())


def git(folder, *args, data=None):
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    words = ["git", *who, *args]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, input=data)
    return done.stdout.decode().strip()


def committed(folder, **files):
    for name, data in files.items():
        path = folder / "fast" / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(folder, "add", "--all", "--force", ".")
    git(folder, "commit", "-q", "-m", "work")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize("inner", [".", "sub/project"])
def test_lines_are_those_of_the_candidates_files_in_the_commits(inner, project, monkeypatch):
    git(project, "init", "-q")
    place = project / inner
    place.mkdir(parents=True, exist_ok=True)
    (project / "fast").mkdir(exist_ok=True)
    (project / "fast" / "elsewhere.txt").write_text("1\n2\n3\n")
    monkeypatch.chdir(place)
    base = committed(place, a_py=b"1\n2\n3\n", c_txt=b"1\n")
    last = committed(place, a_py=b"1\n", b_py=b"1\n2\n3", d_py=b"\0\n\n\n")
    (place / "fast" / "a.py").write_text("not committed\n" * 9)
    entries = [BEGIN | {"base": base}, tried(1, 3, "step", last)]
    run = project / "run"
    run.mkdir()
    own = Commits.of(run / attempt.COMMITS, Repository.here(), base)
    git(own.folder, "unpack-objects", "-q", data=Repository.here().pack(last))
    about = metadata.find(history.from_entries(NAME, entries), run)
    assert about.lines == (3, 4)
    text = rendered(entries, about)
    assert row(text, "lines of the candidate at the end") == "4 (3 when it began)"


def test_lines_of_a_commit_that_is_gone_are_unknown(project):
    git(project, "init", "-q")
    about = metadata.find(history.from_entries(NAME, WALK), project)
    assert about.lines is None
    assert row(rendered(WALK, about), "lines of the candidate at the end") == "unknown"


class Scripted:
    """A verifier with prepared results."""

    cached = ""

    def __init__(self, results):
        self._results = iter(results)

    def screened(self, commit):
        return []

    def check(self, commit, base, stage):
        return next(self._results)


def test_a_journal_that_the_loop_wrote_has_the_keys_of_those_by_hand(project, monkeypatch):
    """The loop, its journal, its commits: everything except the agent's process and the suite's."""
    git(project, "init", "-q")
    (project / ".gitignore").write_text(".twinstep/\n")
    base = committed(project, a_py=b"def f():\n    return 1\n")
    works = itertools.count(1)

    def ask(agent, prompt, folder, *_):
        number = next(works)
        (folder / "fast" / "a.py").write_text(f"def f():\n    return {number}\n\n\n# {number}\n")
        (folder / "README.md").write_text("mine now")
        os.mkfifo(folder / "fast" / "pipe")
        if number == 2:
            nested(folder / "fast", 3000)
        return Ended(0, 2.0, False, number, ""), 0.5

    monkeypatch.setattr(attempt, "ask", ask)
    monkeypatch.setattr(attempt.tamper_check, "watched", lambda root, run: [])
    found = [{f"t{n}": "failed" if n < fails else "passed" for n in range(4)} for fails in (1, 2)]
    results = [Result(tests, dict.fromkeys(tests, "it fails")) for tests in found]
    run = project / ".twinstep" / "runs" / "real"
    env = registry.environment("duel")
    run.mkdir()
    commits = Commits.of(run / attempt.COMMITS, Repository.here(), base)
    bench = attempt.Workbench(project, commits, run, env.candidates[0], None)
    journal = Journal(run)
    journal.done("begin", lambda: {**BEGIN, "base": base})
    pairs = registry.pairs(registry.EnvVariant(env, env.variants[0]), ["mine"])
    checks = Checks(Scripted(results), bench, base)
    stopwatch = Stopwatch(None, pairs)
    made = loop.Loop(
        PromptSource(pairs, bench), bench, checks, stopwatch, journal, loop.Limits(), (2,), print
    )
    bench.show(base)
    # The agent changes what is not its own in each try: after the second one it is over.
    assert made.run().code == loop.BREACH
    entries = read(run / "log.jsonl")
    first, second = (entry["outside"] for entry in entries if entry["kind"] == "try")
    assert first == ["README.md", "fast/pipe"]
    assert second == [f"{'/'.join(['fast', *'d' * 38])}...: more than 64 folders deep"]
    assert not list(run.glob("agent-*"))
    kinds = ["begin", "check", "try", "check", "undo", "try", "end"]
    assert [entry["kind"] for entry in entries] == kinds
    shapes = {entry["kind"]: entry.keys() for entry in [*WALK, *entries[:1]]}
    for entry in entries:
        assert entry.keys() == shapes[entry["kind"]], entry["kind"]
    found = history.from_entries("real", entries)
    about = metadata.find(found, run)
    # The second try is taken over in no part.
    assert about.lines == (2, 2)
    text = history_markdown.markdown(found, about)
    assert row(text, "lines changed by all tries") == "+3 -0"
    assert row(text, "refused changes outside its files") == "3 in 2 tries"
    assert row(text, "processes left behind") == "3"
    assert row(text, "how it ended").startswith("ended for a breach: the agent changed fast/d")
    assert "| 2 of 4 (50.0 %) | levels 1 to 2 | undone, 2 changes refused" in text
    journal.grant(1)
    entries = read(run / "log.jsonl")
    assert entries[-1].keys() == shapes["more"]
    assert history.from_entries("real", entries).end is None
