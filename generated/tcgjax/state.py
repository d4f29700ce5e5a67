"""A game's state in the contract's form, and in the form used inside a step.

Inside a step the sides are `me`, whose turn it is (before turn 1: the placing player), and `foe`;
numbers are i32 and flags bool. A step writes to these objects in place while it is traced.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.layout import RULES, STATE
from twinstep.generated.tcgjax import cards
from twinstep.generated.tcgjax.stage import Record
from twinstep.generated.tcgjax.threefry import Draws

Array = jax.Array

State = NamedTuple("State", [(field.name, jax.Array) for field in STATE])  # pyright: ignore
State.__doc__ = "One game: the fields of the contract, in its types and shapes."
DTYPES = {field.name: field.dtype for field in STATE}

#: Fields with one value per player, and the others that a step changes.
OF_SIDE = (
    "zone", "place", "shown", "peeked", "damage", "energy", "entered", "used", "condition",
    "poisoned", "burned", "no_attack", "no_retreat", "weakened", "weakened_until", "guarded",
    "guarded_until", "immune", "no_supporters", "current", "next", "discarded", "points",
)  # fmt: skip
OF_GAME = (
    "supporter", "retreated", "bonus", "blaze", "quick", "turn", "ask", "left", "arg", "attack",
    "then", "winner",
)  # fmt: skip
#: Values of `condition`; R70.
ASLEEP, PARALYZED, CONFUSED = 1, 2, 3


class Side(Record):
    """One player's part: the fields of OF_SIDE, and values derived from them.

    cards: both words i32[20] of the deck list. top: both words i32[4] of the stacks' top cards, 0
    of an empty slot; size: i32[4], cards in the stacks; both are kept as the stacks change. types:
    i32[], bits.
    """

    @property
    def there(self) -> Array:
        """bool[4]: the slots that hold a Pokemon."""
        return self.size > 0

    @property
    def benched(self) -> Array:
        """bool[4]: the slots of the Bench that hold a Pokemon."""
        return self.there & (slots() > 0)

    @property
    def lacks_active(self) -> Array:
        """bool[]: whether the Active Spot is empty."""
        return self.size[0] == 0

    def fact(self, name: str) -> Array:
        """Return i32[4]: a fact of the top cards."""
        return cards.fact(name, self.top)

    def count(self, zone: int) -> Array:
        """Return i32[]: the number of cards in a zone."""
        return jnp.sum(self.zone == zone, dtype=jnp.int32)


class Game(Record):
    """A game in a step: me, foe, rules by name, draws, and the fields of OF_GAME.

    asks_foe: bool[], whether the foe has the choice. passes: bool[], whether the turn, or the
    placing, passes to the foe in this step. open: bool[], whether a choice is. first: bool[],
    whether I go or went first.
    """


def slots() -> Array:
    """Return i32[4]: 0 to 3."""
    return jnp.arange(4, dtype=jnp.int32)


def _wide(array: Array) -> Array:
    return array if array.dtype == jnp.bool_ else array.astype(jnp.int32)


def _side(fields: dict[str, Any]) -> Side:
    side = Side(**fields)
    stack = side.zone[None, :] == slots()[:, None] + 3  # [4, 20]
    side.size = jnp.sum(stack, axis=1, dtype=jnp.int32)
    last = stack & (side.place[None, :] == side.size[:, None] - 1)
    first, second = (
        jnp.sum(jnp.where(last, word[None, :], 0), axis=1, dtype=jnp.int32) for word in side.cards
    )
    side.top = (first, second)
    return side


def opened(state: State) -> Game:
    """Return the game in the form used inside a step."""
    turned = state.player == 1

    def both(name: str) -> tuple[Array, Array]:
        first, second = (_wide(getattr(state, name)[side]) for side in (0, 1))
        return jnp.where(turned, second, first), jnp.where(turned, first, second)

    fields = {name: both(name) for name in (*OF_SIDE, "cards", "types")}
    sides: list[Side] = []
    for index in (0, 1):
        own = {name: pair[index] for name, pair in fields.items()}
        sides.append(_side({**own, "cards": cards.words(own["cards"])}))
    rules = {name: state.rules[n].astype(jnp.int32) for n, name in enumerate(RULES)}
    return Game(
        me=sides[0],
        foe=sides[1],
        rules=rules,
        draws=Draws(state.seed, state.draws, rules["heads"]),
        first=state.first.astype(jnp.int32) == state.player.astype(jnp.int32),
        asks_foe=state.asked != state.player,
        passes=jnp.bool_(False),
        open=jnp.bool_(False),
        **{name: _wide(getattr(state, name)) for name in OF_GAME},
    )


def closed(game: Game, state: State) -> State:
    """Return the state after a step of `state`."""
    turned = state.player == 1
    new: dict[str, Array] = {}
    for name in OF_SIDE:
        me, foe = getattr(game.me, name), getattr(game.foe, name)
        new[name] = jnp.stack([jnp.where(turned, foe, me), jnp.where(turned, me, foe)])
    new |= {name: getattr(game, name) for name in OF_GAME}
    over = game.winner > 0
    # Winners are kept as 1 me, 2 the foe, 3 a tie while a step runs.
    swapped = turned & (game.winner > 0) & (game.winner < 3)
    new["winner"] = jnp.where(swapped, 3 - game.winner, game.winner)
    player = state.player.astype(jnp.int32)
    new["asked"] = jnp.where(over, 0, player ^ game.asks_foe.astype(jnp.int32))
    new["player"] = player ^ game.passes.astype(jnp.int32)
    new["draws"] = state.draws + game.draws.made.astype(jnp.uint32)
    for name in ("ask", "left", "arg", "attack", "then"):
        new[name] = jnp.where(over, 0, new[name])
    return state._replace(**{name: value.astype(DTYPES[name]) for name, value in new.items()})
