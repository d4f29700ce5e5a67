"""Localise a fault module by module: call each one alone on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from twinstep.compare.arrays import Rules
from twinstep.contract import Module
from twinstep.diagnosis.case import outputs_differ
from twinstep.errors import CandidateBroken, OracleFailed
from twinstep.inputs.sampling import sample_module, takes_whole_state
from twinstep.protocols import ModuleCall, NotCallable
from twinstep.reference.process import OracleProcess
from twinstep.runner.runner import CALLS, Runner

#: Sampled inputs per module, in addition to the known ones.
_DRAWN = CALLS - 1
_Fields = dict[str, np.ndarray]


def first_wrong_module_on(
    known: Mapping[str, Any], oracle: OracleProcess, runner: Runner, rules: Rules
) -> tuple[ModuleCall, _Fields] | None:
    """Return the first module that differs among those with known inputs only, and the outputs.

    Further inputs are sampled: on a single one a wrong random draw may agree by luck. The outputs
    are the oracle's.
    """
    for module in _callable(oracle, runner):
        names = [field.name for field in module.inputs]
        if not known.keys() >= set(names):
            continue
        inputs = {name: np.asarray(known[name])[None] for name in names}
        if not (takes_whole_state(module, runner.contract) and oracle.offers("places")):
            drawn = _drawn(module)
            inputs = {name: np.concatenate([inputs[name], drawn[name]]) for name in names}
        answers = _asked(module, inputs, oracle, runner)
        if answers and (found := _differing(module, inputs, answers, runner, rules)):
            return found
    return None


def first_wrong_module(
    oracle: OracleProcess, runner: Runner, rules: Rules, before: str = ""
) -> tuple[tuple[ModuleCall, _Fields] | None, frozenset[str]]:
    """Return the first module that differs on inputs of its level 1 domain, and those that agree.

    before: a module's name; only modules before it count.
    """
    modules = list(_callable(oracle, runner))
    if before:
        modules = modules[: [module.name for module in modules].index(before)]
    placed = {}
    if modules and oracle.offers("places"):
        placed = oracle.places(_DRAWN, 0, runner.dtype)
    agree: set[str] = set()
    for module in modules:
        drawn = _drawn(module)
        inputs = {n: placed[n].reshape(v.shape) if n in placed else v for n, v in drawn.items()}
        answers = _asked(module, inputs, oracle, runner)
        if answers is None:
            continue
        if found := _differing(module, inputs, answers, runner, rules):
            return found, frozenset(agree)
        agree.add(module.name)
    return None, frozenset(agree)


def _callable(oracle: OracleProcess, runner: Runner) -> Iterator[Module]:
    """Yield the callable modules in the contract's order: a module follows those that it needs."""
    if runner.offers("call") and oracle.offers("call"):
        yield from (module for module in runner.contract.modules if module.inputs)


def _drawn(module: Module) -> _Fields:
    return sample_module(module, _DRAWN, np.random.default_rng(0))


def _asked(
    module: Module, inputs: _Fields, oracle: OracleProcess, runner: Runner
) -> tuple[_Fields, _Fields] | None:
    """Return both sides' outputs, None where one of them cannot be called."""
    try:
        return oracle.call(module.name, inputs), runner.call(module.name, inputs)
    except (NotCallable, CandidateBroken, OracleFailed):
        return None


def _differing(
    module: Module, inputs: _Fields, answers: tuple[_Fields, _Fields], runner: Runner, rules: Rules
) -> tuple[ModuleCall, _Fields] | None:
    """Return the first differing call."""
    want, got = answers
    differences = outputs_differ(runner.contract, rules, module.name, want, got)
    if not differences:
        return None
    row = int(np.flatnonzero(np.any(list(differences.values()), axis=0))[0])
    inputs, got, want = (
        {name: value[row] for name, value in part.items()} for part in (inputs, got, want)
    )
    return ModuleCall(module.name, inputs, got), want
