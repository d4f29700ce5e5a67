"""Level 1: the nine quirks of the reference, each shown by the oracle and required of both.

Each test places states, runs the unmodified C for one step, asserts that it does show the
quirk there, and requires the candidate's frame to be the same. The bugs that the tests catch
are in `tests/planted`.
"""

import numpy as np
import pytest

from twinstep.contract import Role
from twinstep.frames import take_lanes
from twinstep.testing import Case, frames_differ, some_starts

pytestmark = [
    pytest.mark.level1,
    pytest.mark.environment("pong"),
    # The C library's generator cannot be placed.
    pytest.mark.needs("oracle.load"),
]

STILL, UP, DOWN = 0.0, 1.0, -1.0
LOST = {"ball_x": 460.0, "ball_vx": 10.0, "ball_y": 100.0, "ball_vy": 1.0, "paddle_yr": 500.0}
WON = {"ball_x": 4.0, "ball_vx": -10.0, "ball_y": 100.0, "ball_vy": 1.0, "paddle_yl": 500.0}
HIT = {"ball_x": 460.0, "ball_vx": 10.0, "ball_y": 300.0, "ball_vy": 1.0, "paddle_yr": 280.0}


@pytest.fixture
def twinstep_place(twinstep_lab):
    """Return a function that plays one step from a placed state on both sides."""

    def play(direction=STILL, restart=False, **fields):
        contract = twinstep_lab.contract
        state = {f.name: np.zeros((1, *f.shape), f.dtype) for f in contract.state}
        base = {"paddle_yl": 285.0, "paddle_yr": 285.0, "ball_x": 240.0, "ball_y": 300.0}
        base |= {"ball_vx": 10.0, "rng_key": 7, "draws": 3, "last_obs": np.full(8, 0.25)}
        for name, value in (base | fields).items():
            state[name][0] = value
        dtype, shape = contract.action_layout()
        code = direction if contract.params["continuous"] else {0.0: 0, 1.0: 1, -1.0: 2}[direction]
        actions = np.full((1, 1, *shape), code, dtype)
        starts = some_starts(contract, 1)
        if restart:
            want = {p: v[None] for p, v in twinstep_lab.oracle.restarts(state, starts).items()}
            got = {
                p: v[None]
                for p, v in twinstep_lab.runner.restart(twinstep_lab.runner.load(state))[1].items()
            }
            actions = actions[:0]
        else:
            want, _ = twinstep_lab.oracle.steps(state, actions, starts)
            got = twinstep_lab.runner.play_from(state, actions)
        if frames_differ(want, got, twinstep_lab.rules.one_step()):
            single = {name: value[0] for name, value in state.items()}
            kind = "restart" if restart else "step"
            twinstep_lab.fail_with_case(Case(kind, take_lanes(starts, 0), actions[:, 0], single))
        return {p.removeprefix("state."): v[0, 0] for p, v in want.items()}

    return play


def test_quirk_1_a_point_leaves_the_observation_of_the_frame_before(twinstep_place, twinstep_lab):
    after = twinstep_place(**LOST)
    assert after["reward"] == -1
    if twinstep_lab.contract.params["frameskip"] == 1:
        assert (after["obs"] == np.float32(0.25)).all(), "the buffer from before the step"
    assert after["obs"][0, 2] != after["ball_x"] / 500


def test_quirk_2_scores_are_divided_as_whole_numbers(twinstep_place):
    after = twinstep_place(score_l=20, score_r=13)
    assert (after["obs"][0, 6:] == 0).all()


def test_quirk_3_a_point_ends_the_step_and_bounces_do_not_add_up(twinstep_place, twinstep_lab):
    frames = twinstep_lab.contract.params["frameskip"]
    after = twinstep_place(**LOST)
    assert after["ball_x"] == 100, "frames after the point would have moved the served ball"
    assert after["reward"] == -1
    bounce = twinstep_place(**HIT)
    assert bounce["reward"] == np.float32(0.1)
    if frames > 1:
        assert bounce["ball_x"] < 468, "the reward of the first frame outlives the later ones"


