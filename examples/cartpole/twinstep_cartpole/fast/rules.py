"""The five parts of CartPole, without batches. Scalars are f64[], i32[], bool[].

A product goes through `rounded` before a sum, a division by a constant through `divided`. The order
of the factors is the reference's: it decides the last bit.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array

from twinstep.exact import divided, rounded
from twinstep_cartpole.fast import generator

GRAVITY = 9.8
MASS_POLE = 0.1
MASS = MASS_POLE + 1.0  # of pole and cart
HALF_LENGTH = 0.5
POLE_MOMENT = MASS_POLE * HALF_LENGTH
FORCE = 10.0
TAU = 0.02  # seconds a step
X_LIMIT = 2.4
THETA_LIMIT = 12 * 2 * math.pi / 360
STEPS = 500
START = 0.05


def start(seed: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return x, x_dot, theta, theta_dot and the used generator u32[8] of a seed u32[2]."""
    numbers = generator.seeded(seed)
    drawn = []
    for _ in range(4):
        numbers, unit = generator.uniform(numbers)
        drawn.append(rounded((START + START) * unit) - START)
    x, x_dot, theta, theta_dot = drawn
    return x, x_dot, theta, theta_dot, generator.words(numbers)


def push(x_dot: Array, theta: Array, theta_dot: Array, action: Array) -> tuple[Array, Array]:
    """Return both speeds after the step."""
    sin, cos = jnp.sin(theta), jnp.cos(theta)
    force = jnp.where(action == 1, FORCE, -FORCE)
    swing = POLE_MOMENT * (theta_dot * theta_dot) * sin
    thrust = divided(force + rounded(swing), MASS)
    turning = rounded(GRAVITY * sin) - rounded(cos * thrust)
    share = divided(MASS_POLE * (cos * cos), MASS)
    theta_acc = turning / (HALF_LENGTH * (4.0 / 3.0 - share))
    x_acc = thrust - divided(POLE_MOMENT * theta_acc * cos, MASS)
    return x_dot + rounded(TAU * x_acc), theta_dot + rounded(TAU * theta_acc)


def move(x: Array, x_dot: Array, theta: Array, theta_dot: Array) -> tuple[Array, Array]:
    """Return both positions after the step, from the speeds of before it."""
    return x + rounded(TAU * x_dot), theta + rounded(TAU * theta_dot)


def judge(x: Array, theta: Array, beyond: Array) -> tuple[Array, Array, Array]:
    """Return terminated, the reward f32[] and the count of steps since the end.

    The limits themselves are inside. The step that ends the episode is rewarded, later ones
    are not.
    """
    ended = (jnp.abs(x) > X_LIMIT) | (jnp.abs(theta) > THETA_LIMIT)
    reward = jnp.where(ended & (beyond >= 0), 0.0, 1.0).astype(jnp.float32)
    return ended, reward, beyond + ended.astype(jnp.int32)


def limit(elapsed: Array) -> tuple[Array, Array]:
    """Return the count of steps and whether this one was the last allowed step.

    The pole does not matter: a step may both end the episode and be the last.
    """
    return elapsed + 1, elapsed + 1 >= STEPS
