"""bsuite's Discounting Chain with mapping seed 0 against gymnax's."""

from bsuite.environments.discounting_chain import DiscountingChain

from audits.pair import declared, pins, rounding
from audits.references.bsuite import Bsuite
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

CONTRACT = Contract(
    version="gymnax_discounting_chain-v0",
    params={},
    action=Discrete(5),
    observation=Field("obs", "float32", (2,), names=("context", "time")),
    state=(
        Field("context", "int32", low=0, high=4, step=1),
        Field("time", "int32", low=0, high=99, step=1),
    ),
    randomness=Randomness("none"),
    truncates=False,
    gates=rounding({"obs": 3e-7}),
    horizon=100,
)
Oracle = oracle_from_gym(
    lambda: Bsuite(DiscountingChain(0)),
    fields={"context": "env._context", "time": "env._timestep"},
    observation=lambda obs: obs[0],
)
Candidate = from_gymnax("DiscountingChain-bsuite", fields={"context": "context", "time": "time"})
probe = pins("bsuite", "gymnax", "jax")
PAIR = declared(__name__, "bsuite DiscountingChain", CONTRACT)
