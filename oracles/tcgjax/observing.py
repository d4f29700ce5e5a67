"""A player's observation (R20, R86 to R89), in the order of the contract's OBSERVATION."""

from __future__ import annotations

from twinstep.contracts.tcgjax.cards import ENERGY
from twinstep.contracts.tcgjax.layout import BASICS, DECK, HAND, OBSERVATION, PEEKED, SLOTS, STACK
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.objects import ASLEEP, CONFUSED, PARALYZED, Piece, Player, Pokemon

_CONDITIONS = ("", ASLEEP, PARALYZED, CONFUSED)
_SIDE = sum(name.startswith("other ") for name in OBSERVATION)


def observed(game: Game, me: int) -> list[int]:
    """Return a player's observation, a number for each name of OBSERVATION."""
    own, other = game.players[me], game.players[1 - me]
    asked = game.decision
    head = [
        game.turn,
        game.player == me,
        game.first == me,
        asked is not None and asked.asked == me,
        asked.ask if asked else 0,
        asked.left if asked else 0,
        game.attack,
        game.supporter,
        game.retreated,
        game.bonus,
        game.blaze,
        game.quick,
    ]
    side = _side(game, other, [p if p in other.shown else None for p in other.hand])
    known = own.deck[: own.peeked]
    return [
        *map(int, head),
        *_side(game, own, list(own.hand)),
        *(side if game.turn else [0] * _SIDE),
        *_numbers(list(known), PEEKED),
        *_numbers(list(own.list), DECK),
        *(letter in own.types for letter in ENERGY),
        *game.rules.values(),
    ]


def _numbers(pieces: list[Piece | None], length: int) -> list[int]:
    found = [piece.card.number if piece else 0 for piece in pieces]
    return found + [0] * (length - len(found))


def _side(game: Game, player: Player, hand: list[Piece | None]) -> list[int]:
    active = player.slots[0]
    out = [
        player.points,
        len(player.deck),
        len(player.hand),
        len(player.discards),
        1 + ENERGY.index(player.current) if player.current else 0,
        1 + ENERGY.index(player.next),
        int(player.no_supporters > 0),
        *_numbers(hand, HAND),
        *_numbers(list(player.discards), DECK),
        *(player.spent[letter] for letter in ENERGY),
    ]
    if active is None:
        out += [0] * 8
    else:
        amounts = (active.effects.get(name) for name in ("weakened", "guarded"))
        out += [
            _CONDITIONS.index(active.condition),
            int(active.poisoned),
            int(active.burned),
            int("no_attack" in active.effects),
            int("no_retreat" in active.effects),
            *(effect.amount if effect else 0 for effect in amounts),
            int(active.immune),
        ]
    for one in player.slots:
        out += _pokemon(game, one)
    return out


def _pokemon(game: Game, one: Pokemon | None) -> list[int]:
    if one is None:
        return [0] * (STACK + 1 + BASICS + 2)
    return [
        *_numbers(list(one.stack), STACK),
        one.damage,
        *(one.energy.count(letter) for letter in ENERGY),
        int(game.turn > 0 and one.entered == game.turn),
        int(one.used),
    ]


assert SLOTS == 4
