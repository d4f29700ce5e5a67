"""Run a project before it is written, and measure one step from the same states on both sides.

Its files are put into a folder for the time of the trial and imported from there. What does not run
is one line for the user; nothing half written is left behind.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Start, flatten, take_lanes
from twinstep.inputs.sampling import sample_actions, sample_states, some_starts
from twinstep.reference.placed_states import play_from
from twinstep.runner.runner import Runner
from twinstep.runner.state_types import changed_types
from twinstep.scaffold.gate_rules import Asked, Proposal, propose
from twinstep.scaffold.render import Files

#: Placed states from which one step is measured, and resets.
STATES, RESETS = 4096, 128


@dataclass(frozen=True)
class Trial:
    """What a trial found. broken: a line on what does not run, "" if all does.

    proposal: the gates, None where one step could not be measured.
    """

    broken: str
    proposal: Proposal | None


def tried(files: Files, package: str, twin: bool) -> Trial:
    """Run reset, a step, load and a step of both sides, and measure them; twin: with a candidate.

    Without a twin the candidate is a skeleton, and the reference alone is run.
    """
    broken, proposal = "", None
    with _imported(files, package) as load, contextlib.ExitStack() as scope:
        side = "the reference"
        try:
            contract = load("contract").contract({})
            oracle = load("oracle.bridge").Reference(contract)
            scope.callback(oracle.close)
            _play(oracle, contract)
            if twin:
                side = "the candidate"
                broken, proposal = measure(load("fast.candidate"), oracle, contract)
        except Exception as error:  # either side's own
            text = str(error).strip().partition("\n")[0]
            text = text or type(error).__name__
            broken = text if text.startswith(side) else f"{side}: {text}"
    return Trial(broken and f"What is written does not run yet: {broken}", proposal)


@contextlib.contextmanager
def _imported(files: Files, package: str) -> Iterator[Callable[[str], ModuleType]]:
    """Give a function that imports the package's modules from files that exist no longer after."""

    def forget() -> dict[str, ModuleType]:
        names = [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]
        return {name: sys.modules.pop(name) for name in names}

    known, quiet = forget(), sys.dont_write_bytecode
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
        try:
            yield lambda name: importlib.import_module(f"{package}.{name}")
        finally:
            sys.path.remove(folder)
            sys.dont_write_bytecode = quiet
            forget()
            sys.modules.update(known)
            importlib.invalidate_caches()


def _play(oracle: Any, contract: Contract) -> None:
    """Let the reference play its reset, a step, and a step from its own state."""
    start = take_lanes(some_starts(contract, 1), 0)
    action = sample_actions(contract, 1, np.random.default_rng(0))[0]
    first = oracle.reset(start)
    if first.legal is not None:
        action = np.asarray(first.legal).argmax(-1).astype(action.dtype)
    oracle.step(action)
    if hasattr(oracle, "load"):
        oracle.load(first.state)
        oracle.step(action)


def measure(module: Any, oracle: Any, contract: Contract) -> tuple[str, Proposal | None]:
    """Return a line on what does not run, and what one step of both sides differs by.

    module: has `Fast(contract)`, which builds the candidate in the dtype that `DTYPE` names then.
    """
    rng = np.random.default_rng(0)
    starts = some_starts(contract, RESETS)
    runner = Runner(contract, module.Fast(contract), "candidate")
    if changed := changed_types(runner.candidate):
        return f"the candidate's step changes the types of its state: {changed}", None
    if not runner.offers("load") or not hasattr(oracle, "load") or not contract.placed:
        runner.step(runner.reset(starts)[0], sample_actions(contract, RESETS, rng))
        return "", None
    states = sample_states(contract, STATES, rng)
    actions = sample_actions(contract, STATES, rng)
    begin = Start(np.zeros((STATES, 2), np.uint32), _repeated(starts, STATES))
    frames, _ = play_from(oracle, contract, states, actions[None], begin, lambda lane, step: None)
    resets = [flatten(oracle.reset(take_lanes(starts, lane))) for lane in range(RESETS)]
    want = _joined(contract, frames, {p: np.stack([r[p] for r in resets]) for p in frames})
    got = {}
    # One that is no JAX program has the precision that it has.
    for dtype in ("float32", "float64") if hasattr(module, "DTYPE") else ("float64",):
        _compute_in(module, dtype)
        runner = Runner(contract, module.Fast(contract), "candidate")
        got[dtype] = _joined(
            contract, runner.play_from(states, actions[None]), runner.reset(starts)[1]
        )
    return "", propose(contract, Asked(states, actions, want, got))


def _compute_in(module: Any, dtype: str) -> None:
    """Let the candidates that are built next compute in a dtype."""
    module.DTYPE = dtype  # read where its own functions are traced
    if isinstance(module.Fast, type) and hasattr(module.Fast, "hooks"):
        module.Fast.hooks["dtype"] = dtype  # of a class that `twinstep.inward` has made


def _repeated(starts: Start, count: int) -> dict[str, np.ndarray]:
    return {name: np.resize(v, (count, *v.shape[1:])) for name, v in starts.fields.items()}


def _joined(
    contract: Contract, steps: dict[str, np.ndarray], resets: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return frames [N, ...] of steps [1, S, ...] and of resets [R, ...]."""
    return {
        path: np.concatenate([np.asarray(steps[path])[0], np.asarray(resets[path])])
        for path in contract.compared_paths()
    }
