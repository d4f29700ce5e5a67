"""Candidates that are wrong only where a careless suite would not look. Toys."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from twinstep.environment import CandidateRef, Parameter, Variant
from twinstep.errors import UserError
from twinstep.frames import Frame, Start
from twinstep.gates import GateRule, Window
from twinstep.tests.toys import drift, duel, faulty


def stacked(frames):
    heads = {n: np.stack([getattr(f, n) for f in frames]) for n in Frame._fields if n != "state"}
    return Frame(
        **heads, state={n: np.stack([f.state[n] for f in frames]) for n in frames[0].state}
    )


class RightInRollout(duel.Vector):
    """Planted: a single step pays 1000 too much; a rollout does not."""

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        return state, frame._replace(reward=frame.reward + 1000)

    def rollout(self, state, actions):
        frames = []
        for action in actions:
            state, frame = super().step(state, action)
            frames.append(frame)
        return state, stacked(frames)


class RightInTwoBatches(duel.Vector):
    """Planted: right only in the batches that the harness replays episodes in."""

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        wrong = len(actions) not in (32, 128)
        return state, frame._replace(reward=frame.reward + 1000 * wrong)


class WrongInOddBatches(duel.Vector):
    """Planted: wrong in batches of an odd number of lanes but one, which no default has."""

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        wrong = len(actions) > 1 and len(actions) % 2
        return state, frame._replace(reward=frame.reward + np.float32(1000 * wrong))


class WrongInAThousand(duel.Vector):
    """Planted: wrong in one size alone, which only who uses it can name."""

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        return state, frame._replace(reward=frame.reward + np.float32(len(actions) == 1000))


class OneGame(duel.Vector):
    """Planted: the state stays in the candidate, and what it returns for one is a token."""

    copy = None

    def reset(self, starts):
        self._state, frame = super().reset(starts)
        return 0, frame

    def step(self, state, actions):
        self._state, frame = super().step(self._state, actions)
        return state, frame


class OneGamePerSeeds(duel.Vector):
    """Planted: games that begin with the same seeds are one."""

    copy = None

    def reset(self, starts):
        state, frame = super().reset(starts)
        name = np.asarray(starts.seed).tobytes()
        self._games = {**getattr(self, "_games", {}), name: state}
        return name, frame

    def step(self, state, actions):
        self._games[state], frame = super().step(self._games[state], actions)
        return state, frame


class PoolOfStates(duel.Vector):
    """Planted: 256 steps after a state was made its place is another's."""

    copy = None

    def reset(self, starts):
        state, frame = super().reset(starts)
        return self._kept(state), frame

    def step(self, state, actions):
        state, frame = super().step(self._pool[state % 256], actions)
        return self._kept(state), frame

    def load(self, fields):
        return self._kept(super().load(fields))

    def _kept(self, state):
        self._pool = getattr(self, "_pool", [None] * 256)
        self._made = getattr(self, "_made", 0) + 1
        self._pool[self._made % 256] = state
        return self._made


class Saves(duel.Vector):
    """It shows its states, so that they can be saved."""

    def frame(self, state):
        values, key = state
        return self._frame(values, key, np.zeros((len(key), 2), np.float32))


class WrongAfterManySteps(duel.Vector):
    """Planted: after 20,000 calls in one process every step pays one point more."""

    _calls = 0

    def step(self, state, actions):
        self._calls += 1
        state, frame = super().step(state, actions)
        return state, frame._replace(reward=frame.reward + np.float32(self._calls > 20_000))


class SavesOneStoneLess(Saves):
    """Planted: what it shows of a state, and so what is saved, lacks a stone."""

    def frame(self, state):
        frame = super().frame(state)
        heap = np.asarray(frame.state["heap"])
        return frame._replace(state={**frame.state, "heap": np.maximum(heap - 1, 0)})


class RingOfBuffers(duel.Vector):
    """Planted: its frames are views of six buffers in turn."""

    _ring = None

    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        if self._ring is None or self._ring[0].shape != frame.reward.shape:
            self._ring, self._turn = [np.zeros_like(frame.reward) for _ in range(6)], 0
        self._turn = (self._turn + 1) % 6
        self._ring[self._turn][:] = frame.reward
        return frame._replace(reward=self._ring[self._turn])


class WrongInOneBatch(duel.Vector):
    """Planted: wrong in the batch that episodes are replayed in, not when asked again alone."""

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        wrong = (len(actions) == 128) & (state[0][3] == 5)
        return state, frame._replace(reward=frame.reward + wrong[:, None].astype(np.float32))


class _Masked(duel.Vector):
    mask = (0xFFFFFFFF, 0xFFFFFFFF)

    def reset(self, starts):
        seed = np.asarray(starts.seed) & np.array(self.mask, np.uint32)
        return super().reset(Start(seed, starts.fields))


