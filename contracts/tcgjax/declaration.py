"""Declaration of TCGJax: its oracle and its candidates, named by import path."""

from __future__ import annotations

from twinstep.contracts.tcgjax import OTHER, SETS, contract
from twinstep.contracts.tcgjax.layout import RULES
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter, Variant

_PLAYERS = "twinstep.transfer.tcgjax"


_DOCS = {
    "weakness": "damage that weakness adds (R1)",
    "hand": "cards in a hand at most (R2), 5 to 10",
    "poison": "damage of poison (R3)",
    "heads": "the lowest bit of a coin that shows heads (R4)",
    "turns": "the last turn (R5)",
    "points": "points that win (R6)",
}


#: Module -> its place in the candidate.
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


#: Module -> further places in the candidate that do its work.
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
        # It places thousands of boards in one answer: half a minute on a machine of its own.
        limit=300.0,
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
            requires=(),
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
        name: f"twinstep.rollouts.tcgjax.drivers:{name}" for name in ("busy", "scripted", "loose")
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
