"""Gymnasium's CliffWalking-v1 against EnvPool's; neither knows a time limit."""

from audits.pair import declared, pins
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym

CONTRACT = Contract(
    version="envpool_cliff_walking-v0",
    params={},
    action=Discrete(4),
    observation=Field("obs", "int32"),
    state=(),
    randomness=Randomness("none"),
    truncates=False,
    horizon=300,
)
Oracle = oracle_from_gym("CliffWalking-v1")
Candidate = from_envpool("CliffWalking-v1", observation=lambda obs: obs.reshape(-1))
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium CliffWalking-v1", CONTRACT)
