"""mpe2's simple_spread_v3 against JaxMARL's."""

from mpe2 import simple_spread_v3

from audits.pair import declared, pins, rounding
from audits.pairs.jaxmarl import _particles
from audits.pairs.jaxmarl._particles import Particles

CONTRACT = _particles.contract(
    "simple_spread_v3",
    3,
    3,
    18,
    rounding({"obs": 5e-05, "reward": 5e-06, "state.positions": 2e-06, "state.velocities": 5e-05}),
)


class Oracle(Particles):
    """mpe2's environment."""

    make = staticmethod(simple_spread_v3.parallel_env)


Candidate = _particles.candidate("MPE_simple_spread_v3")
probe = pins("mpe2", "jaxmarl", "jax")
PAIR = declared(__name__, "mpe2 simple_spread_v3", CONTRACT)
