"""Contract of tcgjax-v0: Pokemon TCG Pocket by the numbered rulings of oracles/tcgjax/RULES.md.

Both sides are ours: the claim is *specification-consistent*. They share the cards' facts
(tcgjax_cards), the layout of states, observations and actions (tcgjax_layout), the decks that games
begin with (tcgjax_decks) and the draws of R11 to R15, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Measure, Randomness
from twinstep.contracts.tcgjax_decks import Deck, drawer
from twinstep.contracts.tcgjax_events import events_of
from twinstep.contracts.tcgjax_layout import ACTIONS, OBSERVATION, RULES, START, STATE

#: Kinds of decks -> the sets that they are drawn from.
SETS = {"apex": ("A1", "P-A"), "invented": ("X",)}


def contract(params: Mapping[str, Any]) -> Contract:
    """Return the contract for a kind of decks and values of R1 to R6."""
    rules = np.array([params[name] for name in RULES], np.int16)
    return Contract(
        version="tcgjax-v0",
        params=dict(params),
        action=Discrete(len(ACTIONS), ACTIONS),
        observation=Field(
            "obs", "int16", (len(OBSERVATION),), low=0, high=1000, step=1, names=OBSERVATION
        ),
        state=STATE,
        randomness=Randomness(
            "threefry2x32 with the start's seed as key, and a counter of draws (R11)",
            draws="draws",
            parts={"decks": ("state.cards",), "first player": ("state.first",)},
        ),
        players=2,
        masked=True,
        starts=START,
        make_start=_make_start(rules, drawer(SETS[params["decks"]])),
        events=events_of(SETS[params["decks"]]),
        measures=(Measure("longest game, turns", "state.turn", "max"),),
        drivers=("random", "busy", "scripted", "loose"),
        free_seed=True,
        horizon=600,
        truncates=False,
        placed=0,
        source_view="rules",
    )


def start_of(decks: tuple[Deck, Deck], rules: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of a start: rules i16[6], cards i16[2, 20], types u8[2]."""
    return {
        "rules": rules,
        "cards": np.array([deck.cards for deck in decks], np.int16),
        "types": np.array([deck.mask() for deck in decks], np.uint8),
    }


def _make_start(
    rules: np.ndarray, draw: Callable[[np.ndarray], tuple[Deck, Deck]]
) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    return lambda seed: start_of(draw(seed), rules)
