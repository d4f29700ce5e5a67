"""Both sides are built once, and dropped when a worker's next tests are about others."""

from types import SimpleNamespace

import pytest

from twinstep.errors import CandidateBroken
from twinstep.frames import take_lanes
from twinstep.inputs.sampling import some_starts
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.testing import outcomes
from twinstep.testing.harness import Harness
from twinstep.testing.run import LAB, REFERENCE, RUN
from twinstep.testing.settings import RunSettings
from twinstep.tests.support.project_folder import PYPROJECT
from twinstep.tests.toys import duel
from twinstep.tests.toys.duel import DUEL

PAIR = registry.pairs(registry.subjects(DUEL, {})[0], ["vector"])[0]


@pytest.fixture
def lab(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    monkeypatch.chdir(tmp_path)
    harness = Harness(RunSettings())
    yield harness.lab(PAIR)
    harness.close()


def _asked(lab):
    """Ask both sides; return what answered."""
    starts = some_starts(lab.contract, 2)
    lab.oracle.reset(take_lanes(starts, 0))
    lab.runner.reset(starts)
    return lab.oracle, lab.runner


def _is_running(oracle):
    return oracle._child is not None


def test_after_a_rest_the_oracle_has_ended_and_both_sides_begin_anew(lab):
    oracle, runner = _asked(lab)
    lab.reference.harness.rest(None)
    assert not _is_running(oracle)
    assert lab.built is None
    again = _asked(lab)
    assert again[0] is not oracle
    assert again[1] is not runner


def test_the_oracle_that_is_asked_next_goes_on(lab):
    oracle, _ = _asked(lab)
    lab.reference.harness.rest(PAIR.subject)
    assert lab.oracle is oracle
    other = EnvVariant(DUEL, DUEL.variants[0])
    assert other is not PAIR.subject
    lab.reference.harness.rest(other)
    assert lab.oracle is not oracle


def test_an_oracles_crashes_are_still_reported_after_a_rest(lab):
    lab.oracle.crashes.append("it crashed")
    lab.reference.harness.rest(None)
    assert lab.reference.crashes == ["it crashed"]
    lab.reference.harness.rest(None)
    assert lab.reference.crashes == ["it crashed"]


def test_a_candidate_that_cannot_be_built_is_tried_once(lab, monkeypatch):
    """Each try may last until the candidate's time limit."""
    tries = []
    monkeypatch.setattr(duel.Vector, "__init__", lambda self, contract: tries.append(1) or 1 / 0)
    said = set()
    for _ in range(3):
        with pytest.raises(CandidateBroken) as found:
            lab.runner  # noqa: B018
        said.add(str(found.value))
        assert len(found.traceback) < 5, "the same error again does not grow"
    assert len(tries) == 1
    assert len(said) == 1


@pytest.mark.parametrize(
    ("given", "next_one", "dropped"),
    [
        ({LAB: PAIR}, ("b", {LAB: PAIR}), [PAIR.subject]),
        ({LAB: PAIR}, ("b", {}), [None]),
        ({REFERENCE: PAIR.subject}, ("b", {REFERENCE: PAIR.subject}), [PAIR.subject]),
        ({LAB: PAIR}, ("a", {LAB: PAIR}), []),
        ({}, ("b", {LAB: PAIR}), []),
    ],
    ids=["next pair", "other tests", "oracle alone", "same group", "after other tests"],
)
def test_a_worker_drops_all_but_the_next_variants_oracle_between_groups(given, next_one, dropped):
    rested = []
    run = SimpleNamespace(
        groups=SimpleNamespace(of=lambda test: test), harness=SimpleNamespace(rest=rested.append)
    )
    worker = SimpleNamespace(workerinput={}, stash={RUN: run})
    item, following = (
        SimpleNamespace(nodeid=group, config=worker, callspec=SimpleNamespace(params=params))
        for group, params in (("a", given), next_one)
    )
    outcomes.pytest_runtest_teardown(item, following)
    outcomes.pytest_runtest_teardown(following, None)
    assert rested == dropped
    del worker.workerinput  # in one process all stays: the order of its tests is anyone's
    outcomes.pytest_runtest_teardown(item, following)
    assert rested == dropped
