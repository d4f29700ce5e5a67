"""A broken candidate is a failure with one clear message; its neighbour still passes."""

import json
import re
from xml.etree import ElementTree

import pytest

from twinstep._lib.machine import has_accelerator
from twinstep.tests.support.project_folder import Project

PROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.broken:DUEL"
drift = "twinstep.tests.toys.broken:DRIFT"
"""
LEVELS = ("-m", "level1 or level2 or level3", "--driver", "random", "--episodes", "6")

SAYS = {
    "wrongshape": "* gave `obs` in shape [N, 3], the contract says [N, 2, 3]",
    "wrongdtype": "* gave `reward` as int32, the contract says float32",
    "missingfield": "* gave no `state.left`, which the contract compares",
    "extrafield": "* gave `state.luck`, which the contract does not name",
    "raggedfield": "* gave `acting` as a list that is no array (ValueError: *)",
    "masked": "* gave `obs` as a MaskedArray, expected a plain ndarray",
    "noframe": "* returned a dict, not a Frame",
    "nostate": "* gave `state` as None, not named arrays",
    "framealone": "step returned a Frame, not a state and a Frame",
    "nothing": "reset returned None, not a state and a Frame",
    "shortrollout": "rollout gave `obs` in shape [255, N, 2, 3], the contract says [T, N, 2, 3]",
    "raisesinfactory": "the candidate cannot be built: ValueError: no table for this contract",
    "raisesinreset": "the candidate cannot reset: ZeroDivisionError: no stones",
    "raisesinstep": "the candidate cannot step: IndexError: round 3 is beyond the table",
    "raisesinrollout": "the candidate cannot roll out: NotImplementedError: not yet",
    "raisesincall": "the candidate cannot call take: KeyError: 'take'",
    "listfromcall": "module take returned a list, not named arrays",
    "skipsitstest": "the candidate cannot step: Skipped: nothing to see here",
    "exits": "the candidate cannot reset: SystemExit: 0",
    "dtypeisnotext": "twinstep.tests.toys.broken:DtypeIsNoText: `dtype` is <class *>, not a text",
    "saysgpu": "`platform` is 'gpu', and this machine has no accelerator: it computes on 'cpu'",
    "wider": "* gave `reward` as float64, the contract says float32",
    "half": "* gave `reward` as float16, the contract says float32",
    "nosuchname": "the candidate cannot be built: AttributeError: * has no attribute 'NoSuchName'",
    "nosuchmodule": "the candidate cannot be built: ModuleNotFoundError: * 'twinstep.tests.toys.n*",
    "nosuchpackage": "the candidate cannot be built: ModuleNotFoundError: * 'nowhere'",
}

if has_accelerator():
    del SAYS["saysgpu"]


#: What is asked in an episode of its own, and then told in a report with the case.
REPORTED = {
    "raisesinstep": "the candidate raises IndexError: round 3 is beyond the table, at `",
    "skipsitstest": "the candidate raises Skipped: nothing to see here, at `",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory, toy_cache):
    return Project(tmp_path_factory.mktemp("broken") / "project", toy_cache, PROJECT)


@pytest.fixture(scope="module")
def ran(project):
    """All levels on all candidates of Duel in one run: (the run, candidate -> failures' texts)."""
    run = project.pytest(
        *LEVELS, "--junitxml", "junit.xml", suite="properties interactions rollouts.test_lockstep"
    )
    assert run.code == 1, run.text
    failures = {}
    for case in ElementTree.parse(project.folder / "junit.xml").iter("testcase"):
        name = re.search(r"\[duel-(\w+)", case.get("name", ""))
        for bad in [*case.iter("failure"), *case.iter("error")]:
            assert name, f"{case.get('name')} fails"
            failures.setdefault(name[1], []).append(bad.text or "")
    return run, failures


def _fits(pattern, line):
    return re.search(re.escape(pattern).replace(r"\*", ".*"), line)


@pytest.mark.parametrize("name", SAYS)
def test_each_failure_is_one_message_that_names_candidate_method_and_field(ran, name):
    run, failures = ran
    assert failures[name]
    reports = [text for text in failures[name] if text.startswith("# ")]
    assert len(reports) == (name in REPORTED)
    assert all(REPORTED[name] in text for text in reports)
    for text in set(failures[name]) - set(reports):
        first, *more = text.splitlines()
        assert first.startswith(f"duel-{name}: "), text
        assert _fits(SAYS[name], first), text
        assert first.endswith(" (duel-v0, oracle the toy's own Python)"), text
        # Where in the candidate's code, two lines at most.
        assert len(more) <= 2, text
        assert "Traceback" not in text


@pytest.mark.parametrize("name", SAYS)
def test_its_verdict_is_differs_and_the_last_lines_say_why_once(ran, name):
    run, failures = ran
    pair = run.verdict["pairs"][f"duel-{name}"]
    assert pair["verdict"] == "differs"
    assert sum(level["failed"] for level in pair["levels"].values()) == len(failures[name])
    last = run.text.rpartition(" twinstep =")[2].splitlines()
    # One message for each method in which it shows: reset, or step after a load.
    said = [n for n, line in enumerate(last) if _fits(SAYS[name], line)]
    assert 1 <= len(said) <= 2
    counts = [re.fullmatch(r"  (\d+) tests? ended so", last[n + 1])[1] for n in said]
    assert sum(map(int, counts)) == len(failures[name]) - (name in REPORTED)


def test_every_broken_candidate_of_the_toys_is_tested(ran):
    assert ran[0].verdict["pairs"].keys() == {
        f"duel-{name}" for name in [*SAYS, "vector", "wrongthenraises"]
    }


def test_the_good_candidate_beside_them_passes(ran):
    run, failures = ran
    assert run.verdict["pairs"]["duel-vector"]["verdict"].startswith("equal")
    assert "vector" not in failures


def test_a_candidate_whose_extra_is_missing_is_skipped_with_the_reason(project, ran):
    skipped = 0
    for case in ElementTree.parse(project.folder / "junit.xml").iter("testcase"):
        if "[duel-nosuchprobe" in case.get("name", ""):
            (why,) = case.iter("skipped")
            assert "candidate duel-nosuchprobe: it cannot be imported" in why.get("message", "")
            skipped += 1
    assert skipped


@pytest.mark.parametrize("name", ["nan64", "nan32"])
def test_not_a_number_is_a_divergence_with_a_report(project, name):
    """Under a lockstep gate with a tolerance, and under resync and window gates."""
    run = project.pytest(
        "-m", "level3", "--candidate", name, "--candidate", "f64", "--driver", "random",
        "--episodes", "6", env="drift",
    )  # fmt: skip
    assert run.code == 1, run.text
    pairs = run.verdict["pairs"]
    assert pairs[f"drift-{name}"]["verdict"] == "differs"
    assert pairs["drift-f64"]["verdict"].startswith("equal")
    (report,) = run.verdict["reports"]
    record = project.record(report)
    assert " is nan, oracle " in run.text
    assert {row["candidate"] for row in record["diff"]} == {"nan"}
    assert {row["error"] for row in record["diff"]} == {"inf"}
    assert "state.speed" in {row["path"] for row in record["diff"]}
    assert record["suspects"]
    again = project.twinstep("replay", project.reports / f"{report}.json")
    assert again.stdout.strip().endswith("Reproduced byte for byte."), again.stderr
    # Strict JSON: no bare NaN or Infinity.
    for path in project.folder.glob(".twinstep/**/*.json"):
        json.loads(path.read_text(), parse_constant=pytest.fail)
