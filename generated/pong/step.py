"""An episode: reset, the step of several frames, and the restart after the end."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from twinstep.generated.pong import ball
from twinstep.generated.pong.observe import observe
from twinstep.generated.pong.paddles import agent_paddle, opponent_paddle
from twinstep.generated.pong.serve import Serve, draw_from, key_of, serve, serve_with
from twinstep.generated.pong.sides import left_side, right_side
from twinstep.generated.pong.state import Array, Observation, Params, State


def reset(seed: Array, params: Params, draw_table: Array | None = None) -> State:
    """Begin the episode of this seed u32[2], or of a recorded table of draws u32[K]."""
    rng_key = key_of(seed) if draw_table is None else None
    served = _serve(rng_key, draw_table, jnp.uint32(0))
    state = State(
        **served._asdict(),
        paddle_dir=jnp.float32(0.0),
        score_l=jnp.uint32(0),
        score_r=jnp.uint32(0),
        win=jnp.int32(0),
        last_obs=Observation(*[served.ball_x] * 8),  # seen anew below
        rng_key=rng_key,
        draw_table=draw_table,
        reward=jnp.float32(0.0),
        terminated=jnp.bool_(False),
    )
    return restart(state, params)


def restart(state: State, params: Params) -> State:
    """Begin the next episode as the reference's step does by itself (lines 180, 211).

    After a terminal step the round is already served. win and paddle_dir stay as they are.
    """
    state = state._replace(score_l=jnp.uint32(0), score_r=jnp.uint32(0))
    return state._replace(
        last_obs=_observed(state, params), reward=jnp.float32(0.0), terminated=jnp.bool_(False)
    )


def step(state: State, action: Array, params: Params) -> State:
    """Play `frameskip` frames with one action, or fewer: a point ends the step (lines 123-225).

    action: i32[], or f32[] if continuous. A terminal state holds the scores as they stood;
    the reference returns the state after `restart` in its place.
    """
    # tick counts steps, not frames.
    state = state._replace(tick=state.tick + 1, reward=jnp.float32(0.0))
    scores = state.score_l, state.score_r

    def frame(_: int, carry: tuple[State, Array, Array]) -> tuple[State, Array, Array]:
        state, point, seen = carry
        after, scored = _frame(state, action, params)
        # A point has returned from the loop (lines 177-185, 208-216).
        return _where(point, state, after), point | scored, seen | ~(point | scored)

    # A loop and not 8 copies of the frame: XLA may fuse copies into the code after the step and
    # play them again for every use of their result, without end.
    begin = (state, jnp.bool_(False), jnp.bool_(False))
    state, point, seen = lax.fori_loop(0, params.frameskip, frame, begin)
    # The reference observes at the end of each frame, but not after a point: the buffer
    # keeps the frame before, which may be that of the previous step. The paddles and the ball
    # still stand there (see _frame); only the scores are already those after the point.
    observed = _observed(state._replace(score_l=scores[0], score_r=scores[1]), params)
    return _where(point, state._replace(**_served(state)._asdict()), state)._replace(
        last_obs=_where(seen, observed, state.last_obs)
    )


def _frame(state: State, action: Array, params: Params) -> tuple[State, Array]:
    """Play one frame. Returns the state after it and whether a point was scored.

    After a point, paddles and ball stay where they were before: the serve, which the caller
    plays once a step, sets them all.
    """
    paddle_yr, paddle_dir = agent_paddle(state.paddle_yr, action, params)
    paddle_yl = opponent_paddle(state.paddle_yl, state.ball_y)
    x, y, vy = ball.move(state.ball_x, state.ball_y, state.ball_vx, state.ball_vy)
    left = left_side(
        x, y, state.ball_vx, paddle_yl, state.score_r, state.win, state.n_bounces, params
    )
    right = right_side(
        x,
        y,
        left.ball_vx,
        vy,
        paddle_yr,
        paddle_dir,
        state.score_l,
        left.win,
        left.n_bounces,
        params,
    )
    point = left.point | right.point
    moved = state._replace(
        paddle_yl=paddle_yl,
        paddle_yr=paddle_yr,
        ball_x=right.ball_x,
        ball_y=right.ball_y,
        ball_vx=right.ball_vx,
        ball_vy=right.ball_vy,
    )
    # A reward replaces that of an earlier frame (lines 176, 196, 207): bounces do not add up.
    reward = jnp.where(left.reward != 0, left.reward, right.reward)
    return _where(point, state, moved)._replace(
        paddle_dir=paddle_dir,
        n_bounces=right.n_bounces,
        score_l=right.score_l,
        score_r=left.score_r,
        win=right.win,
        reward=jnp.where(reward != 0, reward, state.reward),
        terminated=left.terminated | right.terminated,
    ), point


def _served(state: State) -> Serve:
    return _serve(state.rng_key, state.draw_table, state.draws)


def _serve(rng_key: Array | None, draw_table: Array | None, draws: Array) -> Serve:
    if draw_table is None:
        assert rng_key is not None
        return serve(rng_key, draws)
    return serve_with(draw_from(draw_table, draws), draws)


def _observed(state: State, params: Params) -> Observation:
    return observe(
        state.paddle_yl,
        state.paddle_yr,
        state.ball_x,
        state.ball_y,
        state.ball_vx,
        state.ball_vy,
        state.score_l,
        state.score_r,
        params,
    )


def _where(condition: Array, chosen: State, otherwise: State) -> State:
    """Choose between two trees of the same shape."""

    def choose(a: Array, b: Array) -> Array:
        return a if a is b else jnp.where(condition, a, b)

    return jax.tree.map(choose, chosen, otherwise)
