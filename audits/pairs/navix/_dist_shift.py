"""MiniGrid's DistShift, a room with lava, in its two forms."""

from functools import partial
from typing import Any

import navix

from audits.pairs.navix._agent import AGENT, agent_fields
from audits.references import minigrid
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_navix, oracle_from_gym

LIMIT = 252


def room(form: int) -> tuple[Contract, Any, Any]:
    """Return contract, oracle and candidate of DistShift1 or DistShift2."""
    contract = Contract(
        version=f"navix_dist_shift{form}-v0",
        params={},
        action=Discrete(7, ("left", "right", "forward", "pickup", "drop", "toggle", "done")),
        observation=Field("obs", "uint8", (7, 9, 3)),
        state=agent_fields(7, 9, LIMIT),
        randomness=Randomness("none"),
        horizon=LIMIT,
    )
    oracle = oracle_from_gym(
        partial(minigrid.make, f"MiniGrid-DistShift{form}-v0"),
        fields=minigrid.AGENT,
        observation=minigrid.cells,
    )
    # `navix.make` ends an episode after 100 steps by default.
    port = navix.make(f"Navix-DistShift{form}-v0", max_steps=LIMIT)
    return contract, oracle, from_navix(port, fields=AGENT)
