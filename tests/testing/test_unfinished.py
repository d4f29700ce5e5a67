"""A run that did less than all of it, or that died, leaves no verdict that says `equal`."""

import dataclasses

import pytest

from twinstep.environment import Parameter, Variant
from twinstep.gates import Lockstep, Resync, Window
from twinstep.testing import accounting
from twinstep.tests.support.project_folder import SHORT
from twinstep.tests.toys.duel import DUEL

FULL = ("--candidate", "mine")
ONE = (*FULL, "--driver", "random", "--driver", "sticky")
DIES = """


class Mine(Vector):
    def {method}(self, *inputs):
        __import__("os")._exit(0)
"""
#: The toy under a contract that gives one field of its state another dtype.
WIDER = """
import dataclasses

from twinstep.tests.toys.duel import DUEL


def contract(params):
    made = DUEL.contract(params)
    state = [dataclasses.replace(f, dtype="int64") if f.name == "draws" else f for f in made.state]
    return dataclasses.replace(made, state=tuple(state))


ENV = dataclasses.replace(DUEL, contract=contract)
"""
#: A plugin for the child's run: something happens before the test that is named.
STOP = """
import os, signal

def pytest_runtest_setup(item):
    if item.nodeid.endswith({test!r}):
        {act}
"""
#: A plugin for the child's run: what it is to do next reaches a worker when it is dead already,
#: as on a busy machine; execnet's own `send` then raises what it raises there. It begins with
#: what two calls send; by the third it is in the test that ends it, or on its way there.
LATE = """
import subprocess
from contextlib import suppress
from xdist.workermanage import WorkerController

send = WorkerController.send_runtest_some
sent = []

def late(self, indices):
    sent.append(self)
    met = self.config.rootpath / "met"
    if len(sent) == 3:
        with suppress(subprocess.TimeoutExpired):
            self.gateway._io.popen.wait(timeout=60)
            met.touch()
    send(self, indices)

WorkerController.send_runtest_some = late
"""

STOPS = "os.kill(os.getpid(), signal.SIGINT)"
FAILS = "raise AssertionError('planted')"


def _die(project, method):
    """The candidate ends its process in this method."""
    project.rules.write_text(project.rules.read_text() + DIES.format(method=method))
    declared = project.package / "declared.py"
    declared.write_text(declared.read_text().replace("rules:Vector", "rules:Mine"))


def _stop(project, test, act):
    (project.folder / "stop.py").write_text(STOP.format(test=test, act=act))


def _failed(pair):
    return sum(level["failed"] for level in pair["levels"].values())


def test_all_episodes_of_all_drivers_are_equal(project):
    """Without this the other tests would say nothing."""
    run = project.pytest(*FULL, "-n", "2", "--dist", "loadgroup")
    pair = run.verdict["pairs"]["duel-mine"]
    assert pair["verdict"] == "equal", run.text
    assert not pair["missing"]
    assert not pair["not_run"]


@pytest.mark.parametrize("count", [1, 99])
def test_fewer_episodes_than_the_default_are_equal_in_part(project, count):
    run = project.pytest(*FULL, "--episodes", str(count))
    assert run.code == 0
    pair = run.verdict["pairs"]["duel-mine"]
    assert pair["verdict"] == "equal in part"
    assert pair["missing"] == [f"100 episodes of {n}" for n in ("random", "seeking", "sticky")]
    assert "not compared: 100 episodes of random, " in run.text


@pytest.mark.parametrize(
    ("chosen", "open_"),
    [
        (("--driver", "random"), ["lockstep seeking", "lockstep sticky"]),
        (("-k", "not sticky"), ["lockstep sticky"]),
    ],
)
def test_a_part_of_level_3_is_equal_in_part(project, chosen, open_):
    run = project.pytest(*FULL, *chosen)
    assert run.code == 0
    pair = run.verdict["pairs"]["duel-mine"]
    assert pair["verdict"] == "equal in part"
    assert pair["missing"] == open_


_SEEN = {"driver": "random", "key": "", "episodes": 100, "steps": 1000}
_SEEN |= {"truncated": 0, "illegal": 0, "lengths": [10, 10.0, 10]}


def _finished(truncates, asks_illegal=False, outcome="passed", unvaried=(), gates=None, **seen):
    """Return the verdict's entry of one passed test of level 3 that has compared all it owes."""
    notes = {
        "pair": "p", "imported": False, "dtype": "f", "platform": "cpu",
        "gates": gates or {"obs": repr(Lockstep())},
        "owed": ["lockstep random"], "compared": ["lockstep random"], "level": 3,
        "truncates": truncates, "asks_illegal": asks_illegal, "unvaried": unvaried,
        "placed_starts": False, "starts": "", "settings": {},
    }  # fmt: skip
    pair = accounting.new_pair(notes)
    accounting.count(pair, notes | {"coverage": _SEEN | seen}, outcome)
    return accounting.finished(pair, True)


