"""The module calls of one step, used to name the first one that differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Array, Fields
from twinstep.protocols import ModuleCall

#: Substeps of a step.
SUBSTEPS = 5
#: The modules of a substep, in order; `substep` itself comes last.
PARTS = ("kinematics", "mass_matrix", "bias", "forces", "contacts", "rows", "newton", "euler")


def explain(
    call: Callable[[str, Fields], dict[str, np.ndarray]],
    contract: Contract,
    state: Fields,
    action: Array,
) -> list[ModuleCall]:
    """Return the calls of one step of one lane: the parts of five substeps, and the reward."""
    calls: list[ModuleCall] = []
    now: dict[str, Any] = {
        name: np.asarray(state[name]) for name in ("qpos", "qvel", "qacc_warmstart")
    }
    now["action"] = np.asarray(action, np.float32)[0]

    def play(name: str) -> dict[str, np.ndarray]:
        inputs = {
            field.name: np.asarray(now[field.name], field.dtype)
            for field in contract.module(name).inputs
        }
        outputs = call(name, {key: value[None] for key, value in inputs.items()})
        single = {key: np.asarray(value)[0] for key, value in outputs.items()}
        calls.append(ModuleCall(name, inputs, single))
        return single

    run = 0.0
    for _ in range(SUBSTEPS):
        for name in PARTS:
            found = play(name)
            if name == "newton":
                now["acceleration"] = found["qacc"]
        after = play("substep")
        run += 0.01 * float(after["next_qvel"][0])
        now["qpos"], now["qvel"] = after["next_qpos"], after["next_qvel"]
        now["qacc_warmstart"] = after["next_warmstart"]
    now["x_velocity"] = np.float64(run / (SUBSTEPS * 0.01))
    play("reward")
    return calls
