"""The public functions of a game: begin, play on, observe."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.layout import ACTIONS_COUNT, STATE
from twinstep.generated.tcgjax import cards, deck, turn
from twinstep.generated.tcgjax.cards import POKEMON
from twinstep.generated.tcgjax.legal import mask
from twinstep.generated.tcgjax.names import Ask, Zone
from twinstep.generated.tcgjax.observe import observe
from twinstep.generated.tcgjax.stage import in_parts, stage
from twinstep.generated.tcgjax.state import Game, State, closed, opened
from twinstep.generated.tcgjax.threefry import Draws

Array = jax.Array


class View(NamedTuple):
    """Both players' views: obs i16[2, 267], legal bool[2, 128], reward f32[2]."""

    obs: Array
    legal: Array
    reward: Array


@in_parts
def reset(seed: Array, rules: Array, cards: Array, types: Array) -> State:
    """Begin the game of a seed u32[2], rules i16[6], deck lists i16[2, 20], types u8[2]."""
    values = {field.name: jnp.zeros(field.shape, field.dtype) for field in STATE}
    limits = rules.astype(jnp.int32)
    draws = Draws(seed, jnp.uint32(0), limits[3])
    first = jnp.where(draws.coin(jnp.bool_(True)), 0, 1)  # R16
    always = limits[1] >= 0  # True, but not before the program runs: see stage.py
    dealt = [stage(always, _dealt, draws, cards[side], limits[1]) for side in (0, 1)]
    kinds = [turn.pick_energy(draws, types[side].astype(jnp.int32), always) for side in (0, 1)]
    begun = {
        "seed": seed,
        "draws": draws.made,
        "rules": rules,
        "cards": cards,
        "types": types,
        "zone": jnp.stack([zone for zone, _ in dealt]),
        "place": jnp.stack([place for _, place in dealt]),
        "next": jnp.stack(kinds),  # R18
        "first": first,
        "player": first,
        "asked": first,
        "ask": jnp.int32(Ask.ACTIVE),  # R19
    }
    values |= {name: value.astype(values[name].dtype) for name, value in begun.items()}
    return State(**values)


def _dealt(draws: Draws, listed: Array, most: Array) -> tuple[Array, Array]:
    """Deal the cards i16[20] of a deck (R17): their zones and places, i32[20] both."""
    facts = cards.words(listed)
    basic = (cards.fact("kind", facts) == POKEMON) & (cards.fact("stage", facts) == 0)
    always = most >= 0
    number = draws.pick(jnp.sum(basic, dtype=jnp.int32), always)
    sure = basic & (jnp.cumsum(basic, dtype=jnp.int32) - 1 == number)
    order = jnp.cumsum(~sure, dtype=jnp.int32) - 1
    words = stage(always, Draws.shuffle, draws, always)
    place = deck.shuffled(words, order, ~sure)
    drawn = jnp.clip(most - 1, 0, 4)  # R25
    in_hand = sure | (place < drawn)
    place = jnp.where(sure, 0, jnp.where(in_hand, place + 1, place - drawn))
    return jnp.where(in_hand, Zone.HAND, Zone.DECK), place


@in_parts
def step(state: State, action: Array) -> State:
    """Play the action i32[2] of the acting player; an illegal one changes nothing (R51)."""
    goes_on = state.winner == 0
    game, legal = stage(goes_on, _begin, state)
    played = jnp.where(state.asked == 1, action[1], action[0]).astype(jnp.int32)
    numbers = jnp.arange(ACTIONS_COUNT, dtype=jnp.int32)
    allowed = jnp.any(legal & (numbers == played)) & goes_on
    turn.play(game, played)
    new = closed(game, state)
    return jax.tree.map(lambda a, b: jnp.where(allowed, a, b), new, state)


def _seen(state: State) -> tuple[Array, Array]:
    return observe(state), mask(opened(state))


def _begin(state: State) -> tuple[Game, Array]:
    game = opened(state)
    return game, mask(game)


@in_parts
def view(state: State) -> View:
    """Return both players' observations, legal actions and rewards."""
    asked = jnp.arange(2, dtype=jnp.int32) == state.asked.astype(jnp.int32)
    acts = asked & (state.winner == 0)
    shown, legal = stage(state.turn >= 0, _seen, state)
    wins = [state.winner == side + 1 for side in (0, 1)]
    one, none = jnp.float32(1.0), jnp.float32(0.0)
    rewards = [jnp.where(wins[side], one, jnp.where(wins[1 - side], -one, none)) for side in (0, 1)]
    return View(
        obs=shown,
        legal=acts[:, None] & legal[None, :],
        reward=jnp.stack(rewards),
    )
