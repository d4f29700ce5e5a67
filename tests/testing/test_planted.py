"""Bugs planted in JAX Pong: the shipped checks catch, name and reproduce every one.

The checks' own bodies are called in the suite's order, in this process, so that the traces
and oracles are shared; a few bugs go through `pytest` and `twinstep replay` as a user would.
`planted/TABLE.md` says which check alone catches which bug.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from twinstep.contracts.pong.declaration import PONG
from twinstep.diagnosis import markdown, report
from twinstep.diagnosis.replay import replay
from twinstep.interactions import test_steps
from twinstep.oracles.pong import upstream
from twinstep.properties import test_modules
from twinstep.repair.prompts import locations
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings
from twinstep.tests.planted import BUGS, FAITHFUL, Bug, make_project, pair_of
from twinstep.tests.planted.__main__ import level_3_report
from twinstep.tests.planted.checks import KINDS, failure, first_failure, lab_of
from twinstep.tests.support import fork_server
from twinstep.tests.support.project_folder import HANGS

# A long way from end to end.
pytestmark = pytest.mark.e2e

#: One bug of a module, one of the step that joins them, one of the restart.
AS_A_USER = ("bounce_pays_one", "observes_after_the_serve", "restart_clears_win")


README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def harness():
    problem = upstream.probe({}).problem
    if problem and os.environ.get("CI", "").lower() not in ("true", "1"):
        pytest.skip(problem)
    made = Harness(RunSettings(episodes=50))
    yield made
    made.close()


@pytest.fixture
def planted(harness, tmp_path, monkeypatch):
    """Return a function that gives the lab of a bug, from its own project's folder."""

    def plant(bug: Bug):
        make_project(bug, tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        return lab_of(harness, pair_of(bug))

    return plant


def require_report(record: dict, bug: Bug, folder: Path) -> None:
    assert record["suspects"][0]["module"] == bug.module
    assert record["suspects"][0]["place"].startswith(f"planted_{bug.name}/")
    assert record["edit"] == [f"planted_{bug.name}/**"]
    text = markdown.markdown(record)
    assert len(text) <= 9000
    assert f"**{bug.module}**" in text
    assert str(folder) not in text + report.encode(record).decode()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught_named_and_reproduced(planted, bug, tmp_path):
    record = first_failure(planted(bug))
    assert record is not None, "no check fails"
    assert record["context"]["level"] == bug.level
    require_report(record, bug, tmp_path)
    again = replay(record)
    assert again is not None
    assert report.encode(again) == report.encode(record)


def test_a_wrong_restart_is_found_after_whole_episodes_too(planted):
    """Level 2 finds it first; the oracle's own restart after an end must bite by itself."""
    lab = planted(next(bug for bug in BUGS if bug.name == "restart_clears_win"))
    record = failure(lab, "lockstep, tracking")
    assert record is not None, "level 3 does not compare the restart"
    assert record["case"]["kind"] == "restart"
    assert record["suspects"][0]["module"] == "restart"


def test_a_wrong_first_frame_names_the_module_that_differs_alone(planted):
    """Nothing was stepped yet: the modules are asked with what the reset knows."""
    wrong = "_divide(ball_x, WIDTH + 1)"
    bug = Bug("wider_field", "observe.py", "_divide(ball_x, WIDTH)", wrong, "observe")
    record = failure(planted(bug), "lockstep, tracking")
    assert record is not None
    assert record["step"] == 0
    assert record["suspects"][0]["module"] == "observe"
    assert record["call"]["module"] == "observe"


def test_a_wrong_draw_of_a_first_frame_names_the_serve_though_one_serve_agrees(planted):
    """One draw of two values agrees in half of all calls; the reset that needs it comes later."""
    bug = Bug("third", "serve.py", "drawn % 2 == 0", "drawn % 3 == 0", "serve")
    record = failure(planted(bug), "lockstep, tracking")
    assert record is not None
    assert record["step"] == 0
    assert record["suspects"][0]["module"] == "serve"


def test_a_report_and_a_prompt_name_what_else_a_module_is_made_of(planted):
    bug = next(bug for bug in BUGS if bug.module != "step" and bug.level == 1)
    lab = planted(bug)
    ref = replace(lab.pair.candidate, helpers={bug.module: ("more.py:of_it", "all.py")})
    lab.pair = replace(lab.pair, candidate=ref)
    record = first_failure(lab)
    assert record is not None
    place = record["suspects"][0]["place"]
    assert f"**{bug.module}** (`{place}`), with `more.py:of_it`, `all.py`" in markdown.markdown(
        record
    )
    assert ", with `more.py:of_it`, `all.py`" in locations.place_of(lab.pair, bug.module)


def test_every_quirk_has_a_planted_bug():
    assert {bug.quirk for bug in BUGS} - {0} == set(range(1, 10))
    assert len({bug.name for bug in BUGS}) == len(BUGS)


@pytest.mark.parametrize("variant", ["fs8", "fs1-cont"])
def test_an_unedited_copy_passes_every_check(planted, variant):
    """Without this, a project that is wrong in itself would look like a caught bug."""
    assert variant in {v.name for v in PONG.variants}
    lab = planted(Bug("faithful", FAITHFUL.file, "", "", "", variant=variant))
    for kind in KINDS:
        found = failure(lab, kind)
        assert found is None, report.headline(found)


@pytest.mark.skipif(not README.is_file(), reason="the README is in the checkout only")
def test_the_readme_shows_the_report_as_it_comes_out():
    """All of it but the candidate's source, which the README leaves out."""
    bug = next(bug for bug in BUGS if bug.name == "paddle_meets_below_its_edge")
    harness = Harness(RunSettings(episodes=100))
    try:
        text = level_3_report(harness, bug)
    finally:
        harness.close()
    head, _, rest = text.partition("## Candidate source")
    shown = README.read_text().split("````markdown\n")[1].split("````")[0]
    assert shown.strip() == (head + rest[rest.index("## Done when") :]).strip()


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return fork_server.run(*arguments, folder=folder, env=env, timeout=HANGS)


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(b, id=b.name, marks=() if b.name in AS_A_USER else pytest.mark.slow)
        for b in BUGS
    ],
)
def test_pytest_reports_it_and_a_second_process_replays_it(harness, bug, tmp_path):
    make_project(bug, tmp_path)
    properties = Path(test_modules.__file__).resolve().parent
    names = ("test_modules.py", "test_randomness.py", "pong")
    tests = [properties / name for name in names]
    if bug.level > 1:
        tests = [Path(test_steps.__file__).resolve()]
    chosen = ["--env", "pong", "--variant", bug.variant, "--candidate", "planted"]
    done = _run(
        tmp_path,
        *("pytest", "-q", "-x", "-p", "no:cacheprovider", "--import-mode=importlib"),
        *(f"--rootdir={tmp_path}", *chosen, *map(str, tests)),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    folder = tmp_path / ".twinstep/reports"
    records, texts = sorted(folder.glob("*.json")), sorted(folder.glob("*.md"))
    assert len(records) == len(texts) == 1
    record = report.read(records[0])
    require_report(record, bug, tmp_path)
    assert texts[0].read_text().strip() in done.stdout
    again = _run(tmp_path, "twinstep.cli", "replay", str(records[0].relative_to(tmp_path)))
    assert again.returncode == 1, again.stderr
    assert "Reproduced byte for byte." in again.stdout
