"""Members of a team: the fighting one, switches in and out, and the effects of a faint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.stage import opened
from twinstep.generated.pokejax.state import (
    FLAGS,
    FREEZE,
    LISTS,
    OF_FIGHTER,
    POISONED,
    SLEEP,
    SPEED,
    TOXIC,
    Fighter,
    State,
    pick,
    put,
)
from twinstep.generated.pokejax.stats import dropped
from twinstep.generated.pokejax.tables import SPECIES, look_up

Array = jax.Array

SIX = range(6)
#: Per member and written back: fields of State and of Fighter.
RECORDS = ("hp", "status", "sleep", "sleep_by_foe", "fainted", "sub_fainted")


@jax.tree_util.register_dataclass
@dataclass
class Team:
    """One side's members, as lists of six i32[...] or bool[...].

    set_: columns of the team's integers (species, level, 4 moves, 6 IVs, 6 EVs). stats: hp, atk,
    def, spa, spd, spe without any change. pp, revealed: four each.
    """

    #: Kept as one array each between the parts of a step; see stage.py.
    DEPTHS: ClassVar[dict[str, int]] = {
        **dict.fromkeys(("set_", "stats", "pp", "revealed"), 2),
        **dict.fromkeys((*RECORDS, "seen", "order"), 1),
    }

    set_: list[list[Array]]
    stats: list[list[Array]]
    hp: list[Array]
    status: list[Array]
    sleep: list[Array]
    sleep_by_foe: list[Array]
    fainted: list[Array]
    sub_fainted: list[Array]
    pp: list[list[Array]]
    seen: list[Array]
    revealed: list[list[Array]]
    order: list[Array]

    def present(self, i: int) -> Array:
        """Return whether there is such a member."""
        return self.set_[i][1] > 0


def read(state: State, side: int) -> tuple[Team, Fighter]:
    """Take one side out of the state, with arrays for lists; see stage.py."""
    names = (*RECORDS, "pp", "seen", "revealed", "order")
    team = Team(
        set_=state.team[side],
        stats=state.base_stats[side],
        **{name: getattr(state, name)[side] for name in names},
    )
    slot = _number(state.order[side, 0])
    zero = jnp.zeros_like(slot)
    inside = opened(team)
    flags = {name: state.flags[side, i] for i, name in enumerate(FLAGS)}
    of_member = _member(inside, slot)
    for name in ("own_stats", "own_moves", "pp", "revealed"):
        of_member[name] = jnp.stack(of_member[name])
    return team, Fighter(
        slot=slot,
        **of_member,
        **_others(inside, slot),
        **{name: _number(getattr(state, name)[side]) for name in (*LISTS, *OF_FIGHTER)},
        **flags,
        move=zero,
        acts=zero > 0,
    )


def _number(array: Array) -> Array:
    return array if array.dtype == jnp.bool_ else array.astype(jnp.int32)


def _column(members: list[list[Array]], column: int) -> list[Array]:
    return [member[column] for member in members]


def _member(team: Team, slot: Array) -> dict[str, Any]:
    """Return a Fighter's record as a member of its team."""

    def of(members: list[list[Array]], column: int) -> Array:
        return pick(_column(members, column), slot)

    return {
        "level": of(team.set_, 1),
        "own_species": of(team.set_, 0),
        "speed_genes": (of(team.set_, 11) & 30) + of(team.set_, 17) // 4,
        "max_hp": of(team.stats, 0),
        "own_stats": [of(team.stats, 1 + i) for i in range(5)],
        "own_moves": [of(team.set_, 2 + i) for i in range(4)],
        "pp": [of(team.pp, i) for i in range(4)],
        "revealed": [of(team.revealed, i) for i in range(4)],
        **{name: pick(getattr(team, name), slot) for name in RECORDS},
    }


def _others(team: Team, slot: Array) -> dict[str, Array]:
    def anyone(holds: list[Array]) -> Array:
        found = slot < 0
        for i, each in enumerate(holds):
            found = found | ((slot != i) & each)
        return found

    naps = [(team.hp[i] > 0) & (team.status[i] == SLEEP) & team.sleep_by_foe[i] for i in SIX]
    return {
        "asleep_by_foe": anyone(naps),
        "frozen": anyone([status == FREEZE for status in team.status]),
        "others_left": anyone([team.present(i) & ~team.fainted[i] for i in SIX]),
    }


