"""bsuite's Umbrella Chain of length 10 against gymnax's."""

from bsuite.environments.umbrella_chain import UmbrellaChain

from audits.pair import declared, pins
from audits.references.bsuite import Bsuite
from twinstep import Contract, Discrete, Distribution, Field, GateRule, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

CONTRACT = Contract(
    version="gymnax_umbrella_chain-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (3,), names=("need", "has", "left")),
    state=(),
    randomness=Randomness("each side's own"),
    gates=(GateRule(Distribution()),),
    truncates=False,
    horizon=20,
)
Oracle = oracle_from_gym(lambda: Bsuite(UmbrellaChain(10)), observation=lambda obs: obs[0])
Candidate = from_gymnax("UmbrellaChain-bsuite")
probe = pins("bsuite", "gymnax", "jax")
PAIR = declared(__name__, "bsuite UmbrellaChain", CONTRACT)
