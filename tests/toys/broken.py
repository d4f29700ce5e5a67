"""Candidates of Duel and Drift that raise, or return what the contract does not allow. Toys."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from twinstep.environment import CandidateRef
from twinstep.protocols import NotCallable
from twinstep.tests.toys import drift, duel


class WrongShape(duel.Vector):
    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        return frame._replace(obs=frame.obs[:, 0])


class WrongDtype(duel.Vector):
    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        return frame._replace(reward=frame.reward.astype(np.int32))


class MissingField(duel.Vector):
    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        del frame.state["left"]
        return frame


class ExtraField(duel.Vector):
    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        frame.state["luck"] = frame.state["heap"]
        return frame


class RaggedField(duel.Vector):
    def _frame(self, values, key, reward):
        return super()._frame(values, key, reward)._replace(acting=[[True], [True, False]])


class Masked(duel.Vector):
    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        return frame._replace(obs=np.ma.masked_array(frame.obs, mask=frame.obs > 0))


class NoFrame(duel.Vector):
    def _frame(self, values, key, reward):
        return super()._frame(values, key, reward)._asdict()


class NoState(duel.Vector):
    def _frame(self, values, key, reward):
        return super()._frame(values, key, reward)._replace(state=None)


class FrameAlone(duel.Vector):
    def step(self, state, actions):
        return super().step(state, actions)[1]


class Nothing(duel.Vector):
    def reset(self, starts):
        pass


class ShortRollout(duel.Vector):
    def rollout(self, state, actions):
        rows = []
        for action in actions[1:]:
            state, frame = self.step(state, action)
            rows.append(frame)
        stacked = [np.stack(parts) for parts in zip(*[row[:-1] for row in rows], strict=True)]
        names = rows[0].state
        return state, type(rows[0])(
            *stacked, {n: np.stack([r.state[n] for r in rows]) for n in names}
        )


class RaisesInFactory(duel.Vector):
    def __init__(self, contract):
        raise ValueError("no table for this contract\nand a second line")


class RaisesInReset(duel.Vector):
    def reset(self, starts):
        raise ZeroDivisionError("no stones")


class RaisesInStep(duel.Vector):
    words = "round 3 is beyond the table"

    def step(self, state, actions):
        if state[0][3].max() == 3:
            raise IndexError(self.words)
        return super().step(state, actions)


class WrongThenRaises(RaisesInStep):
    """Planted: the first player is paid one more in the second step, two before it raises."""

    words = "after the difference"

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        more = np.zeros_like(frame.reward)
        more[:, 0] = state[0][3] == 2
        return state, frame._replace(reward=frame.reward + more)


class RaisesInRollout(duel.Vector):
    def rollout(self, state, actions):
        raise NotImplementedError("not yet")


class RaisesInCall(duel.Vector):
    def call(self, module, inputs):
        raise KeyError(module)


class ListFromCall(duel.Vector):
    def call(self, module, inputs):
        return list(super().call(module, inputs).values())


class SkipsItsTest(duel.Vector):
    def step(self, state, actions):
        pytest.skip("nothing to see here")


class Exits(duel.Vector):
    def reset(self, starts):
        sys.exit(0)


class DtypeIsNoText(duel.Vector):
    dtype = np.float32


class SaysGpu(duel.Vector):
    platform = "gpu"


class Wider(duel.Vector):
    """Gives more digits than the contract has, which a comparison in its dtype rounds away."""

    dtype = "float64"

    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        return frame._replace(reward=frame.reward.astype(np.float64) + 1e-12)


class Half(duel.Vector):
    """Gives fewer digits, which happen to be enough for these rewards."""

    dtype = "float16"

    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        return frame._replace(reward=frame.reward.astype(np.float16))


class NotANumber(drift.Fast64):
    """Planted: the speed is lost in the fourth step."""

    def step(self, state, actions):
        angle, speed, clock = state
        return super().step((angle, np.where(clock == 3, np.nan, speed), clock), actions)


class NotANumber32(NotANumber):
    dtype = "float32"


_HERE = "twinstep.tests.toys.broken"
_BROKEN = (
    WrongShape, WrongDtype, MissingField, ExtraField, RaggedField, Masked, NoFrame, NoState,
    FrameAlone, Nothing, ShortRollout, RaisesInFactory, RaisesInReset, RaisesInStep,
    RaisesInRollout, WrongThenRaises, RaisesInCall, ListFromCall, SkipsItsTest, Exits,
    DtypeIsNoText, SaysGpu, Wider, Half,
)  # fmt: skip
DUEL = dataclasses.replace(
    duel.DUEL,
    candidates=(
        duel.DUEL.candidates[0],
        *[CandidateRef(made.__name__.lower(), f"{_HERE}:{made.__name__}") for made in _BROKEN],
        CandidateRef("nosuchname", f"{_HERE}:NoSuchName"),
        CandidateRef("nosuchmodule", "twinstep.tests.toys.nowhere:Fast"),
        CandidateRef("nosuchpackage", "nowhere.at.all:Fast"),
        CandidateRef("nosuchprobe", f"{duel.__name__}:Vector", probe="nowhere.at.all:probe"),
    ),
)
DRIFT = dataclasses.replace(
    drift.DRIFT,
    candidates=(
        CandidateRef("f64", "twinstep.tests.toys.drift:Fast64"),
        CandidateRef("nan64", f"{_HERE}:NotANumber"),
        CandidateRef("nan32", f"{_HERE}:NotANumber32"),
    ),
)


class RefusesToCall(duel.Oracle):
    """A reference whose modules cannot be called with any inputs."""

    def call(self, module, inputs):
        raise NotCallable("no stones of that kind")


REFUSING = dataclasses.replace(
    duel.DUEL,
    name="refusing",
    oracle=dataclasses.replace(duel.DUEL.oracle, factory=f"{_HERE}:RefusesToCall"),
)
