"""A player that thinks one turn ahead, on the engine itself.

It has an ordinary player's observation and imagines the rest: a foe of the best genes with full PP,
moves by type in place of unseen ones, and none of the members that have not come in yet.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.frames import Array
from twinstep.generated import pokejax
from twinstep.generated.pokejax import State
from twinstep.generated.pokejax.state import DTYPES, FAINTED, FLAGS, SLEEP
from twinstep.generated.pokejax.stats import dropped, scaled
from twinstep.generated.pokejax.tables import COLUMNS, SPECIAL
from twinstep.transfer.pokejax.heuristics import max_damage
from twinstep.transfer.pokejax.seen import MEMBERS, MOVES, NONE, Seen

#: Random numbers tried for each pair of moves.
SAMPLES = 2
#: The cost of a status and of a lost member, in hundredths of a member's HP.
_ILL, _LOST = 15, 30
#: Names of observed flags -> those of the state, if both sides' are visible.
_FLAGS = ("reflect", "light_screen", "leech_seed", "mist", "focus_energy", "invulnerable")


def minimax(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Choose the best action against the foe's best answer; see heuristics.py for the arguments.

    Replacements are chosen as `max_damage` does, because nothing else happens then.
    """
    best = _best(jnp.asarray(obs), jnp.asarray(legal), jnp.asarray(word))
    plain = max_damage(obs, legal, word, xp)
    turns = Seen(obs, xp).one("asked") == 1
    best = np.asarray(best) if xp is np else best
    return xp.where(turns, best, plain)


@jax.jit
def _best(obs: Array, legal: Array, word: Array) -> Array:
    """Return i32[N], for decisions at the beginning of a turn."""
    own, theirs, tries = (jnp.arange(k, dtype=jnp.int32) for k in (10, MOVES, SAMPLES))
    pairs = jnp.stack(jnp.meshgrid(own, theirs, tries, indexing="ij"), -1).reshape(-1, 3)

    def value(one: Array, number: Array, pair: Array) -> Array:
        seed = jnp.stack([number, (pair[2] + 1).astype(jnp.uint32)])
        return worth(pokejax.step(imagined(one, seed), pair[:2]))

    # One flat batch: the engine's layout is for a single axis of lanes.
    many, count = len(pairs), len(obs)
    given = jnp.repeat(obs, many, 0), jnp.repeat(word, many), jnp.tile(pairs, (count, 1))
    values = jax.vmap(value)(*given).reshape(count, 10, MOVES, SAMPLES)
    least = values.sum(-1, dtype=jnp.int32).min(-1)
    return jnp.where(legal, least, jnp.int32(-(10**6))).argmax(-1).astype(jnp.int32)


def worth(state: State) -> Array:
    """Return i32[]: the first side's lead over the second, in hundredths of a member."""
    sides = []
    for side in (0, 1):
        most = jnp.maximum(state.base_stats[side, :, 0].astype(jnp.int32), 1)
        lives = (state.hp[side] > 0).astype(jnp.int32)
        ill = (state.status[side] > 0).astype(jnp.int32)
        left = state.hp[side].astype(jnp.int32) * 100 // most
        sides.append((left + lives * (_LOST - _ILL * ill)).sum(dtype=jnp.int32))
    return sides[0] - sides[1]


def imagined(obs: Array, seed: Array) -> State:
    """Return a battle consistent with an observation i16[D]; seed: u32[2]."""
    seen = Seen(obs, jnp)
    team = jnp.stack([_team(seen, "own"), _team(seen, "foe")])
    state = pokejax.reset(seed, jnp.uint8(0), team)
    sides = [_own(seen), _foe(seen, state.base_stats[1], team[1])]
    both = {name: jnp.stack([side[name] for side in sides]) for name in sides[0]}
    typed = {name: v.astype(DTYPES.get(name, jnp.uint8)) for name, v in both.items()}
    return state._replace(turn=jnp.maximum(obs[0], 1), seed=seed, **typed)


def _team(seen: Seen, whose: str) -> Array:
    """Return u8[6, 18]: the best genes everywhere."""
    parts = [seen.many(f"{whose}_*_{name}", MEMBERS)[:, None] for name in ("species", "level")]
    moves = [seen.many(f"{whose}_{i + 1}_move_*", MOVES) for i in range(MEMBERS)]
    genes = jnp.full((MEMBERS, 12), 255, jnp.int32).at[:, :6].set(30)
    team = jnp.concatenate([*parts, jnp.stack(moves), genes], 1)
    if whose == "foe":
        fights = seen.many("foe_*_fights", MEMBERS) > 0
        team = team.at[:, 2:6].set(jnp.where(fights[:, None], _guessed(seen), team[:, 2:6]))
    return team.astype(jnp.uint8)


