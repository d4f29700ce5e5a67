"""Boards that play seldom or never reaches, for tests of single steps.

Every effect meets every other equally often: a card with one effect stands in play or lies in the
hand on one side, a card with the other effect on the other side.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contracts.tcgjax.cards import ENERGY, STAGES, Card, cards, codes
from twinstep.contracts.tcgjax.decks import PARTNERS
from twinstep.contracts.tcgjax.layout import ATTACH, ATTACK, DECK, PLAY, RULES, STADIUM, STATE, Ask
from twinstep.oracles.tcgjax.codec import new_game, state_of
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.objects import (
    ASLEEP,
    CONFUSED,
    PARALYZED,
    Effect,
    Piece,
    Player,
    Pokemon,
)

#: The most steps played from a drawn board, so that choices of all kinds are open in some states.
_FURTHER = 3
_TURNS = (3, 31)


def _bearing() -> dict[str, list[Card]]:
    found: dict[str, list[Card]] = {}
    for card in cards():
        for code in {card.ability, *(attack.effect for attack in card.attacks)}:
            found.setdefault(code, []).append(card)
    return found


_BEARING = _bearing()
_KINDS = ("Pokemon", "Fossil")
_IN_PLAY = [card for card in cards() if card.kind in _KINDS]
_EFFECTS = ("no_attack", "no_retreat", "weakened", "guarded", "immune")


def places(count: int, seed: int, rules: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Return `count` states of games in play, [count, ...], and a legal `action` [count, 2].

    rules: R1 to R6 by name.
    """
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    actions = np.zeros((count, 2), np.int32)
    for n in range(count):
        game, start = _drawn(rng, rules)
        for _ in range(rng.randrange(1 + _FURTHER)):
            _play(game, rng)
        while game.decision is None:
            game, start = _drawn(rng, rules)
        actions[n, game.decision.asked] = _choice(game, rng)
        rows.append(state_of(game, start))
    stacked = {field.name: np.stack([row[field.name] for row in rows]) for field in STATE}
    return stacked | {"action": actions}


