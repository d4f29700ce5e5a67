"""A player's request, its legal actions, and the effect of its choice."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.moves import STRUGGLE, hard_locked
from twinstep.generated.pokejax.state import FREEZE, SLEEP, Fighter, pick
from twinstep.generated.pokejax.tables import CANNOT_MOVE

Array = jax.Array

MOVES = 4


def usable(fighter: Fighter) -> list[Array]:
    """Return whether each slot's move could be chosen, if nothing else prevents it."""
    slots = zip(fighter.moves, fighter.move_pp, fighter.disabled, strict=True)
    return [(move > 0) & (pp > 0) & ~off for move, pp, off in slots]


def _any(flags: list[Array]) -> Array:
    return flags[0] | flags[1] | flags[2] | flags[3]


def choose(fighter: Fighter, action: Array, moving: Array, forced: Array) -> tuple[Array, Array]:
    """Record the selection of an action (`choose` and `commitChoices` in sim/side.ts).

    action: i32[...], 0 to 3 a move, 4 to 9 a member. Returns whether the side switches, and to
    which member.
    """
    leaves = (moving & (action >= MOVES)) | forced
    picks = moving & ~leaves
    stuck = (fighter.status == FREEZE) | (fighter.status == SLEEP)
    bound = fighter.trapped_duration > 0
    locked = hard_locked(fighter) | (fighter.bide_time > 0) | (fighter.lock_move > 0)
    fights = ~locked & (stuck | bound)
    struggles = ~locked & ~fights & ~_any(usable(fighter))
    free = picks & ~locked & ~fights & ~struggles
    slot = jnp.minimum(action, MOVES - 1)
    fighter.set(picks & fights & ~stuck, selected_move=CANNOT_MOVE)
    fighter.set(picks & struggles, selected_move=STRUGGLE)
    fighter.set(free, selected_move=pick(fighter.moves, slot), selected_slot=slot)
    # A locked Pokemon does whatever was selected last.
    fighter.move = fighter.selected_move
    return leaves, jnp.maximum(action - MOVES, 0)


def requests(fighter: Fighter, when: Array) -> Array:
    """Renew the disabled moves and the facts hidden from a player (`DisableMove` in `endTurn`).

    Returns the number of draws for the ties of the handlers.
    """
    trapped, pretends = fighter.trapped_duration > 0, fighter.fake_duration > 0
    bides, locks = fighter.bide_time > 0, fighter.lock_move > 0
    disables = fighter.disable_time > 0
    fighter.disabled = [
        jnp.where(when, disables & (fighter.disable_slot == i) & (move > 0), flag)
        for i, (move, flag) in enumerate(zip(fighter.moves, fighter.disabled, strict=True))
    ]
    maybe = (trapped & fighter.trapped_hidden) | pretends
    maybe = maybe & ~((fighter.status == SLEEP) | (fighter.status == FREEZE) | bides)
    maybe = maybe | (locks & (fighter.lock_total - fighter.lock_duration > 1))
    fighter.set(when, maybe_locked=maybe & ~hard_locked(fighter))
    lower = jnp.stack([bides, disables, locks]).astype(jnp.int32).sum(0)
    return (trapped & pretends).astype(jnp.int32) + jnp.maximum(lower - 1, 0)


def legal(
    fighter: Fighter,
    present: list[Array],
    fainted: list[Array],
    asks_move: Array,
    asks_switch: Array,
) -> list[Array]:
    """Return bool[...] for each of the ten actions, all False for a player without a request."""
    hard = hard_locked(fighter)
    semi = ~fighter.maybe_locked & ((fighter.bide_time > 0) | (fighter.lock_move > 0))
    stuck = (fighter.status == FREEZE) | (fighter.status == SLEEP)
    bound = (fighter.trapped_duration > 0) & ~fighter.maybe_locked
    slots = usable(fighter)
    single = hard | semi | stuck | bound | ~_any(slots)
    moves = [asks_move & jnp.where(single, i == 0, slot) for i, slot in enumerate(slots)]
    leaves = (asks_move & ~hard) | asks_switch
    members = [
        leaves & there & ~down & (fighter.slot != i)
        for i, (there, down) in enumerate(zip(present, fainted, strict=True))
    ]
    return moves + members
