"""The public functions of a battle: begin, play on, observe."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax import episode, turn
from twinstep.generated.pokejax.batch import lanes_last
from twinstep.generated.pokejax.members import read
from twinstep.generated.pokejax.observation import looks, observe
from twinstep.generated.pokejax.stage import stage
from twinstep.generated.pokejax.state import State

Array = jax.Array


class View(NamedTuple):
    """Both players' views: obs i16[2, D], legal bool[2, 10], reward f32[2]."""

    obs: Array
    legal: Array
    reward: Array


@jax.jit
@lanes_last
def reset(seed: Array, rules: Array, team: Array) -> State:
    """Begin the battle of a seed u32[2], rules u8[] and teams u8[2, 6, 18]."""
    return episode.reset(seed, rules, team)


@jax.jit
@lanes_last
def step(state: State, actions: Array) -> State:
    """Play the actions i32[2] of both players; that of a player who does not decide is ignored."""
    return turn.step(state, actions)


@jax.jit
@lanes_last
def view(state: State) -> View:
    """Return both players' observations, legal actions and rewards."""
    (one_team, one), (two_team, two) = (read(state, side) for side in (0, 1))
    asked = [state.request[side].astype(jnp.int32) for side in (0, 1)]
    both = stage(
        state.turn > 0,
        lambda f, g, s, t: (looks(s, f, g, asked[0]), looks(t, g, f, asked[1])),
        one,
        two,
        one_team,
        two_team,
    )
    seen = [observe(state, side, both[side], both[1 - side]) for side in (0, 1)]
    wins = [state.winner == side + 1 for side in (0, 1)]
    one, none = jnp.float32(1.0), jnp.float32(0.0)
    rewards = [jnp.where(wins[side], one, jnp.where(wins[1 - side], -one, none)) for side in (0, 1)]
    return View(
        obs=jnp.stack(seen),
        legal=jnp.stack([look.legal for look in both]),
        reward=jnp.stack(rewards),
    )
