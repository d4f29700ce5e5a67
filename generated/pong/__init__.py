"""Pong in JAX: the rules of PufferLib 3.0.0's `pong.h` for one environment, as pure functions.

`reset` begins an episode, `step` plays it on, `restart` begins the next one; all take the
static `Params`. Nothing here handles batches: use `jax.vmap` and `jax.jit`.
"""

from twinstep.generated.pong.state import Params, State
from twinstep.generated.pong.step import reset, restart, step

__all__ = ["Params", "State", "reset", "restart", "step"]
