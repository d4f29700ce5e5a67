"""What a group of tests leaves in memory is dropped before the next group begins."""

import pytest

from twinstep.frames import take_lanes
from twinstep.inputs.sampling import some_starts
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.testing.harness import Harness, RunSettings
from twinstep.tests.support.project_folder import PYPROJECT
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
