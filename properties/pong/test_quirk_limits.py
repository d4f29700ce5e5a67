"""Level 1: the quirks of `test_quirks` in their hardest cases.

Each test places a few states, asserts the reference's result, and requires the same
frames of the candidate. Lines are those of `pong.h`, PufferLib 3.0.0.
"""

import numpy as np
import pytest

from twinstep.frames import take_lanes
from twinstep.testing import Case, frames_differ, some_starts

pytestmark = [
    pytest.mark.level1,
    pytest.mark.environment("pong"),
    # The C library's generator cannot be placed.
    pytest.mark.needs("candidate.load", "oracle.load"),
]
#: A step that has later frames than its first one.
_several_frames = pytest.mark.needs(
    when=lambda facts, row: facts.pair.subject.contract.params["frameskip"] > 1,
    why="needs several frames a step",
)

#: Every batch is padded to this, so that a compiled candidate is compiled once.
LANES = 8
#: A last observation that no observation of these tests equals.
STALE = 0.25
STAY, UP, DOWN = 0, 1, 2
#: One frame from the agent's point, the opponent's point, and a bounce on either paddle.
WON = {"ball_x": 5.0, "ball_vx": -10.0}
LOST = {"ball_x": 465.0, "ball_vx": 10.0}
LEFT = {**WON, "paddle_yl": 490.0}
RIGHT = {**LOST, "paddle_yr": 490.0}


def placed(**fields):
    """Return a state in mid-field, the ball far from both paddles, with these fields instead."""
    state = {
        **{"paddle_yl": -35.0, "paddle_yr": -35.0, "ball_x": 250.0, "ball_y": 500.0},
        **{"ball_vx": 10.0, "ball_vy": 0.0, "paddle_dir": 0.0, "score_l": 0, "score_r": 0},
        **{"tick": 5, "n_bounces": 2, "win": 0, "last_obs": np.full(8, STALE)},
        **{"rng_key": 12345, "draws": 1, "log": np.zeros(5)},
    }
    assert fields.keys() <= state.keys()
    return {**state, **fields}


def answers(lab, *cases):
    """Play one step of each (state, action); return the oracle's frames [len(cases), ...].

    Fails with a report where the candidate's frames differ.
    """
    padded = [*cases, *[cases[0]] * (LANES - len(cases))]
    states = {
        field.name: np.stack([np.asarray(s[field.name], field.dtype) for s, _ in padded])
        for field in lab.contract.state
    }
    codes = np.array([action for _, action in padded])
    if lab.contract.params["continuous"]:
        codes = np.array([0.0, 1.0, -1.0])[codes]
    actions = codes.astype(lab.contract.action_layout()[0])[None, :, None]
    starts = some_starts(lab.contract, LANES)
    want, _ = lab.oracle.steps(states, actions, starts)
    wrong = np.zeros(LANES, bool)
    found = frames_differ(want, lab.runner.play_from(states, actions), lab.rules.one_step())
    for rows in found.values():
        wrong |= rows[0]
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        state = {name: values[at] for name, values in states.items()}
        lab.fail_with_case(Case("step", take_lanes(starts, at), actions[:, at], state))
    return {path: values[0, : len(cases)] for path, values in want.items()}


def later(lab):
    """Return the number of a step's frames after its first one."""
    return lab.contract.params["frameskip"] - 1


def test_quirk_1_a_point_in_the_first_frame_shows_the_step_before(twinstep_lab):
    """Lines 184, 215, and 181, 212 at the final point: the step returns before it observes."""
    last = twinstep_lab.contract.params["max_score"] - 1
    over = placed(**WON, score_r=last)
    frames = answers(twinstep_lab, (placed(**WON), STAY), (placed(**LOST), UP), (over, STAY))
    np.testing.assert_array_equal(frames["reward"][:, 0], [1, -1, 1])
    assert frames["terminated"].tolist() == [False, False, True]
    assert (frames["obs"] == STALE).all()
    assert (frames["state.ball_x"] == 100).all()


