"""Level 2: on the boards used for single steps, every effect meets every other."""

import re

import numpy as np
import pytest

from twinstep.contracts.tcgjax.cards import cards, codes
from twinstep.contracts.tcgjax.layout import Zone

pytestmark = [
    pytest.mark.level2, pytest.mark.environment("tcgjax"), pytest.mark.one_variant,
]  # fmt: skip


def _family(code):
    """Return a code without its numbers: `snipe-30` and `snipe-50` are of one family."""
    return re.sub(r"-?\d+", "", code)


FAMILIES = sorted({_family(code) for code in codes()})


def _bearing():
    """Return bool[C + 1, F]: the families of effects of each card."""
    table = np.zeros((len(cards()) + 1, len(FAMILIES)), bool)
    for card in cards():
        for code in {card.ability, *(attack.effect for attack in card.attacks)} - {""}:
            table[card.number, FAMILIES.index(_family(code))] = True
    return table


def test_every_pair_of_effects_meets_on_the_placed_boards(twinstep_lab):
    """One side's in play or in hand, the other side's too; trainers in hand, others in play."""
    states, _ = twinstep_lab.reference.states(
        twinstep_lab.contract.placed, "placed", dtype=twinstep_lab.runner.dtype
    )
    fighter = np.array([False, *(card.kind == "Pokemon" for card in cards())])[states["cards"]]
    ready = np.where(fighter, states["zone"] >= Zone.STACKS, states["zone"] == Zone.HAND)
    has = np.zeros((*states["zone"].shape[:2], len(FAMILIES)), bool)
    table = _bearing()
    for place in range(ready.shape[-1]):
        has |= table[states["cards"][:, :, place]] & ready[:, :, place, None]
    met = has[:, 0].astype(np.float32).T @ has[:, 1].astype(np.float32)
    never = np.argwhere(np.triu(met + met.T) + np.tril(np.ones_like(met), -1) == 0)
    assert [(FAMILIES[one], FAMILIES[two]) for one, two in never] == []
