"""Contract of tcgjax-v0: Pokemon TCG Pocket by the numbered rulings of oracles/tcgjax/RULES.md.

Both sides are our own: the claim is *specification-consistent*. They share the cards' facts
(`cards`), the layout of states, observations and actions (`layout`), the decks of new games
(`decks`) and the draws of R11 to R15, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Measure, Randomness
from twinstep.contracts.tcgjax.decks import Deck, drawer, read
from twinstep.contracts.tcgjax.events import events_of
from twinstep.contracts.tcgjax.layout import ACTIONS, OBSERVATION, RULES, START, STATE
from twinstep.contracts.tcgjax.modules import modules
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.plans import PPO, Transfer

#: Kinds of decks -> the sets of cards from which they are drawn.
SETS = {"apex": ("A1", "P-A"), "invented": ("X",)}
#: Rules unlike the app's: an engine that was memorised would not follow them.
OTHER = {"weakness": 30, "hand": 7, "poison": 20, "heads": 0, "turns": 24, "points": 2}
_PLAYERS = "twinstep.transfer.tcgjax"
#: With 5 x 640 games a side, a true difference of 0 is found equivalent 19 times in 20.
_TRANSFER = Transfer(
    margin=0.05,
    solved=0.1,
    steps=524_288,
    ppo=PPO(
        learning_rate=1e-3,
        gamma=0.99,
        entropy=0.01,
        lanes=128,
        steps=64,
        hidden=(128, 128),
        encode=f"{_PLAYERS}.features:encode",
    ),
    seeds=5,
    tries=10,
    episodes=64,
    games=10,
    gap=1.0,
    opponent=f"{_PLAYERS}.heuristics:scripted",
    shaping=f"{_PLAYERS}.features:potential",
    reference_steps=262_144,
    reference_solved=0.08,
    training=False,
)


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
        # Modules bring their own boards, of all cards, so one variant calls them.
        modules=modules(called=dict(params) == {"decks": "apex", **RULES}),
        events=events_of(SETS[params["decks"]]),
        measures=(Measure("longest game, turns", "state.turn", "max"),),
        drivers=("random", "busy", "scripted", "loose"),
        illegal="it raises",
        free_seed=True,
        horizon=600,
        shipped=(16, 256),
        largest_batch=16384,
        truncates=False,
        placed=8192,
        source_view="rules",
        transfer=_TRANSFER if params["decks"] == "apex" and not _changed(params) else None,
    )


def _changed(params: Mapping[str, Any]) -> bool:
    """Return whether any of R1 to R6 differs from the app's value."""
    return any(params[name] != value for name, value in RULES.items())


def start_of(decks: tuple[Deck, Deck], rules: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of a start: rules i16[6], cards i16[2, 20], types u8[2]."""
    return {
        "rules": rules,
        "cards": np.array([deck.cards for deck in decks], np.int16),
        "types": np.array([deck.mask() for deck in decks], np.uint8),
    }


def start_from(contract: Contract, seed: np.ndarray, files: Sequence[Path]) -> Start:
    """Return the start of a seed u32[2] with decks from two files, player 0's and player 1's.

    UserError with the file, its line and the ruling if a deck is not legal.
    """
    if len(files) != 2:
        raise UserError(
            f"--start needs two deck files, player 0's and player 1's, not {len(files)}"
        )
    rules = np.array([contract.params[name] for name in RULES], np.int16)
    one, two = (read(file) for file in files)
    return Start(seed, start_of((one, two), rules))


def _make_start(
    rules: np.ndarray, draw: Callable[[np.ndarray], tuple[Deck, Deck]]
) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    return lambda seed: start_of(draw(seed), rules)
