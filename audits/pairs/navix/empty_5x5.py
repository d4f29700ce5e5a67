"""MiniGrid's empty room of 5x5 against navix's."""

from functools import partial

from audits.pair import declared, pins
from audits.pairs.navix._agent import AGENT, agent_fields
from audits.references import minigrid
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_navix, oracle_from_gym

CONTRACT = Contract(
    version="navix_empty_5x5-v0",
    params={},
    action=Discrete(7, ("left", "right", "forward", "pickup", "drop", "toggle", "done")),
    observation=Field("obs", "uint8", (5, 5, 3)),
    state=agent_fields(5, 5, 100),
    randomness=Randomness("none"),
    horizon=100,
)
Oracle = oracle_from_gym(
    partial(minigrid.make, "MiniGrid-Empty-5x5-v0"),
    fields=minigrid.AGENT,
    observation=minigrid.cells,
)
Candidate = from_navix("Navix-Empty-5x5-v0", fields=AGENT)
probe = pins("minigrid", "navix", "jax")
PAIR = declared(__name__, "minigrid MiniGrid-Empty-5x5-v0", CONTRACT)
