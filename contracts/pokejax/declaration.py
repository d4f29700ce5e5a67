"""Declaration of PokeJAX: its oracle and its candidates, named by import path."""

from __future__ import annotations

from twinstep.contracts.pokejax import TEAMS, contract
from twinstep.contracts.pokejax.layout import FORMATS
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter, Variant

_PLAYERS = "twinstep.transfer.pokejax"


#: Module -> its place in the candidate.
_PLACES = {
    "generator": "lcg.py:Draws",
    "member": "episode.py:born",
    "boosts": "stats.py:boosted",
    "types": "damage.py:effectiveness",
    "damage": "damage.py:damage_of",
    "status": "status.py:catch",
    "before": "before.py:before_move",
    "after": "after.py:after_move_self",
    "residual": "turn.py:residual",
    "order": "turn.py:sort_actions",
    "legal": "requests.py:legal",
    "switch": "members.py:switch",
    "move": "moves.py:act",
    "slots": "calls.py:pay",
    "selection": "requests.py:choose",
    "flow": "turn.py:step",
    "observation": "observation.py:observe",
    "step": "turn.py:step",
    "reset": "episode.py:reset",
}


#: Module -> further places in the candidate that do its work.
_HELPERS = {
    "member": ("stats.py",),
    "boosts": ("effects.py:boost",),
    "status": ("members.py",),  # other members asleep or frozen
    "before": ("status.py", "damage.py:confusion_damage"),
    "legal": ("moves.py:hard_locked",),
    "switch": ("turn.py:come_in",),
    "move": (
        *("before.py", "calls.py", "hits.py", "effects.py", "damage.py"),
        *("status.py", "stats.py", "after.py"),
    ),
    "step": ("members.py", "requests.py"),
    "reset": ("play.py:reset", "members.py", "stats.py"),
}


POKEJAX = Environment(
    name="pokejax",
    contract=contract,
    oracle=OracleRef(
        title="Pokemon Showdown's simulator, @pkmn/sim 0.10.11",
        factory="twinstep.oracles.pokejax.bridge:PokejaxOracle",
        probe="twinstep.oracles.pokejax.upstream:probe",
        package="twinstep.oracles.pokejax",
        upstream=("pythonmonkey",),
        bench="twinstep.oracles.pokejax.native:runners",
        bench_work=1 << 12,
        measured=("randbats", "anything"),
        batches=(1024, 16384),
        work=1 << 18,
    ),
    candidates=(
        CandidateRef(
            "jax",
            "twinstep.candidates.pokejax.jax_pokejax:PokejaxJax",
            edit=("generated/pokejax/**",),
            sources={name: f"generated/pokejax/{place}" for name, place in _PLACES.items()},
            helpers={
                name: tuple(f"generated/pokejax/{place}" for place in places)
                for name, places in _HELPERS.items()
            },
            packages=("twinstep.candidates.pokejax", "twinstep.generated.pokejax"),
            requires=(),
            slow_to_compile=True,
            shares_programs=True,
        ),
    ),
    variants=(
        Variant("randbats", {"format": "gen1randombattle", "teams": "randbats"}),
        Variant("anything", {"teams": "anything"}),
        Variant("ou", {"format": "gen1ou", "teams": "anything"}),
        Variant("mirror", {"teams": "mirror"}),
        Variant("families", {"teams": "families"}),
    ),
    parameters=(
        Parameter("format", "gen1customgame", "the rule set", str, FORMATS),
        Parameter("teams", "randbats", "how teams are drawn from a seed", str, tuple(TEAMS)),
        Parameter(
            "engine",
            "pythonmonkey",
            "what runs the reference: in-process, or a node subprocess",
            str,
            ("pythonmonkey", "node"),
        ),
    ),
    drivers={
        "attack": "twinstep.rollouts.pokejax.drivers:attack",
        "switch": "twinstep.rollouts.pokejax.drivers:switch",
        "stall": "twinstep.rollouts.pokejax.drivers:stall",
        "exhaust": "twinstep.rollouts.pokejax.drivers:exhaust",
    },
    players={
        "random": f"{_PLAYERS}.heuristics:random",
        "mixed": f"{_PLAYERS}.heuristics:mixed",
        "max-damage": f"{_PLAYERS}.heuristics:max_damage",
        "minimax": f"{_PLAYERS}.minimax:minimax",
    },
    narrator="twinstep.oracles.pokejax.replay:narrate",
    doc="Two players battle with teams of up to six Pokemon by the rules of generation 1.",
)