def _guessed(seen: Seen) -> Array:
    """Return i32[4]: the fighting foe's shown moves, then the usual one of each of its types."""
    fights = seen.many("foe_*_fights", MEMBERS) > 0
    shown = [seen.many(f"foe_{i + 1}_move_*", MOVES) for i in range(MEMBERS)]
    shown = jnp.where(fights[:, None], jnp.stack(shown), 0).sum(0, dtype=jnp.int32)
    kinds = jnp.stack([seen.one("foe_type_1"), seen.one("foe_type_2")])
    normal = jnp.int32(_usual()[_NORMAL])
    usual = [seen.table(_usual(), kinds[0]), seen.table(_usual(), kinds[1]), normal, normal]
    # Shown moves come sorted by number, the empty slots first.
    return jnp.where(shown > 0, shown, jnp.stack(usual))


_NORMAL = 10


@functools.cache
def _usual() -> np.ndarray:
    """Return i32[16]: by type the strongest move without a cost for its user."""
    costly = (
        (COLUMNS["self_destructs"] > 0)
        | (COLUMNS["two_turns"] > 0)
        | (COLUMNS["self_volatile"] > 0)
        | (COLUMNS["recoil"] > 0)
        | (COLUMNS["special"] == SPECIAL.index("highjumpkick") + 1)
        | (COLUMNS["special"] == SPECIAL.index("dreameater") + 1)
    )
    force = COLUMNS["power"] * np.where(COLUMNS["accuracy"] == 0, 255, COLUMNS["accuracy"])
    force = np.where(costly, 0, force)
    best = [np.where(COLUMNS["type"] == kind, force, -1).argmax() for kind in range(NONE + 1)]
    best[NONE] = best[_NORMAL]
    return np.array(best, np.int32)


def _own(seen: Seen) -> dict[str, Array]:
    stats = [seen.many(f"own_*_{name}", MEMBERS) for name in ("max_hp", *_STATS)]
    return _side(
        seen,
        "",
        fights=seen.many("own_*_fights", MEMBERS),
        base=jnp.stack(stats, 1),
        hp=seen.many("own_*_hp", MEMBERS),
        status=seen.many("own_*_status", MEMBERS),
        fainted=seen.many("own_*_fainted", MEMBERS) > 0,
        moves=seen.many("slot_*_move", MOVES),
        pp=seen.many("slot_*_pp", MOVES),
    )


_STATS = ("atk", "def", "spa", "spd", "spe")


def _foe(seen: Seen, base: Array, team: Array) -> dict[str, Array]:
    base = base.astype(jnp.int32)
    fights = seen.many("foe_*_fights", MEMBERS)
    moves = jnp.where(fights[:, None] > 0, team[:, 2:6].astype(jnp.int32), 0)
    return _side(
        seen,
        "foe_",
        fights=fights,
        base=base,
        hp=(seen.many("foe_*_hp_percent", MEMBERS) * base[:, 0] + 99) // 100,
        status=seen.many("foe_*_status", MEMBERS),
        fainted=seen.many("foe_*_fainted", MEMBERS) > 0,
        moves=moves.sum(0, dtype=jnp.int32),
        pp=jnp.full(MOVES, 16, jnp.int32),
    )


def _side(
    seen: Seen,
    who: str,
    *,
    fights: Array,
    base: Array,
    hp: Array,
    status: Array,
    fainted: Array,
    moves: Array,
    pp: Array,
) -> dict[str, Array]:
    """Return one side's fields, without the axis of sides."""
    slot = fights.argmax()
    six = jnp.arange(MEMBERS, dtype=jnp.int32)
    mine = base[slot]
    status = jnp.where(status == FAINTED, 0, status)
    boosts = jnp.stack([seen.one(f"{who}boost_{name}") for name in (*_STATS, *_ROLLS)])
    grown = [jnp.clip(scaled(mine[1 + i], boosts[i]), 1, 999) for i in range(5)]
    shows = {name: seen.one(f"{who}{name}") > 0 for name in (*_FLAGS, "recharging", "confused")}
    flags = jnp.zeros(len(FLAGS), bool)
    for name in _FLAGS:
        flags = flags.at[FLAGS.index(name)].set(shows[name])
    flags = flags.at[FLAGS.index("recharge")].set(shows["recharging"])
    return {
        "request": jnp.int32(1),
        "order": jnp.where(six == 0, slot, jnp.where(six == slot, 0, six)),
        "hp": hp,
        "base_stats": base,
        "status": status,
        "sleep": jnp.where(status == SLEEP, 3, 0),
        "fainted": fainted,
        "species": seen.one(f"{who}species"),
        "types": jnp.stack([seen.one(f"{who}type_{i}") for i in (1, 2)]),
        "stats": mine[1:],
        "modified": jnp.stack(dropped(grown, status[slot])),
        "speed": mine[5],
        "boosts": boosts,
        "moves": moves,
        "move_pp": pp,
        "flags": flags,
        "confusion": jnp.where(shows["confused"], 3, 0),
        "substitute": jnp.where(seen.one(f"{who}substitute") > 0, mine[0] // 4, 0),
        "charging": jnp.where(seen.one(f"{who}charging") > 0, moves[0], 0),
    }


_ROLLS = ("accuracy", "evasion")
