"""A reward that is off by one term of the reference's account is told with the term's name."""

import pytest

from twinstep.diagnosis.reward_terms import fault

LOG = ["reward_forward = 1.5", "reward_ctrl = -0.25", "x_position = 7.125", "a step of the game"]


@pytest.mark.parametrize(
    ("oracle", "candidate", "says"),
    [
        (1.25, 1.5, "as if `reward_ctrl` were left out"),
        (1.25, 1.0, "as if `reward_ctrl` were 2 times as large"),
        (1.25, 1.75, "as if `reward_ctrl` had the other sign"),
        (1.25, -0.25, "as if `reward_forward` were left out"),
        (1.25, 1.5000001, "as if `reward_ctrl` were left out"),
        (1.25, -1.0, "as if `reward_ctrl` were 10 times as large"),
        (1.25, 1.475, "as if `reward_ctrl` were 0.1 times as large"),
        (1.25, 1.6, ""),
        (1.25, 1.25, ""),
    ],
)
def test_the_term_is_named(oracle, candidate, says):
    assert fault(oracle, candidate, LOG) == says


def test_beside_a_large_reward_a_small_term_has_to_fit_as_well():
    """A torque of 2.79 that was not clamped to 2 costs 1.94 times as much, and not twice."""
    log = ["cost_angle = -1.13621421", "cost_speed = -6.4", "cost_torque = -0.004"]
    assert fault(-7.5402142058087644, -7.543987759291568, log) == ""
    assert (
        fault(-7.5402142058087644, -7.5442142, log) == "as if `cost_torque` were 2 times as large"
    )


def test_of_two_terms_that_fit_neither_is_named():
    assert fault(1.25, 1.5, [*LOG, "other = -0.25"]) == ""


def test_a_term_of_roundings_size_is_none():
    assert fault(1.0, 1.0 + 1e-7, ["tiny = 1e-7"]) == ""
