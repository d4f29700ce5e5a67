"""Module calls: the reference has no such functions, so a step is arranged to show one.

A state is loaded, one step played and the fields read that the module owns. What else the step
does is kept out of sight: speeds of 0 leave the positions as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields, Frame, Start, flatten
from twinstep.protocols import Oracle


def call(oracle: Oracle, contract: Contract, module: str, inputs: Fields) -> dict[str, np.ndarray]:
    """Evaluate a module of the contract on inputs with a leading N; outputs have one too."""
    declared = contract.module(module)
    rows = zip(*(np.asarray(inputs[field.name]) for field in declared.inputs), strict=True)
    names = [field.name for field in declared.inputs]
    frames = [_frame(oracle, contract, dict(zip(names, row, strict=True))) for row in rows]
    outputs = {}
    for field in declared.outputs:
        path = field.name if field.name in frames[0] else f"state.{field.name}"
        values = np.stack([frame[path] for frame in frames]).astype(field.dtype)
        outputs[field.name] = values.reshape(len(frames), *field.shape)
    return outputs


def _frame(oracle: Any, contract: Contract, given: dict[str, Any]) -> dict[str, Any]:
    """Return the frame, by path, that shows what the module makes of one row of inputs."""
    if "seed" in given:
        return flatten(oracle.reset(Start(given["seed"])))
    still = {field.name: np.zeros(field.shape, field.dtype) for field in contract.state}
    action = given.pop("action", 0)
    oracle.load(still | {"beyond": np.int32(-1)} | given)
    frame: Frame = oracle.step(np.array([action], np.int32))
    return flatten(frame)