def test_episodes_without_a_step_verify_nothing():
    assert _finished(False, steps=0)["verdict"] == "not verified"
    assert _finished(False)["verdict"] == "equal"


def test_a_comparison_that_failed_is_not_called_missing():
    pair = _finished(False, outcome="failed")
    assert (pair["missing"], pair["differs"], pair["verdict"]) == (
        [], ["lockstep random"], "differs",
    )  # fmt: skip


def test_few_steps_are_equal_in_what_was_played_and_the_number_is_said():
    assert _finished(False, steps=999)["verdict"] == "equal in what was played: 999 steps"
    assert _finished(False, steps=1)["verdict"] == "equal in what was played: 1 step"


@pytest.mark.parametrize("gate", [Lockstep(1e-7), Lockstep(rtol=1e-7), Resync(1.0), Window(5, 1)])
def test_a_gate_that_allows_rounding_is_in_the_verdicts_word(gate):
    gates = {"reward": repr(Lockstep()), "obs": repr(gate)}
    assert _finished(False, gates=gates)["verdict"] == "equal but for rounding"
    thin = _finished(False, gates=gates, steps=999)["verdict"]
    assert thin == "equal but for rounding in what was played: 999 steps"
    assert _finished(False, gates=gates, outcome="failed")["verdict"] == "differs"


@pytest.mark.parametrize("gate", [Lockstep(), Lockstep(signed_zeros=False), Resync(0.0)])
def test_a_gate_that_lets_no_number_differ_leaves_it_equal(gate):
    assert _finished(False, gates={"obs": repr(gate)})["verdict"] == "equal"


def test_a_declared_truncation_that_no_episode_shows_is_said():
    assert "a truncation, which the contract declares" in _finished(True)["never_seen"][0]
    assert not _finished(True, truncated=1)["never_seen"]
    assert not _finished(False)["never_seen"]


def test_a_parameter_that_no_variant_varies_is_said():
    env = dataclasses.replace(
        DUEL,
        variants=(Variant("a", {"stones": 1}), Variant("b", {"stones": 2, "coin": 5})),
        parameters=(Parameter("stones", 1, ""), Parameter("coin", 5, ""), Parameter("rule", 0, "")),
    )
    assert accounting.unvaried(env) == ["coin", "rule"]
    (said,) = _finished(False, unvaried=["coin", "rule"])["never_seen"]
    assert said == "another value of coin, rule: no declared variant has one"


def test_illegal_actions_that_are_never_asked_are_said():
    assert "an illegal action: add the driver `careless`" in _finished(False, True)["never_seen"][0]
    assert not _finished(False, True, illegal=1)["never_seen"]
    assert not _finished(False)["never_seen"]


def test_a_run_about_no_candidate_leaves_the_verdict(project):
    good = project.pytest(*SHORT)
    (project.folder / "test_other.py").write_text("def test_other(): pass\n")
    for args in (("test_other.py",), ("test_other.py", "-n1"), ("--collect-only", *SHORT)):
        assert project.pytest(*args, suite="", fresh=False).verdict == good.verdict


def test_a_run_that_dies_leaves_no_verdict_of_an_earlier_run(project):
    good = project.pytest(*SHORT)
    assert good.verdict["pairs"]["duel-mine"]["verdict"] == "equal in part"
    _die(project, "step")
    run = project.pytest(*SHORT, fresh=False)
    # The candidate chose the exit status too: only the missing verdict tells.
    assert run.code == 0
    assert not run.verdict


@pytest.mark.parametrize("spread", [("-n", "1", "--dist", "loadgroup"), ("-n", "2")])
def test_a_worker_that_dies_is_a_failure_of_its_test_once(project, spread):
    """Also where no test of the pair lived to say anything; its neighbour is not touched."""
    _die(project, "reset")
    run = project.pytest(*ONE, "--candidate", "vector", *spread)
    assert run.code == 1
    dead, alive = (run.verdict["pairs"][f"duel-{name}"] for name in ("mine", "vector"))
    assert dead["verdict"] == "differs"
    assert _failed(dead) == 2
    assert not dead["not_run"]
    assert alive["verdict"] == "equal in part"
    assert alive["missing"] == ["lockstep seeking"]
    assert "duel-mine: differs; lost: 2 failed" in run.text


