"""A wrong auto-reset is told by what it looks like in every lane, with the steps around it."""

import numpy as np
import pytest

from twinstep.compare.autoreset import ExpectedSteps, mismatch
from twinstep.env.timestep import TimeStep
from twinstep.gates import Lockstep

STEPS, LANES = 6, 4
#: Each lane's first observation, and the one with which its second episode begins.
FIRST, SECOND = np.array([4, 7, 2, 9]), np.array([1, 7, 5, 0])
ENDS = np.array([1, 2, 3, 2])
ALL = {"obs": Lockstep(), "reward": Lockstep()}


def _expected():
    """A walk by one to the right from each start; the observation is the place."""
    obs, final = np.zeros((2, STEPS, LANES, 1), np.int32)
    for lane in range(LANES):
        place = FIRST[lane]
        for t in range(STEPS):
            place += 1
            final[t, lane] = place
            if t == ENDS[lane]:
                place = SECOND[lane]
            obs[t, lane] = place
    ended = np.arange(STEPS)[:, None] == ENDS
    heads = {
        "obs": obs,
        "final_obs": final,
        "reward": np.ones((STEPS, LANES), np.float32),
        "terminated": ended,
        "truncated": np.zeros_like(ended),
    }
    return ExpectedSteps(np.full((STEPS, LANES, 1), 2), heads, np.ones((STEPS, LANES), bool))


def _told(change, first=FIRST[:, None]):
    expected = _expected()
    heads = {name: values.copy() for name, values in expected.heads.items()}
    change(heads)
    got = TimeStep(**{name: heads.get(name) for name in TimeStep._fields})
    return mismatch(expected, got, ALL, first=first)


def _forever(heads):
    for lane, end in enumerate(ENDS):
        heads["obs"][end:, lane, 0] = FIRST[lane] + np.arange(STEPS - end)


def _unreset(heads):
    for lane, end in enumerate(ENDS):
        heads["obs"][end, lane] = heads["final_obs"][end, lane]


def _swallowed(heads):
    for lane, end in enumerate(ENDS):
        heads["obs"][end + 1 :, lane] -= 1


def _one_lane(heads):
    heads["obs"][ENDS[0], 0] = FIRST[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_forever, ", as if every episode of a lane began like its first"),
        (_unreset, ", as if nothing were reset"),
        (_swallowed, ", as if the action after an end were not played"),
    ],
)
def test_what_holds_in_every_lane_is_said(change, says):
    assert _told(change).said.endswith(says)


def test_a_lane_alone_is_no_clue():
    assert "as if" not in _told(_one_lane).said


def test_without_the_first_observations_nothing_is_guessed():
    assert "as if" not in _told(_forever, first=None).said


def test_the_steps_around_are_told_for_both_sides():
    said, steps = _told(_forever)
    assert said.startswith("`obs[0]` is 4, expected 1, at step 2 of lane 0, where the episode ends")
    assert steps.splitlines() == [
        "| step | action | obs | obs, expected | reward | reward, expected | end |",
        "|---|---|---|---|---|---|---|",
        "| 1 | 2 | 5 | 5 | 1 | 1 |  |",
        "| 2 | 2 | 4 | 1 | 1 | 1 | terminated |",
        "| 3 | 2 | 5 | 2 | 1 | 1 |  |",
        "| 4 | 2 | 6 | 3 | 1 | 1 |  |",
    ]


def test_a_large_observation_is_left_out_of_the_table():
    expected = _expected()
    wide = {name: np.repeat(expected.heads[name], 40, -1) for name in ("obs", "final_obs")}
    expected = expected._replace(heads=expected.heads | wide)
    heads = expected.heads | {"obs": wide["obs"] + 1}
    got = TimeStep(**{name: heads.get(name) for name in TimeStep._fields})
    heading, *_ = mismatch(expected, got, ALL).steps.splitlines()
    assert heading == "| step | action | reward | reward, expected | end |"
