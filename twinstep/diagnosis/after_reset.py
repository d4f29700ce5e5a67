"""Decide whether a wrong first frame comes from `reset` itself or from step logic that it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.compare.arrays import Rules, frames_differ
from twinstep.contract import Discrete
from twinstep.errors import CandidateBroken, OracleFailed
from twinstep.frames import Start
from twinstep.reference.process import OracleProcess
from twinstep.runner.runner import Runner

#: Steps from the oracle's own first frame.
_STEPS = 8


def first_wrong_after_reset(
    start: Start,
    first: dict[str, Any],
    oracle: OracleProcess,
    runner: Runner,
    rules: Rules,
) -> tuple[tuple[str, ...], int]:
    """Play on from the oracle's first frame; return the modules that differ and the step count.

    A reset that plays before its first frame, like a booting console, shows the faults of a step.
    Returns ((), 0) where a module can be called alone (which shows more), where no state can be
    loaded, or where everything agrees.

    start: of one episode. first: the oracle's frame, path -> value of one lane.
    """
    contract, none = runner.contract, ((), 0)
    action = contract.action
    if any(module.inputs for module in contract.modules) or not isinstance(action, Discrete):
        return none
    if contract.masked or not (oracle.offers("load") and runner.offers("load")):
        return none
    dtype, shape = contract.action_layout()
    played = np.random.default_rng(0).integers(action.n, size=(_STEPS, 1, *shape)).astype(dtype)
    state = {f.name: first[f"state.{f.name}"] for f in contract.shown}
    begin = Start(_one(start.seed), {name: _one(value) for name, value in start.fields.items()})
    try:
        if contract.hidden:
            state |= oracle.hidden_after([(start, {}, played[:0, 0])])[0]
        states = {name: _one(value) for name, value in state.items()}
        want, _ = oracle.steps(states, played, begin)
        got = runner.play_from(states, played)
    except (CandidateBroken, OracleFailed):
        return none
    over = (want["terminated"] | want["truncated"])[:, 0]
    steps = int(over.argmax()) + 1 if over.any() else _STEPS
    wrong = frames_differ(want, got, rules.one_step())
    for step in range(steps):
        paths = {path.removeprefix("state.") for path, rows in wrong.items() if rows[step, 0]}
        if paths:
            return tuple(m.name for m in contract.modules if paths & m.owned()), step + 1
    return none


def _one(value: Any) -> np.ndarray:
    return np.asarray(value)[None]
