"""Count the FLOPs of PPO's network, and measure the peak FLOPs per second of this machine.

Only matrix products count, at two operations per multiply-add: everything else, including
`encode`, is small in comparison.
"""

from __future__ import annotations

import math
import time

import jax
import jax.numpy as jnp

from twinstep.plans import PPO
from twinstep.rl.policies import Policy

#: Rows of the matrices for a machine's peak; on an accelerator a small product is mostly overhead.
_SIDE, _ACCELERATED = 2048, 8192
_TRIES = 3


def parameters(policy: Policy) -> int:
    """Return the number of the policy's parameters."""
    return sum(math.prod(shape) for shape in policy.shapes().values())


def of_a_look(policy: Policy) -> int:
    """Return the operations of one forward pass for one observation."""
    return 2 * sum(rows * columns for _, rows, columns, _ in policy.layers)


def of_an_iteration(policy: Policy, ppo: PPO) -> int:
    """Return the operations of one batch of rollouts and its update.

    Each step has a forward pass for its action, one for the value of the next observation, and one
    per epoch. Each epoch also has a backward pass: a product for the weights and one for the inputs
    of each layer, except the first, whose inputs need no gradient.
    """
    look = of_a_look(policy)
    _, rows, columns, _ = policy.layers[0]
    gradient = 2 * look - 2 * rows * columns
    return ppo.lanes * ppo.steps * (2 * look + ppo.epochs * (look + gradient))


def peak() -> float:
    """Return the operations per second of one large f32 matrix product in JAX."""
    side = _SIDE if jax.default_backend() == "cpu" else _ACCELERATED
    square = jnp.ones((side, side), jnp.float32)
    product = jax.jit(lambda a, b: a @ b)
    jax.block_until_ready(product(square, square))
    seconds = []
    for _ in range(_TRIES):
        begin = time.perf_counter()
        jax.block_until_ready(product(square, square))
        seconds.append(time.perf_counter() - begin)
    return 2 * side**3 / min(seconds)
