"""Measure the effect of a bug that no gate notices: below tolerance, or none at all.

Only for gates with a tolerance: a survivor in a candidate that must be exact has changed nothing
that is measured here.
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
from twinstep.testing.lab import Lab
from twinstep.testing.reference import Reference

#: Inputs per module: those of level 1.
INPUTS = 16384
Answers = dict[str, np.ndarray]


def tolerant(contract: Contract, candidate: str) -> bool:
    """Return True if any gate of a candidate has a tolerance on a CPU."""
    return any(
        not (isinstance(rule.gate, Lockstep) and rule.gate.exact)
        for rule in contract.gates
        if fnmatch.fnmatchcase(candidate, rule.candidate)
        and fnmatch.fnmatchcase("cpu", rule.platform)
    )


def answers(reference: RememberingReference, pair: Pair, mutant: Mutant | None) -> Answers:
    """Return a candidate's answers at levels 1 and 2 with a bug (None: without), by name."""
    with planted(pair.candidate, mutant):
        return answered(Lab(pair, reference).runner, reference)


def answered(runner: Runner, reference: Reference, only: str = "") -> Answers:
    """Return a candidate's answers to inputs and states that a reference draws, by name.

    `MODULE.FIELD` of modules called alone, `step: PATH` of one step from placed states. only: call
    this module alone, and make no step.
    """
    by_name: Answers = {}
    contract = runner.contract
    for module in contract.modules:
        if not (module.inputs and runner.offers("call")) or only not in ("", module.name):
            continue
        parts = ("module", module.name)
        inputs = reference.module_inputs(module, INPUTS, *parts, dtype=runner.dtype)
        outputs = runner.call(module.name, inputs)
        by_name |= {f"{module.name}.{name}": values for name, values in outputs.items()}
    if contract.placed and runner.offers("load") and not only:
        states, actions = reference.states(contract.placed, "placed", dtype=runner.dtype)
        outputs = runner.play_from(states, actions[None])
        by_name |= {f"step: {path}": values for path, values in outputs.items()}
    return by_name


def effect(before: Answers, after: Answers) -> dict[str, Any]:
    """Return the place of a bug's largest effect, as plain JSON values.

    where: "" if nothing differs. largest: the difference there, None if one side is not a number.
    share: the part of the values there that differ.
    """
    differences: list[tuple[float, str, float]] = []
    for name, want in before.items():
        got = after[name]
        differs = (want != got) & ~((want != want) & (got != got))  # noqa: PLR0124 - NaN
        if differs.any():
            one, other = (np.asarray(x[differs], np.float64) for x in (want, got))
            with np.errstate(invalid="ignore"):
                size = np.abs(one - other)
            largest = float(np.max(np.where(np.isfinite(size), size, np.inf)))
            differences.append((largest, name, float(differs.mean())))
    if not differences:
        return {"where": "", "largest": 0.0, "share": 0.0}
    largest, where, share = max(differences)
    return {"where": where, "largest": largest if largest < np.inf else None, "share": share}
