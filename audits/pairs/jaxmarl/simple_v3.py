"""mpe2's simple_v3 against JaxMARL's."""

from mpe2 import simple_v3

from audits.pair import declared, pins, rounding
from audits.pairs.jaxmarl import _particles
from audits.pairs.jaxmarl._particles import Particles

CONTRACT = _particles.contract(
    "simple_v3",
    1,
    1,
    4,
    rounding({"obs": 3e-06, "reward": 2e-05, "state.positions": 2e-06, "state.velocities": 9e-07}),
)


class Oracle(Particles):
    """mpe2's environment."""

    make = staticmethod(simple_v3.parallel_env)


Candidate = _particles.candidate("MPE_simple_v3")
probe = pins("mpe2", "jaxmarl", "jax")
PAIR = declared(__name__, "mpe2 simple_v3", CONTRACT)
