"""The legal action mask of the acting player: 128 actions (R31 to R52)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.cards import ATTACKS
from twinstep.contracts.tcgjax.layout import ACTIONS_COUNT, HAND
from twinstep.generated.tcgjax import cards
from twinstep.generated.tcgjax.cards import FOSSIL, POKEMON, SUPPORTER
from twinstep.generated.tcgjax.effects import AIMS, WHERE, Effect, groups_where, passive
from twinstep.generated.tcgjax.energy import retreat_cost
from twinstep.generated.tcgjax.names import Ask, Zone
from twinstep.generated.tcgjax.state import ASLEEP, PARALYZED, Game, Side, slots

Array = jax.Array


def mask(game: Game) -> Array:
    """Return bool[128]: the legal actions of the acting player, in a game that is not over."""
    turn, me = game.ask == Ask.TURN, game.me
    everywhere = _everywhere(game)
    hand = _hand(me)
    stage, kind = cards.fact("stage", hand), cards.fact("kind", hand)
    basic = (hand[1] > 0) & (kind == POKEMON) & (stage == 0)
    play = turn & _plays(game, hand, everywhere)  # [10, 5]
    target = jnp.arange(5, dtype=jnp.int32)[None, :]
    free = jnp.any(me.size[1:] == 0)
    placed = basic[:, None] & (
        ((game.ask == Ask.ACTIVE) & (target == 1))
        | ((game.ask == Ask.BENCH) & free & (target == 0))
    )
    held = (me.condition == ASLEEP) | (me.condition == PARALYZED)
    fossil = me.there & (me.fact("kind") == FOSSIL)
    enough = jnp.sum(me.energy[0], dtype=jnp.int32) >= retreat_cost(game)
    stuck = held | (me.no_retreat >= game.turn) | game.retreated | fossil[0]  # R34, R45
    attacks = cards.Attacks(ATTACKS * me.fact("number")[0] + jnp.arange(ATTACKS, dtype=jnp.int32))
    strikes = attacks.paid(me.energy[0]) & ~held & (me.no_attack < game.turn)  # R52
    return jnp.concatenate(
        [
            (turn | (game.ask == Ask.BENCH))[None],
            (play | placed).reshape(HAND * 5),
            turn & me.there & (me.current > 0),  # R30
            turn & me.benched[1:] & enough & ~stuck,
            turn & _usable(game, everywhere),
            turn & strikes,
            jnp.zeros(2, jnp.bool_),  # no third attack, no stadium
            turn & fossil & ((slots() > 0) | jnp.any(me.benched)),  # R35
            choices(game),
            jnp.zeros(ACTIONS_COUNT - 102, jnp.bool_),
        ]
    )


def _hand(side: Side) -> tuple[Array, Array]:
    """Return both words i32[10] of the cards in the hand."""
    places = jnp.arange(HAND, dtype=jnp.int32)[:, None]
    here = (side.zone == Zone.HAND)[None, :] & (side.place[None, :] == places)
    first, second = (
        jnp.sum(jnp.where(here, word[None, :], 0), axis=1, dtype=jnp.int32) for word in side.cards
    )
    return first, second


def in_group(side: Side, where: str) -> Array:
    """Return bool[4]: the slots with a Pokemon that the effect with this condition names."""
    return side.fact("group") == groups_where(where)


def _bits(conditions: dict[str, Array]) -> Array:
    bits = jnp.int32(0)
    for name, holds in conditions.items():
        bits = bits | holds.astype(jnp.int32) << WHERE.index(name)
    return bits


def _everywhere(game: Game) -> Array:
    """Return i32[]: bit n is set if the condition WHERE[n] holds, those on no slot."""
    me, foe = game.me, game.foe
    gathers = jnp.any(me.benched & (me.energy[:, cards.LIGHTNING - 1] > 0))
    return _bits(
        {
            "always": jnp.bool_(True),
            "foe-hand": jnp.any(foe.zone == Zone.HAND),
            "own-deck": jnp.any(me.zone == Zone.DECK),
            "names-in-play": jnp.any(in_group(me, "names-in-play")),
            "names-active": in_group(me, "names-active")[0] & jnp.any(me.benched),
            "foe-bench": jnp.any(foe.benched),
            "names-lightning": in_group(me, "names-lightning")[0] & gathers,
            "any-damaged": jnp.any(me.damage > 0),
            "active-psychic": me.fact("type")[0] == cards.PSYCHIC,
        }
    )


def _plays(game: Game, hand: tuple[Array, Array], everywhere: Array) -> Array:
    """Return bool[10, 5]: the cards of the hand that may be played in a turn, and their targets."""
    me, foe = game.me, game.foe
    kind, stage, where = (cards.fact(name, hand) for name in ("kind", "stage", "where"))
    there = hand[1] > 0
    trainer = there & (kind > FOSSIL)
    silenced = passive("silence", foe.fact("code")[0]) > 0  # R115
    forbidden = game.supporter | silenced | (me.no_supporters >= game.turn)  # R41, R44
    trainer = trainer & ~((kind == SUPPORTER) & forbidden)
    bench = there & (kind <= FOSSIL) & (stage == 0) & jnp.any(me.size[1:] == 0)  # R32, R33
    alone = bench | (trainer & ((everywhere >> where & 1) == 1))

    grown = (game.turn > 2) & (me.entered != game.turn) & me.there  # R39
    evolves = cards.fact("evolves", hand)[:, None]
    fits = (there & (stage > 0))[:, None] & (evolves == me.fact("name")[None, :])  # R38
    hurt = me.damage > 0
    on_slot = _bits(
        {
            "damaged": hurt,
            "grass-damaged": hurt & (me.fact("type") == cards.GRASS),
            "water": me.fact("type") == cards.WATER,
            "names-target": in_group(me, "names-target"),
        }
    )
    helped = trainer[:, None] & ((on_slot[None, :] >> where[:, None] & 1) == 1)
    on = (fits & grown[None, :]) | (helped & me.there[None, :])
    return jnp.concatenate([alone[:, None], on], axis=1)


def _usable(game: Game, everywhere: Array) -> Array:
    """Return bool[4]: the slots whose ability may be used (R76, R106 to R114)."""
    me, foe = game.me, game.foe
    active = slots() == 0
    pulls = jnp.any(foe.benched & (foe.fact("stage") == 0))
    bits = everywhere | _bits({"active": active, "active-foe-basic": active & pulls})
    ready = me.there & (me.fact("kind") == POKEMON) & ~me.used
    return ready & ((bits >> me.fact("where") & 1) == 1)


def choices(game: Game) -> Array:
    """Return bool[32]: the options of the open choice (R49)."""
    me, foe, ask = game.me, game.foe, game.ask
    none = jnp.zeros(4, jnp.bool_)
    row = Effect(cards.Attacks(game.attack).code)
    options = {
        Ask.PROMOTE: (jnp.where(game.asks_foe, foe.benched, me.benched), none),
        Ask.DAMAGE: aimed_at(game, row.aim),
        Ask.ATTACH: (attachable(me, row.attach), none),
        Ask.SWITCH: (me.benched, none),
        Ask.PUSHED: (foe.benched, none),
        Ask.PULL: (none, foe.benched & (foe.fact("stage") == 0)),
        Ask.SNIPE: (none, foe.there),
    }
    open_ = jnp.zeros(8, jnp.bool_)
    for asked, parts in options.items():
        open_ = open_ | ((ask == asked) & jnp.concatenate(parts))
    open_ = open_ | ((ask == Ask.PAY) & (me.energy[0] > 0))
    open_ = open_ | ((ask == Ask.COPY) & copyable(foe))
    return jnp.concatenate([open_, jnp.zeros(24, jnp.bool_)])


def aimed_at(game: Game, aim: Array) -> tuple[Array, Array]:
    """Return bool[4] of my slots and of the other's: the legal targets of an attack (R56)."""
    own = game.me.benched & (aim == AIMS.index("own-bench"))
    all_, bench = (aim == AIMS.index(name) for name in ("foe", "foe-bench"))
    return own, (game.foe.there & all_) | (game.foe.benched & bench)


def attachable(side: Side, kind: Array) -> Array:
    """Return bool[4]: the Benched Pokemon of a type i32[] (R134)."""
    return side.benched & (side.fact("type") == kind)


def copyable(side: Side) -> Array:
    """Return bool[8]: the attacks, by slot, that may be copied (R139)."""
    usable = side.fact("usable")[:, None] >> jnp.arange(ATTACKS, dtype=jnp.int32)[None, :]
    return ((usable & 1) == 1).reshape(8)
