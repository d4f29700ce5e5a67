"""Tipping: the drifting pendulum, ended where it tips over. Physics has resync gates, ends not."""

from __future__ import annotations

import dataclasses

import numpy as np

from twinstep.environment import CandidateRef, Environment, OracleRef
from twinstep.gates import GateRule, Lockstep, Resync
from twinstep.tests.toys import drift

_TIPS = 2.2


def contract(params):
    rules = (
        GateRule(Lockstep(), fields="t*ated"),
        GateRule(Lockstep(), fields="state.clock"),
        GateRule(Lockstep(), fields="acting"),
        GateRule(Resync(1e-4)),
    )
    return dataclasses.replace(drift.contract(params), version="tipping-v0", gates=rules)


def _ended(frame):
    return frame._replace(terminated=np.abs(frame.state["angle"]) > _TIPS)


class Oracle(drift.Oracle):
    def _frame(self, reward):
        return _ended(super()._frame(reward))


class Fast(drift.Fast64):
    def _frame(self, state, reward):
        return _ended(super()._frame(state, reward))


class Wrong(Fast):
    """Planted: a tenth more damping, which no single step shows in `terminated`."""

    damping = drift.DAMPING * 1.1


_HERE = "twinstep.tests.toys.tipping"
TIPPING = Environment(
    "tipping",
    contract,
    OracleRef(
        "the toy's own Python", f"{_HERE}:Oracle", "twinstep.tests.toys.drift:probe",
        "twinstep.tests.toys",
    ),
    (CandidateRef("fast", f"{_HERE}:Fast"), CandidateRef("wrong", f"{_HERE}:Wrong")),
)  # fmt: skip
