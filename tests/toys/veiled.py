"""Veiled: a register hidden from frames, and memory as large as a small machine's. A toy.

A byte `seen` and a hidden byte `phase`. A step adds the action to `phase`; every third time it
passes 5 it restarts and `seen` counts. Where `seen` points, the memory gets the phase's value.
"""

from __future__ import annotations

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Randomness, Role
from twinstep.environment import CandidateRef, Environment, OracleRef, Probe
from twinstep.frames import Frame

#: Bytes of memory: enough that a hundred lanes of whole episodes are too many at once.
MEMORY = 40_000
LAST = 60


def contract(params):
    return Contract(
        version="veiled-v0",
        params=dict(params),
        action=Discrete(3),
        observation=Field("obs", "uint8"),
        state=(
            Field("seen", "uint8", low=0, high=255, step=1),
            Field("time", "int32", low=0, high=LAST, step=1),
            Field("memory", "uint8", (MEMORY,), large=True),
            Field("phase", "uint8", low=0, high=5, step=1, role=Role.HIDDEN),
            Field("turns", "uint8", low=0, high=2, step=1, role=Role.HIDDEN),
        ),
        randomness=Randomness("the seed is in the memory", parts={"start": ("state.memory",)}),
        drivers=("random",),
        horizon=LAST,
        largest_batch=48,
        placed=64,
    )


class Oracle:
    """The reference, one episode, plain integers."""

    def __init__(self, contract):
        self.s = {}

    def reset(self, start):
        memory = bytearray(MEMORY)
        memory[:8] = np.asarray(start.seed, np.uint32).tobytes()
        self.s = {"seen": 0, "time": 0, "phase": 0, "turns": 0, "memory": memory}
        return self._frame()

    def load(self, state):
        self.s = {name: int(value) for name, value in state.items() if name != "memory"}
        self.s["memory"] = bytearray(np.asarray(state["memory"]).tobytes())

    def step(self, action):
        s = self.s
        s["time"] += 1
        s["phase"] += int(action[0])
        if s["phase"] > 5:
            s["phase"], s["turns"] = 0, s["turns"] + 1
        if s["turns"] == 3:
            s["turns"], s["seen"] = 0, (s["seen"] + 1) % 256
        s["memory"][8 + s["seen"]] = s["phase"]
        return self._frame()

    def hidden(self):
        return {name: np.uint8(self.s[name]) for name in ("phase", "turns")}

    def close(self):
        pass

    def _frame(self):
        s = self.s
        return Frame(
            obs=np.array([s["seen"]], np.uint8),
            reward=np.zeros(1, np.float32),
            terminated=np.bool_(False),
            truncated=np.bool_(s["time"] >= LAST),
            acting=np.ones(1, bool),
            legal=None,
            state={
                "seen": np.uint8(s["seen"]),
                "time": np.int32(s["time"]),
                "memory": np.frombuffer(bytes(s["memory"]), np.uint8),
            },
        )


class Vector:
    """The fast one. A state is (small i32[4, N], memory u8[N, MEMORY])."""

    dtype, platform, any_size = "float32", "cpu", True
    names = ("seen", "time", "phase", "turns")

    def __init__(self, contract):
        self.contract = contract

    def reset(self, starts):
        seed = np.ascontiguousarray(starts.seed, np.uint32)
        memory = np.zeros((len(seed), MEMORY), np.uint8)
        memory[:, :8] = seed.view(np.uint8)
        state = (np.zeros((4, len(seed)), np.int32), memory)
        return state, self._shown(state)

    def load(self, fields):
        small = np.stack([np.asarray(fields[name]).astype(np.int32) for name in self.names])
        return small, np.array(fields["memory"])

    def copy(self, state):
        return state[0].copy(), state[1].copy()

    def step(self, state, actions):
        (seen, time, phase, turns), memory = state
        phase = phase + np.asarray(actions)[:, 0]
        round_over = phase > 5
        phase, turns = np.where(round_over, 0, phase), turns + round_over
        seen, turns = (seen + (turns == 3)) % 256, turns % 3
        memory = memory.copy()
        memory[np.arange(len(memory)), 8 + seen] = self.noted(phase)
        state = (np.stack([seen, time + 1, phase, turns]), memory)
        return state, self._shown(state)

    def noted(self, phase):
        return phase

    def frame(self, state):
        shown = self._shown(state)
        phase, turns = state[0][2:].astype(np.uint8)
        hidden = {"phase": phase, "turns": turns}
        return shown._replace(state=shown.state | hidden)

    def _shown(self, state):
        (seen, time, _, _), memory = state
        lanes = len(memory)
        return Frame(
            obs=seen.astype(np.uint8)[:, None],
            reward=np.zeros((lanes, 1), np.float32),
            terminated=np.zeros(lanes, bool),
            truncated=time >= LAST,
            acting=np.ones((lanes, 1), bool),
            legal=None,
            state={"seen": seen.astype(np.uint8), "time": time, "memory": memory.copy()},
        )


class WrongNote(Vector):
    """Planted: a phase of 5 is written down as 4."""

    def noted(self, phase):
        return np.minimum(phase, 4)


class ForgetsTurns(Vector):
    """Planted: a loaded state restarts its turns."""

    def load(self, fields):
        return super().load({**fields, "turns": 0 * np.asarray(fields["turns"])})


class WrongHidden(Vector):
    """Planted: plays right, and gives another hidden field when it is asked."""

    def frame(self, state):
        frame = super().frame(state)
        return frame._replace(state=frame.state | {"phase": frame.state["phase"] ^ 1})


def probe(params):
    return Probe({"veiled": "1"})


_HERE = "twinstep.tests.toys.veiled"
VEILED = Environment(
    "veiled",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("vector", f"{_HERE}:Vector"),
        CandidateRef("wrongnote", f"{_HERE}:WrongNote"),
        CandidateRef("forgetsturns", f"{_HERE}:ForgetsTurns"),
        CandidateRef("wronghidden", f"{_HERE}:WrongHidden"),
    ),
)
