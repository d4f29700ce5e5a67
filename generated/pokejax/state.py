"""A battle as arrays, and the two Pokemon that fight as single values.

Every function of this package works element by element: a scalar i32[...] may carry any trailing
batch axes, and an array's own axes come first, so that `hp[side, member]` has shape [...]. Batches
are laid out that way in memory (see `batch.py`), which lets XLA fuse and vectorise over battles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.words import words

Array = jax.Array


NONE, BURN, PARALYSIS, SLEEP, FREEZE, POISONED, TOXIC, FAINTED = range(8)
ATTACK, DEFENSE, SPECIAL_ATTACK, SPECIAL_DEFENSE, SPEED, ACCURACY, EVASION = range(7)
NO_REQUEST, MOVE_REQUEST, SWITCH_REQUEST = range(3)
FLAGS = (
    "flinch",
    "focus_energy",
    "invulnerable",
    "leech_seed",
    "light_screen",
    "mist",
    "recharge",
    "reflect",
    "minimize",
    "defense_curl",
    "residual",
)


class State(NamedTuple):
    """One battle; shapes without batch axes. The names are those of the contract's fields."""

    seed: Array  # u32[2]
    turn: Array  # i16[]
    last_damage: Array  # i32[]
    winner: Array  # u8[]: 0 none, 1, 2, 3 tie
    request: Array  # u8[2]
    order: Array  # u8[2, 6]
    selected_move: Array  # u8[2]
    selected_slot: Array  # u8[2]
    side_last_move: Array  # u8[2]
    rules: Array  # u8[]: 0 custom game, 1 random battle, 2 OU
    team: Array  # u8[2, 6, 18]: species, level, 4 moves, 6 IVs, 6 EVs
    base_stats: Array  # i16[2, 6, 6]: hp, atk, def, spa, spd, spe
    hp: Array  # i16[2, 6]
    status: Array  # u8[2, 6]
    sleep: Array  # i8[2, 6]
    sleep_by_foe: Array  # bool[2, 6]
    fainted: Array  # bool[2, 6]
    sub_fainted: Array  # bool[2, 6]
    pp: Array  # u8[2, 6, 4]
    seen: Array  # u8[2, 6]: in which place it came in, from 1
    revealed: Array  # bool[2, 6, 4]
    species: Array  # u8[2]
    types: Array  # u8[2, 2]
    stats: Array  # i16[2, 5]
    modified: Array  # i16[2, 5]
    boosts: Array  # i8[2, 7]
    speed: Array  # i16[2]
    transformed: Array  # bool[2]
    moves: Array  # u8[2, 4]
    move_pp: Array  # u8[2, 4]
    virtual: Array  # bool[2, 4]
    disabled: Array  # bool[2, 4]
    last_move: Array  # u8[2]
    maybe_locked: Array  # bool[2]
    flags: Array  # bool[2, 11]
    bide_time: Array  # u8[2]
    bide_damage: Array  # i32[2]
    confusion: Array  # u8[2]
    disable_time: Array  # u8[2]
    disable_slot: Array  # u8[2]
    disable_move: Array  # u8[2]
    locked_move: Array  # u8[2]
    locked_time: Array  # i8[2]
    locked_accuracy: Array  # u8[2]
    rage_accuracy: Array  # u8[2]
    trapped_duration: Array  # u8[2]
    trapped_hidden: Array  # bool[2]
    trapped_source: Array  # u8[2]
    fake_duration: Array  # u8[2]
    fake_counterpart: Array  # u8[2]
    lock_move: Array  # u8[2]
    lock_duration: Array  # u8[2]
    lock_total: Array  # u8[2]
    lock_damage: Array  # i32[2]
    lock_target: Array  # u8[2]
    toxic_counter: Array  # i16[2]
    substitute: Array  # i16[2]
    charging: Array  # u8[2]


#: Types of the fields that differ from the type of the computation (i32).
DTYPES: dict[str, Any] = {
    "seed": jnp.uint32,
    "last_damage": jnp.int32,
    "bide_damage": jnp.int32,
    "lock_damage": jnp.int32,
    **dict.fromkeys(
        words("turn base_stats hp stats modified speed toxic_counter substitute"),
        jnp.int16,
    ),
    **dict.fromkeys(["sleep", "boosts", "locked_time"], jnp.int8),
    **dict.fromkeys(
        words(
            "sleep_by_foe fainted sub_fainted revealed transformed virtual disabled "
            "maybe_locked flags trapped_hidden"
        ),
        jnp.bool_,
    ),
}

