"""Contract of cartpole-v0: Gymnasium 1.4.0's CartPole-v1 (`classic_control/cartpole.py`).

Facts about the reference, lines as of that version:
* Everything is computed in float64; only the observation is rounded to float32 (line 227).
* Both positions move with the speeds of before the step (lines 186-190): explicit Euler.
* The limits themselves are inside: only values beyond them end an episode (lines 199-204).
* The step that ends an episode still earns 1.0; steps after it earn 0.0 (lines 206-221).
* The time limit is a wrapper of its own (`wrappers/common.py:130-136`). It does not look at the
  pole: an episode that falls at step 500 is terminated and truncated at once.
* Four draws make the start, in the order of the state, from NumPy's PCG64, which SeedSequence
  fills from the seed seed[0] + seed[1] * 2**32. Nothing else is random.
* sin and cos are those of the platform's C library, through NumPy. They are not rounded
  correctly everywhere, and the same library gives other results on processors with and without
  fused multiply-add. XLA calls the same library for float64 on a CPU, so both sides agree on one
  machine. Recordings of the oracle hold for the arithmetic with the hash among its pins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from twinstep import (
    PPO,
    Contract,
    Discrete,
    Field,
    Measure,
    Module,
    Randomness,
    Transfer,
)

PARTS = ("x", "x_dot", "theta", "theta_dot")

EVENTS = (
    "cart_left",  # the cart is beyond its limit on the left
    "cart_right",
    "pole_left",
    "pole_right",
    "time_limit",
    "time_limit_at_the_end",  # terminated and truncated by the same step
    "cart_turned",
    "pole_turned",
    "pole_crossed",  # the upright
)

#: In the package's folder.
_FILE = "envs/classic_control/cartpole.py"

#: Few lanes and many epochs: the reference steps one episode at a time.
TRAINING = PPO(
    learning_rate=4e-3, epochs=10, minibatches=4, gamma=0.98, lam=0.8, entropy=0.01, lanes=32
)

X_LIMIT = 2.4
THETA_LIMIT = 12 * 2 * math.pi / 360
STEPS = 500


def _real(name: str, reach: float, doc: str = "") -> Field:
    return Field(name, "float64", low=-reach, high=reach, doc=doc)


def _whole(name: str, low: int, high: int, doc: str = "") -> Field:
    return Field(name, "int32", low=low, high=high, step=1, doc=doc)


def _edges(limit: float) -> tuple[float, ...]:
    """Return the last value inside and the first value outside, on both sides."""
    return tuple(side * value for side in (-1, 1) for value in (limit, math.nextafter(limit, 9)))


X = _real("x", 3.0, "the cart's position")
X_DOT = _real("x_dot", 6.0)
THETA = _real("theta", 0.3, "the pole's angle, radians; 0 is upright, positive leans right")
THETA_DOT = _real("theta_dot", 6.0)
ELAPSED = _whole("elapsed", 0, STEPS - 1, "steps of the episode; the wrapper's count")
BEYOND = _whole("beyond", -1, 2, "steps since the episode ended; -1 while it runs (None)")
RNG = Field(
    "rng",
    "uint32",
    (8,),
    low=0,
    high=2**32 - 1,
    step=1,
    names=tuple(f"{word}{n}" for word in ("state", "inc") for n in range(4)),
    doc="the generator's 128-bit state and increment, lowest word first; the start used it up",
)
SEED = Field("seed", "uint32", (2,), low=0, high=2**32 - 1, step=1)
ACTION = _whole("action", 0, 1)
REWARD = Field("reward", "float32")

MODULES = (
    Module(
        "start",
        inputs=(SEED,),
        outputs=(X, X_DOT, THETA, THETA_DOT, RNG),
        source=f"{_FILE}:235-243",
        doc="Four draws in [-0.05, 0.05).",
    ),
    Module(
        "push",
        inputs=(X_DOT, THETA, THETA_DOT, ACTION),
        outputs=(X_DOT, THETA_DOT),
        landmarks=(0.0, THETA_LIMIT, -THETA_LIMIT),
        source=f"{_FILE}:171-190",
        doc="The speeds after the step: force, gravity, explicit Euler.",
    ),
    Module(
        "move",
        inputs=(X, X_DOT, THETA, THETA_DOT),
        outputs=(X, THETA),
        landmarks=(0.0,),
        source=f"{_FILE}:187-189",
        doc="The positions after the step, from the speeds of before it.",
    ),
    Module(
        "judge",
        inputs=(X, THETA, BEYOND),
        outputs=(Field("terminated", "bool"), REWARD, BEYOND),
        needs=("move",),
        landmarks=(0.0, *_edges(X_LIMIT), *_edges(THETA_LIMIT)),
        source=f"{_FILE}:199-221",
        doc="Whether the episode is over, and the reward. Inputs are the values after the move.",
    ),
    Module(
        "limit",
        inputs=(ELAPSED,),
        outputs=(ELAPSED, Field("truncated", "bool")),
        source="wrappers/common.py:130-136",
        doc="Counts the step; the 500th is the last.",
    ),
)


def contract(params: Mapping[str, Any]) -> Contract:
    """Return the contract of cartpole-v0. It has no parameters."""
    return Contract(
        version="cartpole-v0",
        params=dict(params),
        action=Discrete(2, ("push left", "push right")),
        observation=Field("obs", "float32", (4,), names=PARTS),
        state=(X, X_DOT, THETA, THETA_DOT, ELAPSED, BEYOND, RNG),
        modules=MODULES,
        randomness=Randomness(
            "NumPy's own PCG64 from the reference's own seed",
            parts={"start": tuple(f"state.{name}" for name in PARTS)},
        ),
        events=EVENTS,
        measures=(
            Measure("farthest cart", "state.x"),
            Measure("widest angle", "state.theta"),
            Measure("fastest cart", "state.x_dot"),
            Measure("fastest pole", "state.theta_dot"),
        ),
        drivers=("random", "sticky", "balancing", "seeking"),
        horizon=STEPS,
        # Trained for longer, all reach the time limit always, and equal scores show nothing. These
        # score 450 to 500: ten from either side cannot show less than 5 %.
        transfer=Transfer(margin=25.0, solved=450.0, steps=120_000, ppo=TRAINING, episodes=64),
    )
