"""A cart with a pole, as in CartPole-v1. The starts are placed."""

import math

import numpy as np

from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.tests.reports.rules import SHIPPED, Rules, declared

NAMES = ("x", "x_dot", "theta", "theta_dot")
RANGES = (2.4, 3.0, 0.2, 3.0)
LIMIT = 500


class Cart(Rules):
    mass, pole, length, wide, limit = 1.0, 0.1, 0.5, 0.05, LIMIT

    def begin(self, seed):
        self.state = np.random.default_rng(seed).uniform(-self.wide, self.wide, 4)
        self.clock = 0

    def play(self, action):
        x, x_dot, theta, theta_dot = (float(value) for value in self.state)
        total = self.mass + self.pole
        cos, sin = math.cos(theta), math.sin(theta)
        force = 10.0 if action else -10.0
        push = (force + self.pole * self.length * theta_dot**2 * sin) / total
        turn = (9.8 * sin - cos * push) / (self.length * (4 / 3 - self.pole * cos**2 / total))
        speed = push - self.pole * self.length * turn * cos / total
        moved = x + 0.02 * x_dot, x_dot + 0.02 * speed
        turned = theta + 0.02 * theta_dot, theta_dot + 0.02 * turn
        self.state, self.clock = np.array([*moved, *turned]), self.clock + 1
        over = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return 1.0, over, self.clock >= self.limit

    def seen(self):
        return self.state


class Swapped(Cart):
    """PufferLib 447: the masses of cart and pole are each other's."""

    mass, pole = 0.1, 1.0


class TenTimes(Cart):
    """gym-rs 7: the port's own starts are ten times as wide."""

    wide = 0.5


class Endless(Cart):
    """envpool 179: the limit of 500 steps is never enforced."""

    limit = 1 << 30


def make_start(seed):
    return {"state": np.random.default_rng(seed).uniform(-0.05, 0.05, 4)}


def contract(params):
    return Contract(
        version="cart-v0",
        params=dict(params),
        action=Discrete(2),
        observation=Field("obs", "float64", (4,), names=NAMES),
        state=(
            *(Field(n, "float64", low=-r, high=r) for n, r in zip(NAMES, RANGES, strict=True)),
            Field("clock", "int32", step=1),
        ),
        starts=(Field("state", "float64", (4,)),),
        make_start=make_start,
        randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
        horizon=LIMIT,
        placed=64,
        shipped=SHIPPED,
    )


def place(env, start):
    env.state = np.array(start.fields["state"])
    return env.state


HOOKS = {
    "place": place,
    "fields": {name: f"state[{at}]" for at, name in enumerate(NAMES)} | {"clock": "clock"},
}
Oracle = oracle_from_gym(Cart, **HOOKS)
Right = from_gym(Cart, **HOOKS)
Masses = from_gym(Swapped, **HOOKS)
Wide = from_gym(TenTimes, **HOOKS)
Uncut = from_gym(Endless, **HOOKS)
ENV = declared("cart", contract, ("Right", "Masses", "Wide", "Uncut"))