#: Fields of State that belong to the fighting Pokemon and are single values.
OF_FIGHTER = words(
    "species speed transformed last_move maybe_locked bide_time bide_damage "
    "confusion disable_time disable_slot disable_move locked_move locked_time "
    "locked_accuracy rage_accuracy trapped_duration trapped_hidden trapped_source "
    "fake_duration fake_counterpart lock_move lock_duration lock_total "
    "lock_damage lock_target toxic_counter substitute charging selected_move "
    "selected_slot side_last_move"
)
#: Values written where a binding is lifted.
NO_LOCK = dict.fromkeys(
    ("lock_move", "lock_duration", "lock_total", "lock_damage", "lock_target"), 0
)
#: Fields that belong to it and are lists.
LISTS = words("types stats modified boosts moves move_pp virtual disabled")


@jax.tree_util.register_dataclass
@dataclass
class Fighter:
    """The fighting Pokemon of one side, with its side's own few values.

    All are i32[...] or bool[...]. A step writes to these in place while it is traced. Beyond the
    fields of State: its record as a member of the team, `asleep_by_foe`, `frozen`, and
    `others_left`: whether another member of its side is asleep by the foe's doing, frozen, not
    fainted. `pp` is the team's record; `move_pp` differs from it only in `virtual`
    slots. move: its action in this turn; acts: whether it has still to act.
    """

    #: Kept as one array each between the parts of a step; see stage.py.
    DEPTHS: ClassVar[dict[str, int]] = dict.fromkeys(
        (*LISTS, "own_stats", "own_moves", "pp", "revealed"), 1
    )

    slot: Array
    level: Array
    own_species: Array
    speed_genes: Array  # IV + EV / 4 of its speed
    max_hp: Array
    own_stats: list[Array]  # 5, without any change
    own_moves: list[Array]
    pp: list[Array]
    hp: Array
    status: Array
    sleep: Array
    sleep_by_foe: Array
    fainted: Array
    sub_fainted: Array
    asleep_by_foe: Array
    frozen: Array
    others_left: Array
    revealed: list[Array]
    types: list[Array]
    stats: list[Array]
    modified: list[Array]
    boosts: list[Array]
    moves: list[Array]
    move_pp: list[Array]
    virtual: list[Array]
    disabled: list[Array]
    species: Array
    speed: Array
    transformed: Array
    last_move: Array
    maybe_locked: Array
    flinch: Array
    focus_energy: Array
    invulnerable: Array
    leech_seed: Array
    light_screen: Array
    mist: Array
    recharge: Array
    reflect: Array
    minimize: Array
    defense_curl: Array
    residual: Array
    bide_time: Array
    bide_damage: Array
    confusion: Array
    disable_time: Array
    disable_slot: Array
    disable_move: Array
    locked_move: Array
    locked_time: Array
    locked_accuracy: Array
    rage_accuracy: Array
    trapped_duration: Array
    trapped_hidden: Array
    trapped_source: Array
    fake_duration: Array
    fake_counterpart: Array
    lock_move: Array
    lock_duration: Array
    lock_total: Array
    lock_damage: Array
    lock_target: Array
    toxic_counter: Array
    substitute: Array
    charging: Array
    selected_move: Array
    selected_slot: Array
    side_last_move: Array
    move: Array
    acts: Array

    def set(self, when: Array, **values: Any) -> None:
        """Write these values where `when`."""
        for name, value in values.items():
            setattr(self, name, jnp.where(when, value, getattr(self, name)))


def swapped(which: Array, first: Any, second: Any) -> tuple[Any, Any]:
    """Return the two trees, exchanged where `which`."""
    a = jax.tree.map(lambda x, y: jnp.where(which, y, x), first, second)
    b = jax.tree.map(lambda x, y: jnp.where(which, x, y), first, second)
    return a, b


def pick(values: list[Array], index: Array) -> Array:
    """Return values[index], for an index that differs between battles; the last if beyond."""
    chosen = values[-1]
    for i in range(len(values) - 2, -1, -1):
        chosen = jnp.where(index == i, values[i], chosen)
    return chosen


def put(values: list[Array], index: Array, value: Any, when: Array) -> list[Array]:
    """Return the list with values[index] replaced where `when`."""
    return [jnp.where(when & (index == i), value, old) for i, old in enumerate(values)]


def stacked(name: str, values: Any) -> Array:
    """Return nested lists as a field of State, in its type."""
    if isinstance(values, list | tuple):
        return jnp.stack([stacked(name, value) for value in values])
    return values.astype(DTYPES.get(name, jnp.uint8))
