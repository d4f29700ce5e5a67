"""An attack up to its damage: confusion, copies, coins, targets, amount (R52 to R68)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.cards import ATTACKS
from twinstep.generated.tcgjax import cards, deck, legal
from twinstep.generated.tcgjax.effects import (
    BLAZING,
    COUNTS,
    EFFECTS,
    UNTIL_TAILS,
    Effect,
    passive,
)
from twinstep.generated.tcgjax.moves import Move
from twinstep.generated.tcgjax.names import Ask
from twinstep.generated.tcgjax.state import CONFUSED, Game, slots
from twinstep.generated.tcgjax.threefry import heads_among, heads_until_tails

Array = jax.Array

_NEEDED, _NOTHING = 1, 2
_PICKS = max(row["picks"] for row in EFFECTS.values())


class Strike(NamedTuple):
    """A step's work for an attack or another effect.

    number: i32[], the attack: 2 times the card's number plus its place; 0 if it is none. facts:
    its cost and damage. row: the active effect: the attack's, ability's or trainer's.
    begins: bool[], a trainer's or ability's effect. resolves: bool[], damage is done now. fails:
    bool[], the attack does nothing, which ends the turn. copies, aims: bool[], the choice to open
    first (R139, R56). heads: i32[], among the coins of the effect.
    """

    number: Array
    facts: cards.Attacks
    row: Effect
    begins: Array
    resolves: Array
    fails: Array
    copies: Array
    aims: Array
    heads: Array

    @property
    def works(self) -> Array:
        """bool[]: whether the consequences of the damage happen."""
        needed = (self.row.use == _NEEDED) & (self.heads == 0)
        return (self.begins | self.resolves) & ~needed


def strike(game: Game, move: Move, code: Array, begins: Array) -> Strike:
    """Begin an attack, or continue it, or find another effect's row and flip its coins.

    code: i32[], the effect of a trainer or an ability where `begins`.
    """
    me, foe = game.me, game.foe
    copied = game.ask == Ask.COPY
    own = ATTACKS * me.fact("number")[0] + move.attack
    slot, place = move.option // ATTACKS, move.option % ATTACKS
    others = ATTACKS * deck.chosen(foe.fact("number"), deck.at(slot)) + place
    number = jnp.where(move.attacks, own, jnp.where(copied, others, game.attack))
    number = jnp.where(begins, 0, number)
    facts = cards.Attacks(number)
    row = Effect(jnp.where(begins, code, facts.code))

    confused = move.attacks & (me.condition == CONFUSED)
    stays = confused & ~game.draws.coin(confused)  # R54
    copies = move.attacks & ~stays & (row.copy > 0)
    nobody = ~jnp.any(legal.copyable(foe))
    paid = facts.paid(me.energy[0])
    starts = (move.attacks & ~stays & ~copies) | (copied & paid)  # R139

    flipped = game.draws.coins((starts | begins) & (row.coins > 0))  # R55
    run = row.coins == UNTIL_TAILS
    heads = jnp.where(
        run, heads_until_tails(flipped), heads_among(flipped, jnp.where(run, 0, row.coins))
    )
    nothing = starts & (row.use == _NOTHING) & (heads == 0)  # R119
    mine, theirs = legal.aimed_at(game, row.aim)
    aims = starts & ~nothing & jnp.any(mine | theirs)  # R56
    return Strike(
        number=number,
        facts=facts,
        row=row,
        begins=begins,
        resolves=(starts & ~nothing & ~aims) | (game.ask == Ask.DAMAGE),
        fails=stays | (copies & nobody) | (copied & ~paid) | nothing,
        copies=copies & ~nobody,
        aims=aims,
        heads=heads,
    )


def _number(game: Game, hit: Strike) -> Array:
    """Return i32[]: the attack's number after its own additions (R117 to R122)."""
    me, foe, row = game.me, game.foe, hit.row
    kind, group = row.count_type, row.names
    like = me.benched & ((kind == 0) | (me.fact("type") == kind))
    like = like & ((group == 0) | (me.fact("group") == group))
    water = deck.chosen(me.energy[0] - hit.facts.cost, jnp.arange(1, 9, dtype=jnp.int32) == kind)
    spare = jnp.sum(me.energy[0], dtype=jnp.int32) - hit.facts.length
    amounts = {
        "bench": jnp.sum(like, dtype=jnp.int32),
        "foe-energy": jnp.sum(foe.energy[0], dtype=jnp.int32),
        "foe-damaged": foe.damage[0] > 0,
        "foe-poisoned": foe.poisoned,
        "self-damaged": me.damage[0] > 0,
        "extra": (water >= row.extra) & (spare >= row.extra),  # R120
    }
    counted = jnp.int32(0)
    for name, amount in amounts.items():
        this = row.count == COUNTS.index(name)
        counted = jnp.where(this, amount.astype(jnp.int32), counted)
    both = jnp.where(hit.heads == row.coins, row.both, 0)
    plus = hit.facts.damage + hit.heads * row.plus + both + counted * row.count_plus
    times = hit.heads * row.times + counted * row.count_times
    return jnp.where((row.times > 0) | (row.count_times > 0), times, plus)


