"""Wander, whose reference shows a zero of the other sign once it was loaded, or forgets its way."""

import dataclasses

from twinstep import GateRule, OracleRef, Parameter, Resync, Variant
from twinstep.tests.toys import wander
from twinstep.tests.toys.wander import WANDER


def contract(params):
    gates = (GateRule(Resync(1e-6)),) if params["rounding"] else ()
    return dataclasses.replace(
        wander.contract({"tolerant": 0}), version="signed-v0", params=dict(params), gates=gates
    )


class Oracle(wander.Oracle):
    def __init__(self, contract):
        super().__init__(contract)
        self.forgets, self.loaded = contract.params["forgets"], False

    def reset(self, start):
        self.loaded = False
        return super().reset(start)

    def load(self, state):
        super().load(state | {"way": 0.0} if self.forgets else state)
        self.loaded = True

    def _frame(self, reward):
        frame = super()._frame(reward)
        if self.loaded:
            frame.obs[frame.obs == 0] = -0.0
        return frame


_HERE = "twinstep.tests.toys.signed"
SIGNED = dataclasses.replace(
    WANDER,
    name="signed",
    contract=contract,
    oracle=OracleRef(
        "a toy", f"{_HERE}:Oracle", "twinstep.tests.toys.wander:probe", "twinstep.tests.toys"
    ),
    candidates=WANDER.candidates[:1],
    variants=(
        Variant("exact", {}),
        Variant("rounding", {"rounding": 1}),
        Variant("forgets", {"rounding": 1, "forgets": 1}),
    ),
    parameters=(
        Parameter("rounding", 0, "1 for a gate of errors"),
        Parameter("forgets", 0, "1 if it does not load its way"),
    ),
)
