"""A slanted capsule that is pushed about a box, which pushes back where they touch."""

import numpy as np

from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.tests.reports.rules import SHIPPED, Rules, declared, hashed

NAMES = ("x", "y", "vx", "vy")
CORNER, RADIUS, HALF = np.array([1.0, 0.5]), 0.2, 0.6 * np.array([1.0, 1.0])


class Capsule(Rules):
    #: The places along the capsule's axis at which it may touch, from end to end.
    places = np.linspace(-1, 1, 33)[:, None]

    def begin(self, seed):
        across, up = (hashed(seed, number) % 1000 / 1000 for number in (1, 2))
        self.body = np.array([4 * across - 2, 1.5 + up, 0.0, 0.0])

    def play(self, action):
        axis = self.body[:2] + self.places * HALF
        apart = axis - np.clip(axis, -CORNER, CORNER)
        far = np.sqrt((apart**2).sum(1))
        near = int(far.argmin())
        force = 2 * np.asarray(action, float) + [0.0, -1.0]
        if 0 < far[near] < RADIUS:
            force = force + 50 * (RADIUS - far[near]) * apart[near] / far[near]
        speed = self.body[2:] + 0.05 * force
        self.body = np.concatenate([self.body[:2] + 0.05 * speed, speed])
        return -float(np.abs(action).sum()), False, False

    def seen(self):
        return self.body


class Ends(Capsule):
    """mujoco 1473, 2361: of a capsule and a box only some of the contacts are found."""

    places = np.array([[-1.0], [1.0]])


def contract(params):
    ranges = (2.0, 2.0, 2.0, 2.0)
    return Contract(
        version="contact-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, (2,)),
        observation=Field("obs", "float64", (4,), names=NAMES),
        state=tuple(
            Field(n, "float64", low=-r, high=r) for n, r in zip(NAMES, ranges, strict=True)
        ),
        reward_dtype="float64",
        randomness=Randomness("both hash the seed", parts={"start": ("obs",)}),
        truncates=False,
        ends=False,
        horizon=40,
        placed=256,
        shipped=SHIPPED,
    )


HOOKS = {"fields": {name: f"body[{at}]" for at, name in enumerate(NAMES)}}
Oracle = oracle_from_gym(Capsule, **HOOKS)
Right = from_gym(Capsule, **HOOKS)
Misses = from_gym(Ends, **HOOKS)
ENV = declared("contact", contract, ("Right", "Misses"))
