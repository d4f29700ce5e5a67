"""A report states nothing of a field that lockstep does not compare; see the toy `tipping`."""

import numpy as np
import pytest

from twinstep.compare.arrays import ulps
from twinstep.compare.lockstep import check_episodes
from twinstep.diagnosis import markdown
from twinstep.diagnosis.case import Answer, elements_that_agree
from twinstep.gates import Lockstep
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys import drift
from twinstep.tests.toys.tipping import TIPPING


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The report of a lockstep field that differs because the physics has parted before."""
    with labs(tmp_path_factory.mktemp("tipping"), TIPPING, 60) as lab_of:
        lab = lab_of("wrong")
        outcome = check_episodes(lab.runner, lab.traces("random"), lab.rules.lockstep())
        with pytest.raises(Divergence) as failed:
            lab.require_equal(outcome)
    return failed.value.record


def test_a_field_that_was_not_compared_is_not_said_to_agree(record):
    assert record["diff"][0]["path"] == "terminated"
    assert set(record["agree"]) == {"truncated", "acting", "clock"}
    apart = {name: (want, got) for name, want, got in record["not_compared"]}
    assert "angle" in apart
    assert all(want != got for want, got in apart.values())
    assert "apart by then, under gates of their own: obs" in markdown.markdown(record)


def test_one_step_that_shows_another_field_alone_is_no_witness(record):
    """From the oracle's state, the angle leaves its gate at once; `terminated` does not differ."""
    assert record["one_step"] is False
    text = markdown.markdown(record)
    assert "in ONE step" not in text
    assert "does NOT show it: the fields that are apart, below, had parted before it." in text


def test_elements_of_a_vector_that_agree_are_listed_beside_the_one_that_differs():
    """The cause may be one of them: a position at the wall, where the velocity is wrong."""
    gates = {"obs": Lockstep(atol=1e-3), "state.clock": Lockstep()}
    oracle = {"obs": np.array([[0.5, 0.25, 1.0]]), "state.clock": np.int32(7)}
    candidate = oracle | {"obs": np.array([[0.5, 0.2504, 2.0]])}
    answer = Answer(3, ("obs",), {}, oracle, candidate, {}, np.zeros(3), compared=gates)
    agreeing = elements_that_agree(drift.contract({}), answer)
    assert agreeing == [("obs.cos", 0.5), ("obs.sin", 0.25), ("state.clock", 7)]


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (0.0, -0.0, 0), (1.0, np.nextafter(1.0, 2), 1), (5e-324, -5e-324, 2), (np.nan, np.nan, 0),
        (np.nan, 1.0, np.inf), (1.0, 1.0 + 2**-50, 4), (-1.0, -1.0 - 2**-50, 4),
    ],
)  # fmt: skip
def test_ulps_count_the_numbers_between(one, other, apart):
    assert ulps(np.array(one), np.array(other)) == apart
    assert ulps(np.array([other, one]), np.array([one, other])).tolist() == [apart, apart]
