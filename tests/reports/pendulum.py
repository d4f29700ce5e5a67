"""A pendulum whose cost has three terms, told in `info`. Its torque is clamped."""

import math

import numpy as np

from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.tests.reports.rules import SHIPPED, Rules, declared, hashed


class Pendulum(Rules):
    weights = (1.0, 0.1, 0.001)

    def begin(self, seed):
        self.angle = hashed(seed, 1) % 6283 / 1000 - 3.141
        self.speed = hashed(seed, 2) % 2000 / 1000 - 1
        self.clock, self.costs = 0, (0.0, 0.0, 0.0)

    def play(self, action):
        raw = float(np.ravel(action)[0])
        torque = min(max(raw, -2.0), 2.0)
        angle = (self.angle + math.pi) % (2 * math.pi) - math.pi
        sizes = angle**2, self.speed**2, self.charged(raw, torque) ** 2
        self.costs = tuple(-w * size for w, size in zip(self.weights, sizes, strict=True))
        self.speed += 0.05 * (15 * math.sin(self.angle) + 3 * torque)
        self.speed = min(max(self.speed, -8.0), 8.0)
        self.angle += 0.05 * self.speed
        self.clock += 1
        return self.summed(), False, self.clock >= 30

    def charged(self, raw, torque):
        """Return the torque that is paid for."""
        return torque

    def summed(self):
        return sum(self.costs)

    def seen(self):
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed])

    def info(self):
        return dict(zip(("cost_angle", "cost_speed", "cost_torque"), self.costs, strict=True))


class Short(Pendulum):
    """envpool 143: the reward lacks a term."""

    def summed(self):
        return self.costs[0] + self.costs[2]


class Raw(Pendulum):
    """Gym.jl 25: the raw torque is used where the clamped one belongs."""

    def charged(self, raw, torque):
        return raw


class Heavy(Pendulum):
    """rlevo 992: the cost's weight is ten times too large."""

    weights = (1.0, 0.1, 0.01)


def contract(params):
    return Contract(
        version="pendulum-v0",
        params=dict(params),
        action=Box(-2.0, 2.0, (1,), beyond=1.5),
        observation=Field("obs", "float64", (3,), names=("cos", "sin", "speed")),
        state=(
            Field("angle", "float64", low=-3.14, high=3.14),
            Field("speed", "float64", low=-8, high=8),
            Field("clock", "int32", low=0, high=29, step=1),
        ),
        reward_dtype="float64",
        randomness=Randomness("both hash the seed", parts={"start": ("obs",)}),
        horizon=30,
        placed=64,
        shipped=SHIPPED,
    )


HOOKS = {"fields": {name: name for name in ("angle", "speed", "clock")}}
Oracle = oracle_from_gym(Pendulum, **HOOKS)
Right = from_gym(Pendulum, **HOOKS)
Term = from_gym(Short, **HOOKS)
Torque = from_gym(Raw, **HOOKS)
Weight = from_gym(Heavy, **HOOKS)
ENV = declared("pendulum", contract, ("Right", "Term", "Torque", "Weight"))
