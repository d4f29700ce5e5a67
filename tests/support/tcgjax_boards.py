"""Positions of the card game for tests: a game in the middle of a turn, with a chosen board."""

import numpy as np

from twinstep.contracts.tcgjax.cards import cards, number_of
from twinstep.contracts.tcgjax.layout import ATTACK, RULES, Ask
from twinstep.oracles.tcgjax.codec import new_game
from twinstep.oracles.tcgjax.draws import Draws
from twinstep.oracles.tcgjax.objects import Pokemon

NAMES = {}
for _card in cards():
    NAMES.setdefault(_card.name, _card)
#: 150 HP, weak to Fighting alone, without effects.
WALL = "Snorlax"
FILLER = ["Bulbasaur", "Charmander", "Squirtle", "Pikachu", "Machop"] * 4


def one(name, energy="", **having):
    """Return the content of a slot for `board`: a name, energy letters, fields of a Pokemon."""
    return name, energy, having


def board(mine, theirs=(WALL,), hand=(), their_hand=(), turn=5, types=("GW", "R"), **having):
    """Return a game in player 0's turn: each side's slots and hands; decks hold the other cards.

    A slot is a name, or what `one` returns, or None. A Pokemon stands there as its own card alone.
    """
    sides = [list(map(_slot, mine)), list(map(_slot, theirs))]
    hands = [list(hand), list(their_hand)]
    lists = []
    for slots, held in zip(sides, hands, strict=True):
        used = [slot[0] for slot in slots if slot] + held
        lists.append((used + FILLER)[:20])
    numbers = np.array([[NAMES[name].number for name in row] for row in lists], np.int16)
    start = {
        "rules": np.array(list(RULES.values()), np.int16),
        "cards": numbers,
        "types": np.array([sum(1 << "GRWLPFDM".index(c) for c in row) for row in types], np.uint8),
    }
    game = new_game(start, np.array([7, 7], np.uint32))
    for player, slots, held in zip(game.players, sides, hands, strict=True):
        pieces = list(player.list)
        for at, slot in enumerate(slots):
            if slot:
                _, energy, fields = slot
                player.slots[at] = Pokemon([pieces.pop(0)], 1, energy=list(energy), **fields)
        player.hand = [pieces.pop(0) for _ in held]
        player.deck = pieces
        player.next = player.types[0]
    game.turn = turn
    game.draws.count = 50
    for name, value in having.items():
        setattr(game, name, value)
    game.resume(Ask.TURN)
    return game


def _slot(slot):
    return one(slot) if isinstance(slot, str) else slot


def let_coins_be(game, *flips):
    """Advance the generator until the next coin flips are these: `H`, `TT`."""
    for count in range(50, 1 << 20):
        draws = Draws(game.draws.seed, game.draws.heads, count)
        if all(draws.coins(len(text)) == [side == "H" for side in text] for text in flips):
            game.draws.count = count
            return
    raise AssertionError("no such coins")


def attacker(effect):
    """Return the name of a Genetic Apex card with an attack of this effect, cost and place."""
    for card in cards():
        for place, attack in enumerate(card.attacks):
            if attack.effect == effect and card.number <= number_of("P-A 007"):
                return card.name, attack.cost.replace("C", "M"), place
    raise KeyError(effect)


def attack(game, place):
    """Use an attack of the Active Pokemon."""
    game.step(ATTACK + place)
