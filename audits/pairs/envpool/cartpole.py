"""Gymnasium's CartPole-v1 against EnvPool's."""

from audits.pair import declared, drifting, pins, placed
from audits.pairs.envpool._own_start import first_observation
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym

CONTRACT = Contract(
    version="envpool_cartpole-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (4,), names=("x", "x_dot", "theta", "theta_dot")),
    state=(),
    starts=(Field("state", "float32", (4,)),),
    make_start=lambda seed: {"state": first_observation("CartPole-v1", seed)},
    randomness=Randomness("EnvPool's start is placed in the reference"),
    gates=drifting(1e-4, "obs"),
    horizon=500,
)
Oracle = oracle_from_gym("CartPole-v1", place=placed(lambda env: env.state.astype("float32")))
Candidate = from_envpool("CartPole-v1")
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium CartPole-v1", CONTRACT)
