"""Gymnasium's CartPole-v1 against gymnax's."""

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from audits.pairs.gymnax._control import put
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

NAMES = ("x", "x_dot", "theta", "theta_dot")

CONTRACT = Contract(
    version="gymnax_cartpole-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (4,), names=NAMES),
    state=(
        *ranged(NAMES, (2.4, 3.0, 0.2, 3.0)),
        Field("time", "int32", low=0, high=499, step=1),
    ),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    gates=rounding(
        {
            "obs": 3e-6,
            "state.x": 3e-6,
            "state.x_dot": 3e-6,
            "state.theta": 3e-7,
            "state.theta_dot": 3e-6,
        }
    ),
    horizon=500,
    **uniform([-0.05] * 4, 0.05),
)
Oracle = oracle_from_gym(
    "CartPole-v1",
    place=placed(lambda env: env.state.astype("float32")),
    fields=elements(NAMES),
)
Candidate = from_gymnax(
    "CartPole-v1",
    place=put(NAMES),
    fields={name: name for name in (*NAMES, "time")},
)
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium CartPole-v1", CONTRACT)