def _choice(game: Game, rng: random.Random) -> int:
    """Draw a legal action; attacks and trainers often, the end of a turn seldom."""
    assert game.decision is not None
    legal = sorted(game.decision.options)
    attacks = [action for action in legal if ATTACK <= action < STADIUM]
    if attacks and rng.random() < 0.5:
        return rng.choice(attacks)
    hand = game.me.hand
    played = [action for action in legal if PLAY <= action < ATTACH]
    trainers = [a for a in played if hand[(a - PLAY) // 5].card.kind not in _KINDS]
    if trainers and rng.random() < 0.5:
        return rng.choice(trainers)
    return rng.choice(legal[1:] if len(legal) > 1 and rng.random() < 0.9 else legal)


def _play(game: Game, rng: random.Random) -> None:
    if game.decision is not None:
        game.step(_choice(game, rng))


def _drawn(rng: random.Random, rules: Mapping[str, int]) -> tuple[Game, dict[str, np.ndarray]]:
    """Draw a game in the middle of a turn, and the part of it that never changes."""
    themes = [rng.choice(_BEARING[rng.choice(("", *codes()))]) for _ in range(2)]
    lists = [[theme, *(rng.choice(cards()) for _ in range(DECK - 1))] for theme in themes]
    for theme, row in zip(themes, lists, strict=True):
        names, _ = PARTNERS.get(theme.ability, ((), ""))
        row[1] = rng.choice([card for card in _IN_PLAY if card.name in names] or _IN_PLAY)
    start = {
        "rules": np.array([rules[name] for name in RULES], np.int16),
        "cards": np.array([[card.number for card in row] for row in lists], np.int16),
        "types": np.array([rng.randrange(1, 256) for _ in lists], np.uint8),
        "seed": np.array([rng.getrandbits(32) for _ in range(2)], np.uint32),
    }
    game = new_game(start, start["seed"])
    game.turn = rng.randrange(*_TURNS)
    game.draws.count = rng.randrange(200)
    game.first, game.player = rng.randrange(2), rng.randrange(2)
    game.supporter, game.retreated = rng.random() < 0.2, rng.random() < 0.2
    game.bonus, game.blaze = rng.choice((0, 0, 0, 10, 20)), rng.choice((0, 0, 0, 30))
    game.quick = rng.choice((0, 0, 0, 1, 2))
    for player in game.players:
        _fill(game, player, rng)
    game.resume(Ask.TURN)
    return game, start


def _fill(game: Game, player: Player, rng: random.Random) -> None:
    """Deal a player's cards to the board, the hand, the discard pile and the deck."""
    pieces = list(player.list)
    stands = [piece for piece in pieces if piece.card.kind in _KINDS]
    rng.shuffle(stands)
    for piece in pieces[1::-1]:  # the theme's card, or its partner, mostly Active
        if piece in stands and rng.random() < 0.7:
            stands.remove(piece)
            stands.insert(0, piece)
    slots = [0, *(slot for slot in (1, 2, 3) if rng.random() < 0.6)]
    for slot in slots:
        piece = next((piece for piece in stands if piece in pieces), None)
        if piece is not None:
            pieces.remove(piece)
            player.slots[slot] = _pokemon(game, player, piece, pieces, rng)
    _trouble(game, player.active, rng)
    mine = player.number == game.player
    if mine:
        player.current = rng.choice(("", *player.types))
    else:
        player.no_supporters = 0
    player.no_supporters = rng.choice((0, 0, 0, 0, game.turn if mine else game.turn + 1))
    player.next = rng.choice(player.types)
    player.points = rng.choice((0, 1, 2, 2))
    first = pieces[:1] if player.list[0] in pieces else []
    rest = pieces[len(first) :]
    rng.shuffle(rest)
    pieces = first + rest
    most = game.rules["hand"] if mine else min(game.rules["hand"], len(pieces))
    held = rng.choice((0, rng.randrange(most + 1), rng.randrange(most + 1), most))
    player.hand, rest = pieces[:held], pieces[held:]
    rng.shuffle(player.hand)
    player.shown = {piece for piece in player.hand if rng.random() < 0.3}
    gone = rng.choice((0, len(rest), rng.randrange(len(rest) + 1)))
    player.discards, player.deck = rest[:gone], rest[gone:]
    player.peeked = rng.randrange(min(3, len(player.deck)) + 1)
    player.spent.update({letter: rng.randrange(4) for letter in ENERGY})


def _pokemon(
    game: Game, player: Player, piece: Piece, pieces: list[Piece], rng: random.Random
) -> Pokemon:
    """Put a card into play, sometimes on others, with energy for its attacks and some damage."""
    below = [other for other in pieces if other.card.kind in _KINDS and rng.random() < 0.1]
    below = below[: STAGES.index(piece.card.stage)]
    for other in below:
        pieces.remove(other)
    one = Pokemon([*below, piece], rng.choice((0, 1, game.turn - 1, game.turn)))
    costs = [attack.cost for attack in piece.card.attacks]
    letters = rng.choice(costs) if costs and rng.random() < 0.8 else ""
    one.energy = [rng.choice(ENERGY) if letter == "C" else letter for letter in letters]
    one.energy += [rng.choice(ENERGY) for _ in range(rng.choice((0, 0, 1, 2, 4)))]
    one.energy += [rng.choice("WWL")] * rng.choice((0, 0, 0, 3))
    if rng.random() < 0.6:
        one.damage = 10 * rng.randrange(piece.card.hp // 10)
    if rng.random() < 0.2:
        one.damage = piece.card.hp - 10
    one.used = player.number == game.player and rng.random() < 0.2
    return one


def _trouble(game: Game, one: Pokemon, rng: random.Random) -> None:
    """Give an Active Pokemon conditions, and effects that end this turn or the next."""
    one.condition = rng.choice(("", "", "", ASLEEP, PARALYZED, CONFUSED))
    one.poisoned, one.burned = rng.random() < 0.2, rng.random() < 0.2
    for name in _EFFECTS:
        if rng.random() < 0.12:
            amount = rng.choice((10, 20)) if name in ("weakened", "guarded") else 0
            one.effects[name] = Effect(game.turn + rng.randrange(2), amount)
