"""Gymnasium's Acrobot-v1 against gymnax's."""

import numpy as np

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from audits.pairs.gymnax._control import put
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

NAMES = ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2")

CONTRACT = Contract(
    version="gymnax_acrobot-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (6,), names=("cos1", "sin1", "cos2", "sin2", "v1", "v2")),
    state=(
        *ranged(NAMES, (np.pi, np.pi, 4 * np.pi, 9 * np.pi)),
        Field("time", "int32", low=0, high=499, step=1),
    ),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    # Ten times what one step in float32 differs by. `init` measures nothing here: the port computes
    # partly in float32 when all else is float64.
    gates=rounding({"obs": 5e-3, "state.joint_angle*": 3e-4, "state.velocity_*": 5e-3}),
    horizon=500,
    **uniform([-0.1] * 4, 0.1),
)
Oracle = oracle_from_gym(
    "Acrobot-v1",
    place=placed(lambda env: env._get_ob()),
    fields=elements(NAMES),
)
Candidate = from_gymnax(
    "Acrobot-v1",
    place=put(NAMES),
    fields={name: name for name in (*NAMES, "time")},
)
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium Acrobot-v1", CONTRACT)
