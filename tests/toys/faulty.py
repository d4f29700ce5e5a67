"""Oracles that crash (always or once), hang, raise, exit, dawdle or return the wrong dtype. Toys.

They do so at the third step.
"""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.environment import Environment, OracleRef, Parameter, Probe
from twinstep.frames import Frame


def contract(params):
    return Contract(
        version="faulty-v0",
        params=dict(params),
        action=Discrete(2),
        observation=Field("obs", "int32"),
        state=(Field("n", "int32", low=0, high=9, step=1),),
        randomness=Randomness("none"),
        drivers=("random",),
        horizon=6,
    )


class Oracle:
    def __init__(self, contract):
        self.fault, self.n = contract.params["fault"], 0

    def reset(self, start):
        self.n = 0
        return self._frame()

    def step(self, action):
        self.n += 1
        if self.n == 3:
            if self.fault == "once" and not os.path.exists("crashed"):
                os.mkdir("crashed")
                os.kill(os.getpid(), signal.SIGSEGV)
            elif self.fault == "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            elif self.fault == "hang":
                time.sleep(600)
            elif self.fault == "exit":
                os._exit(7)
            elif self.fault == "slow":
                time.sleep(0.2)
            elif self.fault == "raise":
                raise ZeroDivisionError("in the reference")
        return self._frame()

    def load(self, state):
        self.n = int(state["n"])

    def close(self):
        pass

    def _frame(self):
        dtype = np.float64 if self.fault == "dtype" and self.n == 3 else np.int32
        return Frame(
            np.zeros(1, dtype), np.zeros(1, np.float32), np.bool_(False), np.bool_(self.n >= 6),
            np.ones(1, bool), None, {"n": np.int32(self.n)},
        )  # fmt: skip


def probe(params):
    return Probe({"faulty": "1"})


_HERE = "twinstep.tests.toys.faulty"
FAULTY = Environment(
    "faulty",
    contract,
    OracleRef("a toy", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys", limit=1.0),
    (),
    parameters=(Parameter("fault", "none", "what goes wrong", str),),
)