def test_quirk_4_tick_and_bounces_are_the_rounds_not_the_episodes(twinstep_place):
    after = twinstep_place(tick=900, n_bounces=9, score_l=3, **LOST)
    assert after["score_l"] == 4
    assert (after["tick"], after["n_bounces"]) == (0, 0)


def test_quirk_4_the_logged_episode_length_is_the_last_rounds(twinstep_lab):
    """The reference's own log, written at the final point, holds that round's tick."""
    assert twinstep_lab.contract.state_field("log").role is Role.IRRELEVANT
    state = {f.name: np.zeros((1, *f.shape), f.dtype) for f in twinstep_lab.contract.state}
    for name, value in (
        LOST | {"score_l": twinstep_lab.contract.params["max_score"] - 1, "tick": 7}
    ).items():
        state[name][0] = value
    dtype, shape = twinstep_lab.contract.action_layout()
    starts = some_starts(twinstep_lab.contract, 1)
    want, _ = twinstep_lab.oracle.steps(state, np.zeros((1, 1, *shape), dtype), starts)
    assert want["terminated"].all()
    assert want["state.log"][0, 0, 3] == 8, "episode_length is the tick of the last round"


def test_quirk_5_bounces_of_both_sides_are_counted(twinstep_place):
    left = twinstep_place(ball_x=4.0, ball_vx=-10.0, ball_y=300.0, paddle_yl=280.0, n_bounces=4)
    assert left["n_bounces"] == 5
    assert left["reward"] == 0
    assert twinstep_place(n_bounces=4, **HIT)["n_bounces"] == 5


def test_quirk_6_the_ball_is_not_clipped_on_the_left(twinstep_place, twinstep_lab):
    after = twinstep_place(ball_x=4.0, ball_vx=-10.0, ball_y=300.0, paddle_yl=280.0)
    moved = 10 * (twinstep_lab.contract.params["frameskip"] - 1)
    assert after["ball_x"] == -6 + moved
    assert after["ball_vx"] == 10


def test_quirk_7_the_clip_belongs_to_the_agents_bounce(twinstep_place, twinstep_lab):
    frames = twinstep_lab.contract.params["frameskip"]
    assert twinstep_place(**HIT)["ball_x"] == 468 - 10 * (frames - 1)
    # Past the top edge in mid-field the ball stays outside for a frame.
    if frames == 1:
        assert twinstep_place(ball_y=3.0, ball_vy=-13.0)["ball_y"] == -10
        corner = twinstep_place(**HIT | {"ball_y": 3.0, "ball_vy": -13.0, "paddle_yr": -20.0})
        assert corner["ball_y"] == 0


def test_quirk_8_win_and_direction_survive_a_restart(twinstep_place):
    after = twinstep_place(restart=True, win=1, paddle_dir=-1.0, score_l=21, score_r=4, draws=9)
    assert (after["win"], after["paddle_dir"], after["draws"]) == (1, -1, 9)
    assert (after["score_l"], after["score_r"]) == (0, 0)


@pytest.mark.parametrize("direction", [STILL, UP, DOWN])
def test_quirk_9_a_flat_ball_is_lifted_at_the_agents_paddle_only(
    twinstep_place, twinstep_lab, direction
):
    flat = HIT | {"ball_vy": 0.0}
    after = twinstep_place(direction, **flat)
    assert after["ball_vy"] == (3 if direction == STILL else 3 * direction)
    left = {"ball_x": 4.0, "ball_vx": -10.0, "ball_y": 300.0, "paddle_yl": 280.0, "ball_vy": 0.0}
    assert twinstep_place(direction, **left)["ball_vy"] == 0


def test_a_serve_draws_once_and_is_flat_or_upward(twinstep_place):
    speeds = set()
    for key in range(16):
        after = twinstep_place(rng_key=key, draws=3, **LOST)
        assert after["draws"] == 4
        speeds.add(float(after["ball_vy"]))
    assert speeds == {-1.0, 0.0}, "never +1: rand() % 2 - 1"


def test_a_won_point_gives_one_and_sets_win(twinstep_place):
    after = twinstep_place(win=0, **WON)
    assert (after["reward"], after["win"], after["score_r"]) == (1, 1, 1)