@_several_frames
def test_quirk_1_a_point_in_a_later_frame_shows_the_frame_before(twinstep_lab):
    """The buffer keeps the last observed frame."""
    frames = answers(twinstep_lab, (placed(ball_x=15.0, ball_vx=-10.0), STAY))
    assert frames["reward"][0, 0] == 1
    assert frames["obs"][0, 0, 2] == np.float32(5) / np.float32(500)


@_several_frames
def test_quirk_3_a_later_reward_replaces_an_earlier_one(twinstep_lab):
    """Lines 176, 196, 207: rewards of one step's frames do not add up.

    Only a ball faster than any in play earns two in a step: 400 a frame.
    """
    fast = {"ball_x": 400.0, "ball_vx": 400.0, "paddle_yr": 490.0}
    frames = answers(
        twinstep_lab,
        (placed(**fast, paddle_yl=490.0), STAY),  # right, left, right, left
        (placed(**fast), STAY),  # right, then past the opponent
    )
    assert frames["state.n_bounces"].tolist() == [6, 0]
    np.testing.assert_array_equal(frames["reward"][:, 0], np.float32([0.1, 1.0]))


def test_quirk_7_the_ball_leaves_the_field_at_the_walls_but_not_at_the_agents_paddle(twinstep_lab):
    """Lines 219-221 lie inside the right side's branch."""
    rising = {"ball_y": 2.0, "ball_vy": -10.0}
    frames = answers(
        twinstep_lab,
        (placed(**rising), STAY),
        (placed(**rising, ball_x=465.0, paddle_yr=0.0), STAY),
        (placed(ball_y=606.0, ball_vy=10.0), STAY),
    )
    flown = 10 * later(twinstep_lab)
    assert frames["state.n_bounces"].tolist() == [2, 3, 2]
    assert frames["state.ball_y"].tolist() == [-8 + flown, 0 + flown, 616 - flown]


def test_quirk_8_win_and_direction_survive_a_serve(twinstep_lab):
    """Lines 105-114: win is from the last point, paddle_dir from the last action."""
    frames = answers(
        twinstep_lab,
        (placed(**WON, paddle_dir=-1.0), UP),
        (placed(**LOST, win=1), DOWN),
        (placed(win=1), STAY),
    )
    assert frames["state.win"].tolist() == [1, 0, 1]
    assert frames["state.paddle_dir"].tolist() == [1, -1, 0]


def test_quirk_9_the_flat_limit_is_compared_in_double(twinstep_lab):
    """Line 200: float32(0.01) lies below the double 0.01 and counts as flat; the next does not."""
    limit = np.float32(0.01)
    above = np.nextafter(limit, np.float32(1))
    frames = answers(
        twinstep_lab,
        (placed(**RIGHT, ball_vy=limit), STAY),
        (placed(**RIGHT, ball_vy=-limit), STAY),
        (placed(**RIGHT, ball_vy=above), STAY),
    )
    np.testing.assert_array_equal(frames["state.ball_vy"], np.float32([3, 3, above]))


def test_rewards_are_these_four_values(twinstep_lab):
    """Win 1, loss -1, the agent's bounce the float32 0.1; the opponent's bounce gives none."""
    moves = [placed(**fields) for fields in (WON, LOST, RIGHT, LEFT, {})]
    frames = answers(twinstep_lab, *[(state, STAY) for state in moves])
    np.testing.assert_array_equal(frames["reward"][:, 0], np.float32([1, -1, 0.1, 0, 0]))


def test_the_final_point_draws_once_and_a_bounce_never(twinstep_lab):
    """Line 111 is the only draw."""
    last = twinstep_lab.contract.params["max_score"] - 1
    frames = answers(
        twinstep_lab,
        (placed(**WON, draws=7), STAY),
        (placed(**LOST, draws=7, score_l=last), STAY),
        (placed(**RIGHT, draws=7), STAY),
    )
    assert frames["state.draws"].tolist() == [8, 8, 7]
    assert frames["terminated"].tolist() == [False, True, False]
