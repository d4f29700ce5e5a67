"""How much arithmetic PPO's network asks for, and how much of it this machine can do a second.

Products of matrices alone are counted, at two operations for each multiplication with its sum: all
else, and what `encode` makes of an observation, is small beside them.
"""

from __future__ import annotations

import math
import time

import jax
import jax.numpy as jnp

from twinstep.plans import PPO
from twinstep.rl.policies import Policy

#: Rows of the product that shows a machine's peak; an accelerator would spend less on starting it.
_SIDE, _ACCELERATED = 2048, 8192
_TRIES = 3


def parameters(policy: Policy) -> int:
    """Return how many numbers the policy's parameters hold."""
    return sum(math.prod(shape) for shape in policy.shapes().values())


def of_a_look(policy: Policy) -> int:
    """Return the operations of looking at one observation."""
    return 2 * sum(rows * columns for _, rows, columns, _ in policy.layers)


def of_an_iteration(policy: Policy, ppo: PPO) -> int:
    """Return the operations of one batch played and learned.

    Each step is looked at when it is acted on, once more for the value of what followed, and in
    each epoch. There its gradient costs a product for the weights and one for the inputs of each
    layer, but for the first, whose inputs need none.
    """
    look = of_a_look(policy)
    _, rows, columns, _ = policy.layers[0]
    gradient = 2 * look - 2 * rows * columns
    return ppo.lanes * ppo.steps * (2 * look + ppo.epochs * (look + gradient))


def peak() -> float:
    """Return the operations a second of one large product of matrices of f32, as JAX does it."""
    side = _SIDE if jax.default_backend() == "cpu" else _ACCELERATED
    square = jnp.ones((side, side), jnp.float32)
    product = jax.jit(lambda a, b: a @ b)
    jax.block_until_ready(product(square, square))
    seconds = []
    for _ in range(_TRIES):
        begun = time.perf_counter()
        jax.block_until_ready(product(square, square))
        seconds.append(time.perf_counter() - begun)
    return 2 * side**3 / min(seconds)
