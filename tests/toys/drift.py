"""Drift: a driven, damped pendulum, too chaotic for any f32 code to follow for long. A toy."""

from __future__ import annotations

import math

import numpy as np

from twinstep.contract import Box, Contract, Field, Randomness
from twinstep.environment import CandidateRef, Environment, OracleRef, Probe
from twinstep.frames import Frame
from twinstep.gates import GateRule, Lockstep, Resync, Window

STEP, DAMPING, DRIVE = 0.1, 0.05, 1.4


def contract(params):
    real = lambda name, top: Field(name, "float64", low=-top, high=top)  # noqa: E731
    return Contract(
        version="drift-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, dtype="float64"),
        observation=Field("obs", "float64", (3,), names=("cos", "sin", "speed")),
        state=(
            real("angle", 20.0),
            real("speed", 5.0),
            Field("clock", "int32", low=0, high=60, step=1),
        ),
        randomness=Randomness(
            "the start is drawn from the seed", parts={"angle": ("state.angle",)}
        ),
        reward_dtype="float64",
        gates=(
            GateRule(Lockstep(), fields="t*ated"),
            GateRule(Lockstep(), fields="state.clock"),
            GateRule(Lockstep(), fields="acting"),
            GateRule(Window(5, 1e-3), fields="state.angle", dtype="float32"),
            GateRule(Resync(1e-4, above=((2e-5, 0.01), (3e-6, 0.5))), dtype="float32"),
            GateRule(Lockstep(atol=1e-6), dtype="float64"),
        ),
        drivers=("random", "sticky"),
        horizon=80,
    )


class Oracle:
    """The reference: one pendulum in Python's floats."""

    def __init__(self, contract):
        self.angle = self.speed = 0.0
        self.clock = 0

    def reset(self, start):
        words = [int(word) for word in start.seed]
        self.angle = (words[0] * 0.6180339887 + words[1] * 0.1) % 1.0 * 4.0 - 2.0
        self.speed, self.clock = 0.0, 0
        return self._frame(0.0)

    def load(self, state):
        self.angle, self.speed = float(state["angle"]), float(state["speed"])
        self.clock = int(state["clock"])

    def step(self, action):
        force = DRIVE * float(action[0]) - math.sin(self.angle) - DAMPING * self.speed
        self.speed += STEP * force
        self.angle += STEP * self.speed
        self.clock += 1
        return self._frame(-abs(self.speed))

    def close(self):
        pass

    def _frame(self, reward):
        return Frame(
            obs=np.array([[math.cos(self.angle), math.sin(self.angle), self.speed]]),
            reward=np.array([reward]),
            terminated=np.bool_(False),
            truncated=np.bool_(self.clock >= 60),
            acting=np.ones(1, bool),
            legal=None,
            state={
                "angle": np.float64(self.angle),
                "speed": np.float64(self.speed),
                "clock": np.int32(self.clock),
            },
        )


class Fast64:
    """All pendulums at once, in float64."""

    dtype, platform, damping = "float64", "cpu", DAMPING

    def __init__(self, contract):
        self.real = np.dtype(self.dtype).type

    def reset(self, starts):
        seed = np.asarray(starts.seed, np.float64)
        angle = np.mod(seed[:, 0] * 0.6180339887 + seed[:, 1] * 0.1, 1.0) * 4.0 - 2.0
        state = (angle.astype(self.real), np.zeros(len(seed), self.real), np.zeros(len(seed), int))
        return state, self._frame(state, np.zeros(len(seed), self.real))

    def load(self, fields):
        angle, speed = (np.asarray(fields[n]).astype(self.real) for n in ("angle", "speed"))
        return angle, speed, np.asarray(fields["clock"]).astype(int)

    def copy(self, state):
        return tuple(part.copy() for part in state)

    def step(self, state, actions):
        angle, speed, clock = state
        push = np.asarray(actions)[:, 0].astype(self.real)
        force = self.real(DRIVE) * push - np.sin(angle) - self.real(self.damping) * speed
        speed = speed + self.real(STEP) * force
        state = (angle + self.real(STEP) * speed, speed, clock + 1)
        return state, self._frame(state, -np.abs(speed))

    def _frame(self, state, reward):
        angle, speed, clock = state
        return Frame(
            obs=np.stack([np.cos(angle), np.sin(angle), speed], -1)[:, None],
            reward=reward[:, None],
            terminated=np.zeros(len(clock), bool),
            truncated=clock >= 60,
            acting=np.ones((len(clock), 1), bool),
            legal=None,
            state={"angle": angle, "speed": speed, "clock": clock.astype(np.int32)},
        )


class Fast32(Fast64):
    """The same in float32."""

    dtype = "float32"


class Wrong32(Fast32):
    """Planted: 5 % more damping."""

    damping = DAMPING * 1.05


def probe(params):
    return Probe({"drift": "1"})


_HERE = "twinstep.tests.toys.drift"
DRIFT = Environment(
    "drift",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("f64", f"{_HERE}:Fast64"),
        CandidateRef("f32", f"{_HERE}:Fast32"),
        CandidateRef("wrong32", f"{_HERE}:Wrong32"),
    ),
)
