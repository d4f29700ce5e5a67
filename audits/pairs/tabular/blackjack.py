"""Gymnasium's Blackjack-v1 against its own port in JAX, each with draws of its own.

The port's dealer draws inside a loop of `jax.lax`, where no row of words gives each card its own.
"""

import gymnasium
import numpy as np
from gymnasium.envs.tabular.blackjack import BlackjackFunctional

from audits.pair import declared, pins
from twinstep import Contract, Discrete, Distribution, Field, GateRule, Randomness
from twinstep.inward import from_functional, oracle_from_gym

CONTRACT = Contract(
    version="tabular_blackjack-v0",
    params={},
    action=Discrete(2, ("stick", "hit")),
    observation=Field("obs", "int32", (3,), names=("sum", "dealer", "ace")),
    state=(),
    randomness=Randomness("each side's own"),
    gates=(GateRule(Distribution()),),
    truncates=False,
    horizon=20,
)
Oracle = oracle_from_gym(
    lambda: gymnasium.make("Blackjack-v1", disable_env_checker=True), observation=np.asarray
)
Candidate = from_functional(BlackjackFunctional())
probe = pins("gymnasium", "jax")
PAIR = declared(__name__, "gymnasium Blackjack-v1", CONTRACT)