def test_a_worker_that_dies_before_it_is_sent_more_is_a_failure_of_its_tests(project):
    _die(project, "reset")
    (project.folder / "late.py").write_text(LATE)
    spread = ("-n", "1", "--dist", "loadgroup", "-p", "late")
    # What asks the oracle alone is a third group of tests, sent while `mine` plays.
    suite = "rollouts.test_lockstep rollouts.test_drivers"
    run = project.pytest(*ONE, "--candidate", "vector", *spread, suite=suite)
    assert (project.folder / "met").exists()
    assert run.code == 1, run.text
    assert _failed(run.verdict["pairs"]["duel-mine"]) == 2
    assert run.verdict["pairs"]["duel-vector"]["verdict"] == "equal in part"


def test_a_worker_that_dies_in_one_test_goes_on_with_the_others(project):
    _die(project, "call")
    spread = ("-n", "1", "--dist", "loadgroup")
    run = project.pytest(*FULL, *spread, suite="properties.test_modules rollouts.test_lockstep")
    pair = run.verdict["pairs"]["duel-mine"]
    assert pair["verdict"] == "differs"
    assert _failed(pair) == 1
    assert pair["levels"]["level3"]["passed"] == 3


@pytest.mark.parametrize(
    ("act", "args", "neighbour"),
    [
        (STOPS, (), "equal in part"),
        (FAILS, ("-x",), "differs"),
        (FAILS, ("--maxfail", "1"), "differs"),
    ],
)
def test_a_run_that_stops_early_makes_no_pair_equal(project, act, args, neighbour):
    """All that is owed has been compared; the rest of level 3 has not run."""
    _stop(project, "auto_resets[duel-vector-off]", act)
    args = ("-m", "level3", "--candidate", "vector", "-k", "not users_own_program", *args)
    suite = "rollouts.test_lockstep rollouts.test_shipped"
    run = project.pytest(*FULL, *args, "-p", "stop", suite=suite)
    mine, vector = (run.verdict["pairs"][f"duel-{name}"] for name in ("mine", "vector"))
    assert set(mine["owed"]) == set(mine["compared"])
    assert mine["verdict"] == "equal in part", run.text
    assert mine["not_run"] == 1
    assert "1 test that did not run" in mine["missing"]
    assert "not compared: 1 test that did not run" in run.text
    assert vector["verdict"] == neighbour


def test_a_pair_that_a_stopped_run_never_came_to_is_named(project):
    _stop(project, "test_episodes_match[duel-vector-random]", STOPS)
    run = project.pytest(*FULL, "--candidate", "vector", "-p", "stop")
    for name in ("mine", "vector"):
        assert run.verdict["pairs"][f"duel-{name}"]["verdict"] == "not verified"
        assert f"duel-{name}: not verified\n" in run.text


def test_a_test_of_the_oracle_alone_that_fails_leaves_no_candidate_equal(project):
    _stop(project, "test_some_driver_ends_episodes[duel]", FAILS)
    suite = "rollouts.test_drivers rollouts.test_lockstep"
    run = project.pytest(*FULL, "-m", "level3", "-p", "stop", suite=suite)
    assert run.code == 1
    pair = run.verdict["pairs"]["duel-mine"]
    assert pair["verdict"] == "error"
    assert pair["levels"]["level3"]["errors"] == 1
    assert not _failed(pair)


@pytest.mark.parametrize(
    ("compared", "missing", "word"),
    [
        (["distribution random"], [], "alike in distribution"),
        (["distribution random", "horizon random"], ["x"], "alike in distribution in part"),
        (["distribution random", "lockstep random"], [], "equal, the rest alike in distribution"),
        (["horizon random"], ["x"], "equal in part"),
    ],
)
def test_equal_is_said_of_what_was_compared_step_by_step_alone(compared, missing, word):
    drivers = {"random": {"steps": 5000}}
    pair = {"levels": {}, "drivers": drivers, "imported": False, "gates": {}}
    assert accounting._verdict_word(pair | {"compared": compared, "missing": missing}) == word


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_of_a_reference_that_breaks_its_contract_one_line_is_said_and_no_verdict(project, workers):
    """Both sides give what the contract does not: nobody knows which of the three is wrong."""
    (project.package / "wider.py").write_text(WIDER)
    text = (project.folder / "pyproject.toml").read_text()
    text = text.replace("twinstep.tests.toys.duel:DUEL", "fastduel.wider:ENV")
    (project.folder / "pyproject.toml").write_text(text)
    run = project.pytest(*ONE, "--candidate", "vector", *workers)
    assert run.code == 1
    for name in ("mine", "vector"):
        word = run.verdict["pairs"][f"duel-{name}"]["verdict"]
        assert word == "not verified: the reference breaks its contract"
    says = "the oracle's state.draws is uint32[1], the contract says int64[1]: mend the contract"
    assert run.text.count(f"\nduel: {says}, or the reference's bridge\n") == 1
