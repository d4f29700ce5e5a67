"""Contract of tcgjax-v0: Pokemon TCG Pocket by the numbered rulings of oracles/tcgjax/RULES.md.

Both sides are ours: the claim is *specification-consistent*. They share the cards' facts
(tcgjax_cards), the layout of states, observations and actions (tcgjax_layout), the decks that games
begin with (tcgjax_decks) and the draws of R11 to R15, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Measure, Randomness
from twinstep.contracts.tcgjax_decks import Deck, drawer, read
from twinstep.contracts.tcgjax_events import events_of
from twinstep.contracts.tcgjax_layout import ACTIONS, OBSERVATION, RULES, START, STATE
from twinstep.contracts.tcgjax_modules import modules
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter, Variant
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.plans import PPO, Transfer

#: Kinds of decks -> the sets that they are drawn from.
SETS = {"apex": ("A1", "P-A"), "invented": ("X",)}
#: Rules that nobody has seen: a memorised engine would not follow them.
OTHER = {"weakness": 30, "hand": 7, "poison": 20, "heads": 0, "turns": 24, "points": 2}
_PLAYERS = "twinstep.transfer.tcgjax"
#: 5 x 640 games a side: a true difference of 0 is then found equivalent 19 times in 20.
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
_DOCS = {
    "weakness": "damage that weakness adds (R1)",
    "hand": "cards in a hand at most (R2), 5 to 10",
    "poison": "damage of poison (R3)",
    "heads": "the lowest bit of a coin that shows heads (R4)",
    "turns": "the last turn (R5)",
    "points": "points that win (R6)",
}


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
        # Modules bring their own boards, of all cards: they are asked about once.
        modules=modules(called=dict(params) == {"decks": "apex", **RULES}),
        events=events_of(SETS[params["decks"]]),
        measures=(Measure("longest game, turns", "state.turn", "max"),),
        drivers=("random", "busy", "scripted", "loose"),
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
    """Return whether any of R1 to R6 is not as in the app."""
    return any(params[name] != value for name, value in RULES.items())


def start_of(decks: tuple[Deck, Deck], rules: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of a start: rules i16[6], cards i16[2, 20], types u8[2]."""
    return {
        "rules": rules,
        "cards": np.array([deck.cards for deck in decks], np.int16),
        "types": np.array([deck.mask() for deck in decks], np.uint8),
    }


def start_from(contract: Contract, seed: np.ndarray, files: Sequence[Path]) -> Start:
    """Return the start of a seed u32[2] with the decks of two files, player 0's and player 1's.

    UserError that names the file, its line and the ruling if a deck is not legal.
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


#: Module -> where the candidate has it.
_PLACES = {
    "coins": "threefry.py:Draws",
    "pick": "threefry.py:Draws",
    "shuffle": "deck.py:shuffled",
    "cost": "cards.py:Attacks",
    "damage": "attack.py:landed",
    "attack": "turn.py:take_effect",
    "play": "moves.py:play_card",
    "retreat": "moves.py:retreat",
    "checkup": "status.py:checkup",
    "knockouts": "turn.py:knock_out",
    "turn": "turn.py:next_turn",
    "legal": "legal.py:mask",
    "observation": "observe.py:observe",
    "flow": "turn.py:ask",
    "step": "turn.py:play",
    "reset": "play.py:reset",
}

#: Module -> where else the candidate has what it does.
_HELPERS = {
    "shuffle": ("threefry.py",),
    "cost": ("energy.py:retreat_cost", "energy.py:cheaper"),
    "damage": ("effects.py",),
    "attack": ("attack.py", "apply.py", "effects.py", "energy.py", "deck.py", "threefry.py:Draws"),
    "play": ("deck.py:take", "deck.py:place_stack"),
    "retreat": ("energy.py", "deck.py:swap"),
    "checkup": ("threefry.py:Draws",),
    "knockouts": ("apply.py:felled", "deck.py:discard_slots"),
    "turn": ("deck.py:draw",),
    "legal": ("energy.py", "effects.py"),
    # Trainers and abilities have no module of their own.
    "step": ("moves.py", "apply.py", "effects.py", "energy.py", "deck.py", "play.py:step"),
    "reset": ("deck.py", "state.py"),
}

TCGJAX = Environment(
    name="tcgjax",
    contract=contract,
    oracle=OracleRef(
        title="a rules engine in Python, written from RULES.md",
        factory="twinstep.oracles.tcgjax.bridge:TcgjaxOracle",
        probe="twinstep.oracles.tcgjax.bridge:probe",
        package="twinstep.oracles.tcgjax",
        bench="twinstep.oracles.tcgjax.native:runners",
        bench_work=1 << 12,
        measured=("apex",),
        batches=(1024, 16384),
        work=1 << 18,
    ),
    candidates=(
        CandidateRef(
            "jax",
            "twinstep.candidates.tcgjax.jax_tcgjax:TcgjaxJax",
            edit=("generated/tcgjax/**",),
            sources={name: f"generated/tcgjax/{place}" for name, place in _PLACES.items()},
            helpers={
                name: tuple(f"generated/tcgjax/{place}" for place in places)
                for name, places in _HELPERS.items()
            },
            packages=("twinstep.candidates.tcgjax", "twinstep.generated.tcgjax"),
            slow_to_compile=True,
            shares_programs=True,
        ),
    ),
    variants=(
        Variant("apex", {"decks": "apex"}),
        Variant("invented", {"decks": "invented"}),
        Variant("other", {"decks": "apex", **OTHER}),
    ),
    parameters=(
        Parameter("decks", "apex", "which cards decks are drawn from", str, tuple(SETS)),
        *(Parameter(name, value, _DOCS[name]) for name, value in RULES.items()),
    ),
    drivers={
        name: f"twinstep.rollouts.drivers.tcgjax:{name}" for name in ("busy", "scripted", "loose")
    },
    players={
        "random": f"{_PLAYERS}.heuristics:random",
        "scripted": f"{_PLAYERS}.heuristics:scripted",
        "greedy": f"{_PLAYERS}.search:greedy",
        "expectimax": f"{_PLAYERS}.search:expectimax",
    },
    narrator="twinstep.oracles.tcgjax.narrator:narrate",
    scene="twinstep.oracles.tcgjax.narrator:scene",
    reader="twinstep.contracts.tcgjax:start_from",
    doc="Two players play Pokemon TCG Pocket with decks of Genetic Apex.",
)
