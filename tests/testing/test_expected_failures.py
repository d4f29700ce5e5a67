"""Expected failures: each asks its own counterexample, and none can be forgotten."""

import datetime
import json
import re
import shutil
from types import SimpleNamespace

import pytest

from twinstep.errors import UserError
from twinstep.inputs import seeds
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.testing import expected_failures, xfail_tests
from twinstep.tests.support.project_folder import SHORT, Project
from twinstep.tests.toys.duel import DUEL

DRIVERS = ("random", "sticky")
PAIR = "duel-mine"
ENTRY = """
[[xfail]]
test = "{test}"
counterexample = "{counterexample}"
reason = "passing is offered too often"
until = "{until}"
"""
LATER = str(datetime.date.today() + datetime.timedelta(days=9))
TODAY = str(datetime.date.today())
YESTERDAY = str(datetime.date.today() - datetime.timedelta(days=1))


def id_of(driver):
    return f"rollouts/test_lockstep.py::test_episodes_match[{PAIR}-{driver}]"


@pytest.fixture(scope="module")
def failures(tmp_path_factory, toy_cache):
    """The planted bug's reports, one JSON file a driver."""
    project = Project(tmp_path_factory.mktemp("failing") / "project", toy_cache)
    project.plant()
    run = project.pytest()
    assert run.code == 1, run.text
    records = {name: project.record(name) for name in run.verdict["reports"]}
    found = {r["context"]["driver"]: project.reports / f"{n}.json" for n, r in records.items()}
    assert set(found) == set(DRIVERS)
    return found


@pytest.fixture
def expect(project, failures):
    """Write one entry a driver beside the candidate, with its report; words replace an entry's."""
    project.plant()

    def write(*drivers, **words):
        text = ""
        for driver in drivers or DRIVERS:
            shutil.copy(failures[driver], project.package / f"{driver}.json")
            entry = {"test": id_of(driver), "counterexample": f"{driver}.json", "until": LATER}
            text += ENTRY.format(**entry | words)
        (project.package / "xfail.toml").write_text(text)
        return project

    return write


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_counterexample_that_still_fails_is_an_expected_failure(expect, workers):
    run = expect(until=TODAY).pytest(*SHORT, "-n", workers, "--dist", "loadgroup")
    assert run.code == 0, run.text
    pair = run.verdict["pairs"][PAIR]
    assert pair["verdict"] == "differs as expected"
    assert pair["levels"]["level3"]["expected_failures"] == 2
    assert f"{PAIR} (float32 on cpu): differs as expected; level3: 2 expected failures" in run.text


def test_an_expected_failure_is_neither_compared_nor_shrunk(expect):
    run = expect("random").pytest()
    assert run.code == 1, run.text
    pair = run.verdict["pairs"][PAIR]
    assert list(pair["drivers"]) == ["sticky"]
    assert len(run.verdict["reports"]) == 1
    assert pair["verdict"] == "differs"


def test_a_counterexample_that_agrees_fails_its_test_and_names_the_entry(expect):
    project = expect("random")
    project.mend()
    run = project.pytest()
    assert run.code == 1, run.text
    assert f"remove the entry '{id_of('random')}' from" in run.text
    assert "passing is offered too often" in run.text
    assert "Traceback" not in run.text
    pair = run.verdict["pairs"][PAIR]
    assert pair["verdict"] == "error"
    assert pair["levels"]["level3"]["errors"] == 1


def test_a_counterexample_of_other_parameters_fails_its_test(expect):
    project = expect("random")
    pinned = project.package / "random.json"
    pinned.write_text(pinned.read_text().replace('"params": {}', '"params": {"stones": 3}'))
    run = project.pytest(*SHORT, "-k", "random")
    assert run.code == 1, run.text
    assert "the counterexample of" in run.text
    assert "{'stones': 3}" in run.text


def test_imported_traces_do_not_make_an_expected_failure_equal(expect):
    project = expect("random")
    project.mend()
    assert project.pytest(*SHORT, "-k", "sticky", "--export-traces", "duel.traces").code == 0
    run = project.pytest(*SHORT, "--traces", "duel.traces")
    assert run.code == 0, run.text
    assert run.verdict["pairs"][PAIR]["verdict"] == "differs as expected"


@pytest.mark.parametrize(
    "args",
    [("--candidate", "vector"), ("--driver", "sticky"), ("-k", "sticky")],
    ids=["another candidate", "another driver", "another test"],
)
def test_an_entry_that_a_run_does_not_ask_for_is_no_error(expect, args):
    run = expect("random").pytest(*args, "--collect-only")
    assert run.code == 0, run.text
    assert "[duel-" in run.text


@pytest.mark.parametrize(
    ("words", "workers", "says"),
    [
        ({"until": YESTERDAY}, "0", f"'{id_of('random')}' expired on {YESTERDAY}"),
        ({"test": id_of("rnadom")}, "0", f"has no case [{PAIR}-rnadom]"),
        ({"test": id_of("rnadom")}, "1", f"has no case [{PAIR}-rnadom]"),
    ],
    ids=["before tests are collected", "after", "after, in a worker"],
)
def test_a_wrong_entry_is_one_line_and_exit_code_4(expect, words, workers, says):
    run = expect("random", **words).pytest(*SHORT, "-n", workers)
    assert run.code == 4, run.text
    (line,) = [line for line in run.text.splitlines() if "fastduel/xfail.toml" in line]
    assert says in line
    assert "Traceback" not in run.text
    assert not run.verdict


