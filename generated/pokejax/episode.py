"""The start of a battle."""

from __future__ import annotations

import functools
import operator

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.lcg import Draws
from twinstep.generated.pokejax.state import (
    DTYPES,
    FLAGS,
    MOVE_REQUEST,
    SPEED,
    State,
    stacked,
)
from twinstep.generated.pokejax.stats import hit_points, stat
from twinstep.generated.pokejax.tables import COLUMNS, SPECIES, look_up, number
from twinstep.generated.pokejax.words import words

Array = jax.Array

TRANSFORM = number("transform")
TIE = 3

_SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(["seed", "request"], (2,)),
    **dict.fromkeys(["turn", "last_damage", "winner"], ()),
    **dict.fromkeys(words("order hp status sleep sleep_by_foe fainted sub_fainted seen"), (2, 6)),
    **dict.fromkeys(["pp", "revealed"], (2, 6, 4)),
    **dict.fromkeys(["moves", "move_pp", "virtual", "disabled"], (2, 4)),
    **dict.fromkeys(["stats", "modified"], (2, 5)),
    "types": (2, 2),
    "boosts": (2, 7),
    "flags": (2, len(FLAGS)),
}


def reset(seed: Array, rules: Array, team: Array) -> State:
    """Begin the battle of a seed u32[2] (high and low word), rules u8[] and teams u8[2, 6, 18]."""
    batch = seed.shape[1:]
    blank = {
        name: jnp.zeros(_SHAPES.get(name, (2,)) + batch, DTYPES.get(name, jnp.uint8))
        for name in State._fields
        if name not in ("rules", "team", "base_stats")
    }
    members = [
        [[team[n, i, k].astype(jnp.int32) for k in range(18)] for i in range(6)] for n in range(2)
    ]
    stats = [[born(member) for member in side] for side in members]
    own_pp = [[[full_pp(move) for move in member[2:6]] for member in side] for side in members]
    six = jnp.arange(6, dtype=jnp.uint8).reshape(6, *[1] * len(batch))
    base = stacked("base_stats", stats)
    lead = [side[0] for side in members]
    # The start ends a turn, too: Pokemon that can only copy each other tie there.
    stuck = _only_copies(members[0]) & _only_copies(members[1])
    blank |= {
        "seed": seed,
        "team": team,
        "rules": rules,
        "base_stats": base,
        "turn": blank["turn"] + 1,
        "winner": jnp.where(stuck, jnp.uint8(TIE), blank["winner"]),
        "request": jnp.where(stuck, blank["request"], jnp.uint8(MOVE_REQUEST)),
        "order": jnp.broadcast_to(six, (2, 6, *batch)),
        "hp": base[:, :, 0],
        "pp": stacked("pp", own_pp),
        "seen": blank["seen"].at[:, 0].set(1),
        "species": stacked("species", [side[0] for side in lead]),
        "types": stacked(
            "types", [[look_up(SPECIES[6 + i], side[0]) for i in range(2)] for side in lead]
        ),
        "stats": base[:, 0, 1:],
        "modified": base[:, 0, 1:],
        "speed": base[:, 0, 1 + SPEED],
        "moves": team[:, 0, 2:6],
        "move_pp": stacked("move_pp", [side[0] for side in own_pp]),
    }
    state = State(**blank)
    draws = Draws(state.seed[0], state.seed[1])
    # Sort the two arrivals, then run Update after the start and after each arrival.
    draws.skip(4 * (state.speed[0] == state.speed[1]).astype(jnp.int32))
    return state._replace(seed=jnp.stack([draws.high, draws.low]))


def _only_copies(side: list[list[Array]]) -> Array:
    """Return whether every move of every member of a side is Transform."""
    others = [(move != 0) & (move != TRANSFORM) for member in side for move in member[2:6]]
    return ~functools.reduce(operator.or_, others)


def born(member: list[Array]) -> list[Array]:
    """Return HP and the five stats of a member given as its 18 integers, 0 if there is none."""
    species, level, ivs, evs = member[0], member[1], member[6:12], member[12:18]
    genes = [(iv & 30) + ev // 4 for iv, ev in zip(ivs, evs, strict=True)]
    bases = [look_up(SPECIES[i], species) for i in range(6)]
    found = [hit_points(bases[0], genes[0], level)]
    found += [stat(bases[i], genes[i], level) for i in range(1, 6)]
    return [jnp.where(level > 0, value, 0) for value in found]


def full_pp(move: Array) -> Array:
    """Return a move's PP after three PP Ups: 8 fifths, one less for each of 40 (`calculatePP`)."""
    base = look_up(COLUMNS["pp"], move)
    return base * 8 // 5 - jnp.where(base == 40, 3, 0)