class NoWord0(_Masked):
    """Planted: the first word of the seed is ignored."""

    mask = (0, 0xFFFFFFFF)


class NoWord1(_Masked):
    """Planted: the second word of the seed is ignored."""

    mask = (0xFFFFFFFF, 0)


class NoHighBit(_Masked):
    """Planted: the highest bit of the first word is ignored."""

    mask = (0x7FFFFFFF, 0xFFFFFFFF)


class NoMiddleBit(_Masked):
    """Planted: one bit in the middle of the second word is ignored."""

    mask = (0xFFFFFFFF, 0xFFFFFFFF ^ 1 << 13)


class OneBuffer(duel.Vector):
    """Planted: all frames of a batch share one buffer, which the next step writes over."""

    def __init__(self, contract):
        super().__init__(contract)
        self.buffers = {}

    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        held = self.buffers.setdefault(len(reward), frame)
        for name, array in {**frame._asdict(), **frame.state}.items():
            if name != "state":
                (held.state if name in held.state else held._asdict())[name][...] = array
        return held


class OneBufferWrongMask(OneBuffer, duel.WrongMask):
    """Planted: a wrong mask as well."""


class RaisesInCopy(duel.Vector):
    """Planted: `copy`, which tests call as it is, raises."""

    def copy(self, state):
        raise ValueError("cannot copy")


class SkipsInCopy(duel.Vector):
    """Planted: `copy` skips the test it is called in."""

    def copy(self, state):
        pytest.skip("nothing to see here")


class WrongReset32(drift.Fast32):
    """Planted: the first frame has another angle, speed and reward; later states are loaded."""

    def reset(self, starts):
        (angle, speed, clock), _ = super().reset(starts)
        state = (angle + self.real(7), speed + self.real(3), clock)
        return state, self._frame(state, np.full(len(clock), 99, self.real))


class WrongTail32(drift.Fast32):
    """Planted: the angle is wrong in the last three of sixty steps: no whole window of seven."""

    def _frame(self, state, reward):
        frame = super()._frame(state, reward)
        frame.state["angle"] = np.where(state[2] >= 58, state[0] + self.real(5), state[0])
        return frame


class Counter:
    """A right candidate of the environment whose oracle fails."""

    dtype, platform = "float32", "cpu"

    def __init__(self, contract):
        pass

    def reset(self, starts):
        n = np.zeros(len(starts.seed), np.int32)
        return n, self._frame(n)

    def step(self, state, actions):
        return state + 1, self._frame(state + np.int32(1))

    def _frame(self, n):
        none = np.zeros((len(n), 1), np.float32)
        ends = (np.zeros(len(n), bool), n >= 6)
        return Frame(none.astype(np.int32), none, *ends, none == 0, None, {"n": n})


def _windows(params):
    """Return Drift's contract with a window gate of this length."""
    made = drift.contract(params)
    gates = (GateRule(Window(params["window"], 1e-3), "state.angle", dtype="float32"), *made.gates)
    return dataclasses.replace(made, gates=gates)


def _no_table(seed):
    raise UserError("table.csv cannot be read: make it anew")


def _faulty(params):
    made = faulty.contract(params)
    return dataclasses.replace(made, make_start=_no_table if params["fault"] == "user" else None)


def _refs(*made: type) -> tuple[CandidateRef, ...]:
    return tuple(CandidateRef(m.__name__.lower(), f"{m.__module__}:{m.__name__}") for m in made)


DUEL = dataclasses.replace(
    duel.DUEL,
    candidates=_refs(
        duel.Vector, duel.WrongMask, RightInRollout, RightInTwoBatches, WrongInOneBatch,
        WrongInOddBatches, WrongInAThousand, OneGame, OneGamePerSeeds, PoolOfStates,
        WrongAfterManySteps, Saves, SavesOneStoneLess, RingOfBuffers, NoWord0,
        NoWord1, NoHighBit, NoMiddleBit, OneBuffer, OneBufferWrongMask, RaisesInCopy, SkipsInCopy,
    ),
)  # fmt: skip
DRIFT = dataclasses.replace(
    drift.DRIFT,
    contract=_windows,
    candidates=_refs(drift.Fast64, drift.Fast32, WrongReset32, WrongTail32),
    parameters=(Parameter("window", 5, "steps of the window gate"),),
)
FAULTY = dataclasses.replace(
    faulty.FAULTY,
    contract=_faulty,
    candidates=_refs(Counter),
    variants=tuple(Variant(f, {"fault": f}) for f in ("none", "raise", "crash", "once", "user")),
)