@pytest.mark.parametrize(("limit", "code"), [("1", 4), ("2", 0), ("'2'", 4)])
def test_more_entries_than_the_limit_is_one_line_and_exit_code_4(expect, limit, code):
    project = expect()
    with (project.folder / "pyproject.toml").open("a") as file:
        file.write(f"\n[tool.twinstep]\nxfail-limit = {limit}\n")
    run = project.pytest(*SHORT, "--collect-only")
    assert run.code == code, run.text
    assert ("xfail-limit" in run.text) == (code == 4)
    assert "Traceback" not in run.text


RIGHT = ENTRY.format(test=id_of("random"), counterexample="random.json", until=LATER)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[xfail]\n", "cannot be read"),
        (b"\xff", "cannot be read"),
        ("[[xfial]]\ntest = 'x'\n", "holds `xfial`: write [[xfail]] tables"),
        ("[xfail]\ntest = 'x'\n", "holds `xfail`: write [[xfail]] tables"),
        ("xfail = ['x']\n", "an entry has no `test`: x"),
        ("[[xfail]]\ntest = 'x'\n", "an entry has no `counterexample`"),
        (RIGHT + "untill = 3\n", "an entry has an unknown `untill`"),
        (RIGHT.replace(LATER, "soon"), "is until 'soon': write a date"),
        (RIGHT.replace(LATER, YESTERDAY), f"expired on {YESTERDAY}"),
        (RIGHT.replace("random.json", "lost.json"), "the counterexample lost.json is missing"),
        (RIGHT.replace("random.json", "empty.json"), "empty.json is a report without a case"),
        (RIGHT.replace("random.json", "other.json"), "other.json is not a twinstep report"),
    ],
)
def test_a_garbled_file_is_named_with_what_is_wrong(tmp_path, failures, text, says):
    shutil.copy(failures["random"], tmp_path / "random.json")
    record = json.loads((tmp_path / "random.json").read_text())
    record["case"]["actions"] = record["diff"] = []
    (tmp_path / "empty.json").write_text(json.dumps(record))
    (tmp_path / "other.json").write_text("[]")
    path = tmp_path / "xfail.toml"
    path.write_text(RIGHT)
    assert [entry.test for entry in expected_failures.read(path)] == [id_of("random")]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=re.escape(says)) as error:
        expected_failures.read(path)
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


def _attach(test, **option):
    """Attach one entry to the collected tests of `duel-vector`; return those it was given to."""
    folder = seeds.package_folder("twinstep.rollouts")
    subject = EnvVariant(DUEL, DUEL.variants[0])
    items = [
        SimpleNamespace(
            path=folder / "test_lockstep.py",
            nodeid=f"test_lockstep.py::test_episodes_match[duel-vector-{driver}]",
            stash=pytest.Stash(),
        )
        for driver in DRIVERS
        if driver in option.get("driver", DRIVERS)
    ]
    config = SimpleNamespace(
        rootpath=folder / "nowhere",
        option=SimpleNamespace(twinstep_driver=option.get("driver", [])),
        args=option.get("args", []),
        getoption=lambda name, default: option.get(name, default),
    )
    until = datetime.date.fromisoformat(LATER)
    entry = expected_failures.ExpectedFailure(
        folder / "xfail.toml", test, folder / "x.json", "", until
    )
    xfail_tests.attach([entry], registry.pairs(subject, ["vector"]), items, config)
    return [item.nodeid for item in items if expected_failures.EXPECTED in item.stash]


FILE = "rollouts/test_lockstep.py"


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("rollouts/test_lokstep.py::test_episodes_match[duel-vector-random]", "there is no file"),
        ("test_nowhere.py::test_episodes_match[duel-vector-random]", "there is no file"),
        ("no words", "there is no file"),
        (f"{FILE}::test_epsiodes_match[duel-vector-random]", "has no test_epsiodes_match"),
        (f"{FILE}::test_episodes_match[pong@fs8-jxa-random]", "names no candidate"),
        (f"{FILE}::test_episodes_match[duel]", "names no candidate"),
        (f"{FILE}::test_episodes_match[duel-vector-rnadom]", "no case [duel-vector-rnadom]"),
        (f"{FILE}::test_episodes_match[duel-vector]", "no case [duel-vector]"),
    ],
)
def test_an_entry_that_fits_no_test_is_an_error(test, says):
    with pytest.raises(UserError, match=re.escape(says)) as error:
        _attach(test)
    assert "xfail.toml" in str(error.value)
    assert test in str(error.value)


@pytest.mark.parametrize(
    ("test", "option"),
    [
        ("properties/test_modules.py::test_module_matches_the_oracle[duel-vector-take]", {}),
        (f"{FILE}::test_episodes_match[pong@fs8-jax-random]", {}),
        (f"{FILE}::test_episodes_match[pong@fs8+frameskip=3-jax-random]", {}),
        (f"{FILE}::test_episodes_match[duel-vector-random]", {"driver": ["sticky"]}),
        (f"{FILE}::test_episodes_match[duel-vector-seeking]", {"lf": True}),
        (f"{FILE}::test_episodes_match[duel-vector-seeking]", {"args": [f"{FILE}::x[y]"]}),
    ],
)
def test_an_entry_that_another_run_asks_for_is_kept_quiet(test, option):
    assert _attach(test, **option) == []


def test_an_entry_means_the_same_test_wherever_the_suite_lies():
    assert _attach(f"{FILE}::test_episodes_match[duel-vector-random]") == [
        "test_lockstep.py::test_episodes_match[duel-vector-random]"
    ]