def _picked(game: Game, hit: Strike) -> Array:
    """Return i32[4]: how often each of the other's slots is picked (R125)."""
    there = game.foe.there
    rank = jnp.cumsum(there, dtype=jnp.int32) - 1
    count = jnp.sum(there, dtype=jnp.int32)
    times = jnp.zeros(4, jnp.int32)
    for n in range(_PICKS):
        when = hit.resolves & (n < hit.row.picks)
        number = game.draws.pick(count, when)
        times = times + (there & (rank == number) & when).astype(jnp.int32)
    return times


def landed(game: Game, number: Array) -> Array:
    """Return i32[4]: an attack's numbers i32[4] as damage to the other's slots (R60, R62)."""
    me, foe = game.me, game.foe
    active = slots() == 0
    shell = passive("shell", foe.fact("code"))
    blaze = jnp.where(me.fact("group")[0] == BLAZING, game.blaze, 0)  # R99
    bonus = jnp.where(active, game.bonus + blaze, 0)
    before = jnp.maximum(number + bonus - me.weakened, 0)
    weak = active & (foe.fact("weakness") == me.fact("type")[0])  # R61
    less = shell + jnp.where(active, foe.guarded, 0)
    after = before + jnp.where(weak, game.rules["weakness"], 0) - less
    given = jnp.where((number > 0) & (before > 0), jnp.maximum(after, 0), 0)
    immune = active & (foe.immune >= game.turn)  # R80
    return jnp.where(foe.there & ~immune, given, 0)


def do_damage(game: Game, move: Move, hit: Strike) -> Array:
    """Do an attack's damage where it resolves; i32[]: that to the other's Active one (R60)."""
    me, foe, row = game.me, game.foe, hit.row
    active = slots() == 0
    aimed = jnp.where((game.ask == Ask.DAMAGE) & hit.resolves, row.aim_damage, 0)
    each = jnp.where(slots() + 4 == move.option, aimed, 0) + row.pick_damage * _picked(game, hit)
    number = jnp.where(active, _number(game, hit) + each, row.spread + each)

    given = jnp.where(hit.resolves, landed(game, number), 0)
    foe.damage = foe.damage + given

    own = jnp.where(slots() == move.option, aimed, 0)  # R63
    tails = jnp.where(row.tails > 0, (row.coins - hit.heads) * row.tails, 0)
    counter = jnp.where(given[0] > 0, passive("counter", foe.fact("code")[0]), 0)  # R68
    hurt = jnp.where(hit.resolves, row.self_damage + tails + counter, 0)
    me.damage = me.damage + own + jnp.where(active, hurt, 0)
    return given[0]
