"""HalfCheetah in JAX: the planar physics of MuJoCo 3.14.0's model, for one environment.

The physics is written once, in `kinematics`, `inertia`, `linear`, `forces` and `constraints`, as
operations on numbers; the Rust engine is generated from the same files. `newton` and `dynamics`
combine them for JAX. `reset` begins an episode, `step` plays it on. Use `jax.vmap` and
`jax.jit`; inside, lanes come last.
"""

from twinstep.generated.halfcheetah.dynamics import reset, step
from twinstep.generated.halfcheetah.state import State

__all__ = ["State", "reset", "step"]
