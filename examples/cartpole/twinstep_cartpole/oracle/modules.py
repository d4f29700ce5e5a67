"""Module calls: the reference has no such functions, so a step is arranged to show one.

A state is loaded, one step played, and the fields that the module owns are read. The inputs hide
the step's other effects: speeds of 0 leave the positions as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep import Contract, Frame, Oracle, Start


def call(
    oracle: Oracle, contract: Contract, module: str, inputs: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Evaluate a module of the contract on inputs with a leading N; outputs have one too."""
    declared = contract.module(module)
    rows = zip(*(np.asarray(inputs[field.name]) for field in declared.inputs), strict=True)
    names = [field.name for field in declared.inputs]
    frames = [_frame(oracle, contract, dict(zip(names, row, strict=True))) for row in rows]
    outputs = {}
    for field in declared.outputs:
        values = np.stack([frame[field.name] for frame in frames]).astype(field.dtype)
        outputs[field.name] = values.reshape(len(frames), *field.shape)
    return outputs


def _frame(oracle: Any, contract: Contract, given: dict[str, Any]) -> dict[str, Any]:
    """Return the frame and its state, by name, that show the module's outputs for one row."""
    if "seed" in given:
        return _by_name(oracle.reset(Start(given["seed"])))
    still = {field.name: np.zeros(field.shape, field.dtype) for field in contract.state}
    action = given.pop("action", 0)
    oracle.load(still | {"beyond": np.int32(-1)} | given)
    return _by_name(oracle.step(np.array([action], np.int32)))


def _by_name(frame: Frame) -> dict[str, Any]:
    return {**frame.state, **frame._asdict()}
