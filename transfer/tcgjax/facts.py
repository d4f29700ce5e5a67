"""The cards' facts as tables to look numbers up in, and the average effect of attacks.

Tables are i32, indexed by card number (0 is no card) or attack (2 times the card's number plus
the attack's place there).
"""

from __future__ import annotations

import re

import numpy as np

from twinstep.contracts.tcgjax.cards import ATTACKS, ENERGY, KINDS, STAGES, Attack, cards

_TYPES = {letter: number for number, letter in enumerate(f"{ENERGY}NC", 1)}
#: Codes of attacks -> their addition to the damage on the card, average or in a usual position.
_MORE = (
    (r"coin-plus-(\d+).*", lambda n: n // 2),
    (r"coins2-both-plus-(\d+)", lambda n: n // 4),
    (r"extra-water-\d-plus-(\d+)", lambda n: n // 3),
    (r"foe-energy-plus-(\d+)", lambda n: 2 * n),
    (r"(?:damaged|poisoned)-(?:foe|self)-plus-(\d+)", lambda n: n // 2),
    (r"bench-nidoking-plus-(\d+)", lambda n: n // 2),
    (r"coins-until-tails-times-(\d+)", lambda n: n),
    (r"bench-(?:lightning-)?times-(\d+)", lambda n: 2 * n),
    (r"random-4-times-(\d+)", lambda n: 2 * n),
    (r"snipe-(?:bench-)?(\d+)", lambda n: n),
    (r"splash-bench-(\d+)", lambda n: n),
    (r"recoil-(\d+)", lambda n: -n // 2),
    (r"heal-self-(\d+)", lambda n: n // 2),
)
_TIMES = re.compile(r"coins(\d)-times-(\d+)")
#: The count assumed for an effect without a number.
_ELSE = 10


def _usual(attack: Attack) -> int:
    """Return an attack's average effect, as damage to the other's Active Pokemon."""
    tossed = _TIMES.fullmatch(attack.effect)
    if tossed:
        return int(tossed[1]) * int(tossed[2]) // 2
    if attack.effect == "coin-or-nothing":
        return attack.damage // 2
    for pattern, more in _MORE:
        found = re.fullmatch(pattern, attack.effect)
        if found:
            # "times" takes the place of the number on the card (R117 to R122).
            printed = 0 if "times" in attack.effect else attack.damage
            return max(printed + more(int(found[1])), 0)
    return attack.damage + (_ELSE if attack.effect else 0)


def _column(value: str) -> np.ndarray:
    return np.array([0, *(getattr(card, value) for card in cards())], np.int32)


#: Facts of cards, i32[C]. KIND, STAGE: places in KINDS and STAGES; KIND of no card is -1. TYPE,
#: WEAKNESS: numbers of types from 1.
HP, POINTS, RETREAT = (_column(name) for name in ("hp", "points", "retreat"))
KIND = np.array([-1, *(KINDS.index(card.kind) for card in cards())], np.int32)
STAGE = np.array([0, *(STAGES.index(c.stage) if c.stage else 0 for c in cards())], np.int32)
TYPE, WEAKNESS = (
    np.array([0, *(_TYPES.get(getattr(card, name), 0) for card in cards())], np.int32)
    for name in ("type", "weakness")
)
POKEMON = KINDS.index("Pokemon")


def _attacks() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = ATTACKS * (len(cards()) + 1)
    cost, length = np.zeros((count, len(ENERGY)), np.int32), np.full(count, 99, np.int32)
    usual = np.zeros(count, np.int32)
    for card in cards():
        for place, attack in enumerate(card.attacks):
            index = ATTACKS * card.number + place
            cost[index] = [attack.cost.count(letter) for letter in ENERGY]
            length[index], usual[index] = len(attack.cost), _usual(attack)
    return cost, length, usual


#: Facts of attacks. COST: i32[A, 8], of each energy. LENGTH: of all, 99 of no attack. USUAL: its
#: average effect.
COST, LENGTH, USUAL = _attacks()


def by_code(worth: dict[str, int]) -> np.ndarray:
    """Return i32[C]: a number for cards whose ability or effect has one of these codes, or 0."""
    return np.array([0, *(worth.get(card.ability, 0) for card in cards())], np.int32)
