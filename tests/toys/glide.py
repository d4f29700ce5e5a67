"""Glide: a glider between walls. Rounding in every step hides what is wrong at a wall. A toy.

It claims no equality: both sides have their rules from one class, so that a candidate differs by
what is planted in it and by nothing else.
"""

from __future__ import annotations

import numpy as np

from twinstep import (
    Box,
    CandidateRef,
    Contract,
    Environment,
    Field,
    Frame,
    GateRule,
    Lockstep,
    OracleRef,
    Parameter,
    Probe,
    Randomness,
    Variant,
)

WALL, DRAG, STEPS = 1.2, 0.97, 120


def contract(params):
    gates = (GateRule(Lockstep(signed_zeros=False)),) if params["zeros"] else ()
    return Contract(
        version="glide-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, dtype="float64"),
        observation=Field("obs", "float64", (2,), names=("x", "v")),
        state=(
            Field("x", "float64", low=-WALL, high=WALL),
            Field("v", "float64", low=-0.5, high=0.5),
            Field("clock", "int32", low=0, high=STEPS - 1, step=1),
        ),
        randomness=Randomness("the start is drawn from the seed", parts={"x": ("state.x",)}),
        reward_dtype="float64",
        gates=gates,
        drivers=("random", "sticky"),
        horizon=STEPS + 1,
        placed=64,
    )


class Rules:
    """The glider's step on arrays of any shape."""

    lean = 1.0
    bounces = False

    def move(self, x, v, push):
        v = v * DRAG + push * 0.01 * self.lean
        x = x + v
        hit = np.abs(x) >= WALL
        x = np.clip(x, -WALL, WALL)
        return x, np.where(hit, v * (0.5 if self.bounces else 0.0), v)


class Oracle(Rules):
    """The reference: one glider."""

    def __init__(self, contract):
        self.x = self.v = np.float64(0)
        self.clock = 0

    def reset(self, start):
        self.x, self.v, self.clock = _place(start.seed), np.float64(0), 0
        return self._frame()

    def load(self, state):
        self.x, self.v = np.float64(state["x"]), np.float64(state["v"])
        self.clock = int(state["clock"])

    def step(self, action):
        self.x, self.v = self.move(self.x, self.v, np.float64(action[0]))
        self.clock += 1
        return self._frame()

    def close(self):
        pass

    def _frame(self):
        frame = _frames(*(np.asarray(part)[None] for part in (self.x, self.v, self.clock)))
        return Frame(
            frame.obs[0], frame.reward[0], frame.terminated[0], frame.truncated[0],
            frame.acting[0], None, {name: value[0] for name, value in frame.state.items()},
        )  # fmt: skip


class Fast(Rules):
    """All gliders at once."""

    dtype, platform = "float64", "cpu"

    def __init__(self, contract):
        pass

    def reset(self, starts):
        x = np.array([_place(seed) for seed in starts.seed])
        state = (x, np.zeros_like(x), np.zeros(len(x), np.int32))
        return state, _frames(*state)

    def load(self, fields):
        return tuple(np.array(fields[name]) for name in ("x", "v", "clock"))

    def copy(self, state):
        return tuple(part.copy() for part in state)

    def step(self, state, actions):
        x, v, clock = state
        state = (*self.move(x, v, np.asarray(actions)[:, 0]), clock + np.int32(1))
        return state, _frames(*state)


class Rounds(Fast):
    """Faithful but for the last bit of every push."""

    lean = np.nextafter(1.0, 2.0)


class RoundsAndBounces(Rounds):
    """Planted: beside the rounding, half of the speed is left at a wall."""

    bounces = True


class Bounces(Fast):
    """Planted: the bug at the wall alone."""

    bounces = True


class RoundsSeldom(Bounces):
    """Planted: the bug at the wall; on its way to the right the glider is rounded otherwise, too.

    Whoever drops the first steps of a way to the left may be left with one to the right.
    """

    def move(self, x, v, push):
        x, v = super().move(x, v, push)
        return x, np.where(v > 0, np.nextafter(v, 2.0), v)


class LateClock(Rounds):
    """Planted: beside the rounding, the clock is shown a step late."""

    def step(self, state, actions):
        clock = state[2]
        state, frame = super().step(state, actions)
        frame.state["clock"] = clock
        return state, frame


class OtherZero(Fast):
    """Faithful but for the sign of the speed at a wall, where it is zero."""

    def move(self, x, v, push):
        x, v = super().move(x, v, push)
        return x, np.where(np.abs(x) >= WALL, -v, v)


def _place(seed):
    return np.float64((int(seed[0]) * 0.61803398875 + int(seed[1]) * 0.1) % 1.0 * 2.0 - 1.0)


def _frames(x, v, clock):
    return Frame(
        obs=np.stack([x, v], -1)[:, None],
        reward=-np.abs(x)[:, None],
        terminated=np.zeros(len(x), bool),
        truncated=np.asarray(clock) >= STEPS,
        acting=np.ones((len(x), 1), bool),
        legal=None,
        state={"x": np.float64(x), "v": np.float64(v), "clock": np.int32(clock)},
    )


def probe(params):
    return Probe({"glide": "1"})


_HERE = "twinstep.tests.toys.glide"
GLIDE = Environment(
    "glide",
    contract,
    OracleRef("the toy's own NumPy", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("fast", f"{_HERE}:Fast"),
        CandidateRef("rounds", f"{_HERE}:Rounds"),
        CandidateRef("bounces", f"{_HERE}:RoundsAndBounces"),
        CandidateRef("onlybounces", f"{_HERE}:Bounces"),
        CandidateRef("seldom", f"{_HERE}:RoundsSeldom"),
        CandidateRef("lateclock", f"{_HERE}:LateClock"),
        CandidateRef("zero", f"{_HERE}:OtherZero"),
    ),
    variants=(Variant("bits", {}), Variant("zeros", {"zeros": 1})),
    parameters=(Parameter("zeros", 0, "1 if both zeros of the speed are one"),),
)
