"""Contract of pokejax-v0: Generation 1 battles of Pokemon Showdown's simulator (@pkmn/sim 0.10.11).

Facts about the reference, by file of its build:
* A step is a decision: both players choose at the beginning of a turn. Where a Pokemon fainted,
its player chooses a replacement, alone or together with the other one. In generation 1 a faint
ends the turn (`faintMessages` in battle.js clears the queue), so nothing else is pending then.
* The generator is the 64-bit LCG of prng.js, seeded with the start's seed, compared at each step.
  Ties in speed draw as well, and so do two clauses that tie with each other: the format's rules are
  part of the game (`SetStatus` in battle.js).
* Actions: 0 to 3 select a slot of the request's moves, 4 to 9 a member of one's own team in the
order of the start. A player that does not decide plays 0. A locked Pokemon is offered one move,
  in slot 0.
* An observation holds only information from the player's own request and the log. HP of the
foe are in hundredths, rounded as the log rounds them.
* Rewards: 1 to the winner and -1 to the loser with the last frame, 0 to both in a tie. The
reference itself ends a battle in a tie after turn 1,000, and where neither side can make progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Measure, Randomness
from twinstep.contracts.pokejax import teams as pokejax_teams
from twinstep.contracts.pokejax.events import reached
from twinstep.contracts.pokejax.layout import ACTIONS, FORMATS, OBSERVATION, RULES, STATE, TEAM
from twinstep.contracts.pokejax.modules import modules
from twinstep.plans import PPO, Transfer

#: Move sets of the variant `families`, by number: a team of one family meets its rules far more
#: often than others do. `families.py` is another grouping: every move once, by effect.
FAMILIES: dict[str, tuple[int, ...]] = {
    # Metronome, Mirror Move, Mimic, Transform, and moves that they copy badly.
    "copies": (118, 119, 102, 144, 13, 91, 19, 117, 35, 99),
    # Binding, Disable, Bide, Thrash, Petal Dance, Rage, Hyper Beam, and Haze that stops them.
    "locks": (20, 35, 83, 128, 50, 117, 37, 80, 99, 63, 114, 97),
    # Statuses, Leech Seed, Rest, Substitute and moves that bypass them.
    "stall": (92, 73, 156, 164, 105, 115, 113, 86, 47, 109, 54, 114, 138, 68),
    # Few PP: until nothing is left but Struggle.
    "exhausted": (12, 32, 90, 63, 126, 143, 120, 56, 59, 5),
    # Substitutes, several hits, drain, recoil, explosions.
    "broken": (164, 3, 24, 41, 131, 71, 138, 36, 66, 120, 153, 26, 93, 117),
    # Stages in both directions, and the drops of paralysis and burn.
    "stages": (14, 97, 133, 112, 45, 39, 81, 103, 28, 104, 86, 53, 51, 145, 94),
}
_DRIVERS = ("random", "attack", "switch")
#: Drivers for situations that are rare with random teams: statuses, few PP.
_WEARING = ("stall", "exhaust")
_PLAYERS = "twinstep.transfer.pokejax"
#: With 5 x 4,032 games a side, a true difference of 0 is found equivalent 19 times in 20. The
#: opponent slips, because win rates near 0 and 1 would have small differences.
_TRANSFER = Transfer(
    margin=0.02,
    solved=0.5,
    steps=1_000_000,
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
    games=63,
    gap=5.0,
    opponent=f"{_PLAYERS}.heuristics:mixed",
    shaping=f"{_PLAYERS}.features:potential",
    reference_steps=131_072,
    reference_solved=0.25,
    training=False,
)
TEAMS: dict[str, Callable[[np.ndarray], dict[str, np.ndarray]]] = {
    "randbats": pokejax_teams.randbats,
    "anything": pokejax_teams.anything,
    "mirror": pokejax_teams.mirror,
    "families": pokejax_teams.one_of(
        tuple(pokejax_teams.directed(moves) for moves in FAMILIES.values())
    ),
    **{name: pokejax_teams.directed(moves) for name, moves in FAMILIES.items()},
}


def contract(params: Mapping[str, Any]) -> Contract:
    """Return the contract of a format and a kind of teams."""
    return Contract(
        version="pokejax-v0",
        params=dict(params),
        action=Discrete(len(ACTIONS), ACTIONS),
        observation=Field(
            "obs", "int16", (len(OBSERVATION),), low=-6, high=9999, step=1, names=OBSERVATION
        ),
        state=STATE,
        randomness=Randomness(
            "the reference's own 64-bit LCG from the start's seed",
            parts={"seed": ("state.seed",), "teams": ("state.team",)},
            between="twinstep.contracts.pokejax.draws:between",
        ),
        players=2,
        masked=True,
        starts=(RULES, TEAM),
        make_start=_make_start(params["format"], params["teams"]),
        # A scene has its own teams and rules, so one variant calls the modules.
        modules=modules(called=params["teams"] == "randbats"),
        events=reached(params["format"], params["teams"]),
        measures=(Measure("longest battle, turns", "state.turn", "max"),),
        drivers=(
            "random",
            "attack",
            "switch",
            *(_WEARING if params["teams"] == "families" else ()),
        ),
        illegal="it refuses the choice and asks again",
        free_seed=True,
        horizon=600,
        shipped=(16, 256),
        truncates=False,
        largest_batch=16384,
        placed=0,
        transfer=_TRANSFER if params["format"] == "gen1randombattle" else None,
    )


def _make_start(rules: str, teams: str) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    number = np.array(FORMATS.index(rules), RULES.dtype)
    return lambda seed: {"rules": number, **TEAMS[teams](seed)}
