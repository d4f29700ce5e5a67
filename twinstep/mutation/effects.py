"""How much a bug changes that no gate notices: too little, or nothing at all.

Asked where gates leave room: of a candidate that must be exact, a survivor has changed nothing of
what is asked here.
"""

from __future__ import annotations

import fnmatch
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.gates import Lockstep
from twinstep.mutation.cached_oracle import RememberingReference
from twinstep.mutation.planting import planted
from twinstep.mutation.python_operators import Mutant
from twinstep.project.registry import Pair
from twinstep.runner.runner import Runner
from twinstep.testing.harness import Lab, Reference

#: Inputs per module: those that level 1 asks with.
INPUTS = 16384
Answers = dict[str, np.ndarray]


def tolerant(contract: Contract, candidate: str) -> bool:
    """Whether any gate of a candidate leaves room between equal and wrong on a CPU."""
    return any(
        not (isinstance(rule.gate, Lockstep) and rule.gate.exact)
        for rule in contract.gates
        if fnmatch.fnmatchcase(candidate, rule.candidate)
        and fnmatch.fnmatchcase("cpu", rule.platform)
    )


def answers(reference: RememberingReference, pair: Pair, mutant: Mutant | None) -> Answers:
    """Return what a candidate with a bug (None: without) gives at levels 1 and 2, by name."""
    with planted(pair.candidate, mutant):
        return answered(Lab(pair, reference).runner, reference)


def answered(runner: Runner, reference: Reference, only: str = "") -> Answers:
    """Return what a candidate gives where a reference draws and places what is asked, by name.

    `MODULE.FIELD` of modules called alone, `step: PATH` of one step from placed states. only: the
    one module that is asked, and no step.
    """
    made: Answers = {}
    contract = runner.contract
    for module in contract.modules:
        if not (module.inputs and runner.offers("call")) or only not in ("", module.name):
            continue
        parts = ("module", module.name)
        inputs = reference.module_inputs(module, INPUTS, *parts, dtype=runner.dtype)
        found = runner.call(module.name, inputs)
        made |= {f"{module.name}.{name}": values for name, values in found.items()}
    if contract.placed and runner.offers("load") and not only:
        states, actions = reference.states(contract.placed, "placed", dtype=runner.dtype)
        found = runner.play_from(states, actions[None])
        made |= {f"step: {path}": values for path, values in found.items()}
    return made


def effect(before: Answers, after: Answers) -> dict[str, Any]:
    """Return where a bug changes most, as plain JSON values.

    where: "" if nothing differs. largest: the difference there, None where one is no number. share:
    of all values there that differ.
    """
    found: list[tuple[float, str, float]] = []
    for name, want in before.items():
        got = after[name]
        differs = (want != got) & ~((want != want) & (got != got))  # noqa: PLR0124 - NaN
        if differs.any():
            one, other = (np.asarray(x[differs], np.float64) for x in (want, got))
            with np.errstate(invalid="ignore"):
                size = np.abs(one - other)
            largest = float(np.max(np.where(np.isfinite(size), size, np.inf)))
            found.append((largest, name, float(differs.mean())))
    if not found:
        return {"where": "", "largest": 0.0, "share": 0.0}
    largest, where, share = max(found)
    return {"where": where, "largest": largest if largest < np.inf else None, "share": share}
