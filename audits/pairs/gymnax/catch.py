"""bsuite's Catch against gymnax's; the ball's column is part of the start."""

import numpy as np
from bsuite.environments.catch import Catch

from audits.pair import declared, pins
from audits.references.bsuite import Bsuite
from twinstep import Contract, Discrete, Field, GateRule, Lockstep, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym


def place(env, start):
    env.env._ball_x = int(start.fields["column"])
    return env.env._observation()


CONTRACT = Contract(
    version="gymnax_catch-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (10, 5)),
    state=(
        Field("ball_x", "int32", low=0, high=4, step=1),
        Field("ball_y", "int32", low=0, high=8, step=1),
        Field("paddle_x", "int32", low=0, high=4, step=1),
    ),
    starts=(Field("column", "int32"),),
    make_start=lambda seed: {"column": np.int32(seed[0] % 5)},
    randomness=Randomness("the column is placed in both", parts={"column": ("obs",)}),
    # gymnax multiplies by whether the ball has landed: its 0 may be -0.
    gates=(GateRule(Lockstep(signed_zeros=False), fields="reward"),),
    truncates=False,
    horizon=20,
)
Oracle = oracle_from_gym(
    lambda: Bsuite(Catch()),
    place=place,
    fields={name: f"env._{name}" for name in ("ball_x", "ball_y", "paddle_x")},
)
Candidate = from_gymnax(
    "Catch-bsuite",
    place=lambda state, start: state.replace(ball_x=start.fields["column"]),
    fields={name: name for name in ("ball_x", "ball_y", "paddle_x")},
)
probe = pins("bsuite", "gymnax", "jax")
PAIR = declared(__name__, "bsuite Catch", CONTRACT)
