"""bsuite's Catch against EnvPool's."""

import numpy as np
from bsuite.environments.catch import Catch

from audits.pair import declared, pins
from audits.pairs.envpool._own_start import first_observation
from audits.references.bsuite import Bsuite
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym


def make_start(seed):
    return {"column": np.int32(first_observation("Catch-v0", seed).reshape(10, 5)[0].argmax())}


def place(env, start):
    env.env._ball_x = int(start.fields["column"])
    return env.env._observation()


CONTRACT = Contract(
    version="envpool_catch-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (10, 5)),
    state=(),
    starts=(Field("column", "int32"),),
    make_start=make_start,
    randomness=Randomness("EnvPool's start is placed in the reference"),
    truncates=False,
    horizon=20,
)
Oracle = oracle_from_gym(lambda: Bsuite(Catch()), place=place)
Candidate = from_envpool("Catch-v0", observation=lambda obs: obs.reshape(-1, 10, 5))
probe = pins("bsuite", "envpool")
PAIR = declared(__name__, "bsuite Catch", CONTRACT)
