"""Gymnasium's CliffWalking-v1 against its own port in JAX; neither knows a time limit."""

import jax.numpy as jnp
from gymnasium.envs.tabular.cliffwalking import CliffWalkingFunctional

from audits.pair import declared, pins
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_functional, oracle_from_gym

CONTRACT = Contract(
    version="tabular_cliff_walking-v0",
    params={},
    action=Discrete(4),
    observation=Field("obs", "int32"),
    state=(Field("cell", "int32", low=0, high=36, step=1),),
    randomness=Randomness("none"),
    truncates=False,
    horizon=300,
)
Oracle = oracle_from_gym("CliffWalking-v1", fields={"cell": "unwrapped.s"})
Candidate = from_functional(
    CliffWalkingFunctional(),
    fields={"cell": lambda state: state.player_position[0] * 12 + state.player_position[1]},
    load=lambda state, fields: state._replace(
        player_position=jnp.array([fields["cell"] // 12, fields["cell"] % 12])
    ),
)
probe = pins("gymnasium", "jax")
PAIR = declared(__name__, "gymnasium CliffWalking-v1", CONTRACT)