def write(team: Team, fighter: Fighter) -> None:
    """Write the fighter's record back into its team."""
    always = fighter.slot >= 0
    for name in RECORDS:
        setattr(team, name, put(getattr(team, name), fighter.slot, getattr(fighter, name), always))
    for name in ("pp", "revealed"):
        members = getattr(team, name)
        columns = [
            put(_column(members, i), fighter.slot, getattr(fighter, name)[i], always)
            for i in range(4)
        ]
        setattr(team, name, [[column[member] for column in columns] for member in SIX])


def clear(fighter: Fighter, when: Array) -> None:
    """Clear everything that lasts only while it fights (`clearVolatile` in sim/pokemon.ts)."""

    def reset(old: list[Array], new: list[Array]) -> list[Array]:
        return [jnp.where(when, b, a) for a, b in zip(old, new, strict=True)]

    zero = jnp.zeros_like(fighter.slot)
    fighter.stats = reset(fighter.stats, fighter.own_stats)
    # A status applies its stat drop again, to the unmodified stat.
    fighter.modified = reset(fighter.modified, dropped(fighter.own_stats, fighter.status))
    fighter.boosts = reset(fighter.boosts, [zero] * 7)
    fighter.types = reset(
        fighter.types, [look_up(SPECIES[6 + i], fighter.own_species) for i in range(2)]
    )
    fighter.moves = reset(fighter.moves, fighter.own_moves)
    fighter.move_pp = reset(fighter.move_pp, fighter.pp)
    fighter.virtual = [flag & ~when for flag in fighter.virtual]
    fighter.set(when, species=fighter.own_species, speed=fighter.own_stats[SPEED])
    fighter.set(when, transformed=False, last_move=0)
    for name in FLAGS:
        fighter.set(when, **{name: False})
    kept = ("species", "speed", "transformed", "last_move", "maybe_locked", "trapped_hidden")
    for name in OF_FIGHTER:
        if name not in (*kept, "selected_move", "selected_slot", "side_last_move"):
            fighter.set(when, **{name: 0})
    fighter.set(when, trapped_hidden=False)


def faints(fighter: Fighter, foe: Fighter, when: Array) -> Array:
    """Apply the faint of a fighter without HP; the foe's Bide forgets its damage (gen 1)."""
    down = when & (fighter.hp <= 0) & ~fighter.fainted
    clear(fighter, down)
    fighter.fainted = fighter.fainted | down
    foe.set(down, bide_damage=0)
    return down


def switch(team: Team, fighter: Fighter, target: Array, when: Array) -> None:
    """Replace the fighting member by another, and reset everything that a switch resets."""
    team.status = [
        jnp.where(when & team.fainted[i] & (fighter.slot == i), 0, team.status[i]) for i in SIX
    ]
    position = jnp.zeros_like(target)
    for i in SIX:
        position = jnp.where(team.order[i] == target, i, position)
    order = put(team.order, position, fighter.slot, when)
    team.order = [jnp.where(when, target, order[0]), *order[1:]]
    fighter.slot = jnp.where(when, target, fighter.slot)
    new = _member(team, target)
    for name, value in new.items():
        old = getattr(fighter, name)
        if isinstance(old, list):
            both = zip(old, value, strict=True)
            setattr(fighter, name, [jnp.where(when, b, a) for a, b in both])
        else:
            setattr(fighter, name, jnp.where(when, value, old))
    clear(fighter, when)
    fighter.set(when, speed=fighter.modified[SPEED])
    fighter.set(when & (fighter.status == TOXIC), status=POISONED)
    fighter.set(when, selected_slot=0)
    newest = sum((place > 0).astype(jnp.int32) for place in team.seen) + 1
    team.seen = [
        jnp.where(when & (target == i) & (place == 0), newest, place)
        for i, place in enumerate(team.seen)
    ]
    for name, value in _others(team, fighter.slot).items():
        fighter.set(when, **{name: value})
