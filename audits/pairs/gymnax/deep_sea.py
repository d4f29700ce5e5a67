"""bsuite's deterministic Deep Sea of size 8 against gymnax's.

The meaning of the actions, which each library draws once for all episodes unless it is told not to,
is part of the start.
"""

import gymnax
import numpy as np
from bsuite.environments.deep_sea import DeepSea

from audits.pair import declared, pins, rounding
from audits.references.bsuite import Bsuite
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

SIZE = 8


def place(env, start):
    env.env._action_mapping = np.array(start.fields["mapping"])
    return env.env._get_observation()


def sea():
    """Return bsuite's, whose mapping has whole numbers when it is drawn and floats when not."""
    env = DeepSea(SIZE, randomize_actions=False)
    env._action_mapping = env._action_mapping.astype(int)
    return Bsuite(env)


def make_start(seed):
    return {"mapping": np.random.default_rng(seed).integers(0, 2, (SIZE, SIZE), np.int32)}


CONTRACT = Contract(
    version="gymnax_deep_sea-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (SIZE, SIZE)),
    state=(
        Field("row", "int32", low=0, high=SIZE - 1, step=1),
        Field("column", "int32", low=0, high=SIZE - 1, step=1),
        Field("mapping", "int32", (SIZE, SIZE), low=0, high=1, step=1),
    ),
    starts=(Field("mapping", "int32", (SIZE, SIZE)),),
    make_start=make_start,
    randomness=Randomness("the meaning of actions is placed in both"),
    truncates=False,
    gates=rounding({"reward": 3e-7}),
    horizon=20,
)
Oracle = oracle_from_gym(
    sea,
    place=place,
    fields={"row": "env._row", "column": "env._column", "mapping": "env._action_mapping"},
)
_port, _rules = gymnax.make("DeepSea-bsuite")
Candidate = from_gymnax(
    _port,
    _rules.replace(randomize_actions=False),
    place=lambda state, start: state.replace(action_mapping=start.fields["mapping"]),
    fields={"row": "row", "column": "column", "mapping": "action_mapping"},
)
probe = pins("bsuite", "gymnax", "jax")
PAIR = declared(__name__, "bsuite DeepSea", CONTRACT)
