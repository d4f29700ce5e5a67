"""Battles as a user calls them: begin, play on, look."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax import episode, turn
from twinstep.generated.pokejax.batch import lanes_last
from twinstep.generated.pokejax.members import read
from twinstep.generated.pokejax.observation import allowed, observe
from twinstep.generated.pokejax.state import State

Array = jax.Array


class View(NamedTuple):
    """What both players see: obs i16[2, D], legal bool[2, 10], reward f32[2]."""

    obs: Array
    legal: Array
    reward: Array


@lanes_last
def reset(seed: Array, team: Array, clauses: Array) -> State:
    """Begin the battle of a seed u32[2] and teams u8[2, 6, 18].

    clauses: bool[], whether the format has the Sleep and the Freeze Clause.
    """
    return episode.reset(seed, team, clauses)


@lanes_last
def step(state: State, actions: Array) -> State:
    """Play the actions i32[2] of both players; who does not decide plays none."""
    return turn.step(state, actions)


@lanes_last
def view(state: State) -> View:
    """Return what the players see and may do."""
    sides = [read(state, side) for side in (0, 1)]
    asked = [state.request[side].astype(jnp.int32) for side in (0, 1)]
    legal = [
        allowed(team, fighter, kind) for (team, fighter), kind in zip(sides, asked, strict=True)
    ]
    number = state.turn.astype(jnp.int32)
    seen = [
        observe(number, asked[side], *sides[side], *sides[1 - side], legal[side]) for side in (0, 1)
    ]
    wins = [state.winner == side + 1 for side in (0, 1)]
    one, none = jnp.float32(1.0), jnp.float32(0.0)
    rewards = [jnp.where(wins[side], one, jnp.where(wins[1 - side], -one, none)) for side in (0, 1)]
    return View(
        obs=jnp.stack([jnp.stack(values).astype(jnp.int16) for values in seen]),
        legal=jnp.stack([jnp.stack(flags) for flags in legal]),
        reward=jnp.stack(rewards),
    )
