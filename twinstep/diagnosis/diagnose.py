"""Diagnose a difference: the smallest case, its one-step witness, the module at fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twinstep.compare.arrays import Rules, frames_differ
from twinstep.compare.lockstep import FirstDifference
from twinstep.contract import Box, Contract, Discrete, Field, Role
from twinstep.diagnosis.after_reset import first_wrong_after_reset
from twinstep.diagnosis.case import Answer, Case, ask, ask_episodes, outputs_differ
from twinstep.diagnosis.module_by_module import first_wrong_module, first_wrong_module_on
from twinstep.diagnosis.shrink import Shrunk, shrink
from twinstep.errors import CandidateBroken, OracleFailed
from twinstep.protocols import ModuleCall, NotCallable
from twinstep.reference.process import OracleProcess
from twinstep.runner.runner import Runner


@dataclass(frozen=True)
class Suspect:
    """A module that may be wrong, and the reason."""

    module: str
    why: str


@dataclass(frozen=True)
class Diagnosis:
    """Everything a report says about one case.

    one_step: True if the oracle's state before the step, loaded into the candidate, shows a
    difference in one of the same paths (None if it cannot be loaded).
    call: the first module call that differs, with the oracle's outputs.
    near: (name, value here, nearest value that agrees).
    witness: the case of one step (a module's case itself), None at a reset. oracle_log: the
    oracle's own account of that step, "" if it gives none.
    """

    case: Case
    answer: Answer
    one_step: bool | None
    suspects: tuple[Suspect, ...]
    call: ModuleCall | None
    call_oracle: dict[str, np.ndarray]
    near: tuple[str, Any, Any] | None
    witness: Case | None = None
    oracle_log: str = ""


def bare(case: Case, answer: Answer) -> Diagnosis:
    """Return the diagnosis of a case without further requests to either side."""
    witness = case if case.kind in ("module", "restart") else None
    return Diagnosis(case, answer, None, (), None, {}, None, witness)


def shrink_episode(
    found: FirstDifference, oracle: OracleProcess, runner: Runner, rules: Rules
) -> tuple[Case, Shrunk]:
    """Shrink a diverging episode to a 1-minimal one that differs in one of the same paths.

    Its actions lie inside their range, unless it takes others to show the difference.
    """
    wanted = set(found.miss.paths)

    def diverges(trials: list[np.ndarray]) -> list[int]:
        trials_of_start = [(found.start, trial) for trial in trials]
        answers = ask_episodes(trials_of_start, oracle, runner, rules)
        return [a.step if wanted & set(a.paths) else -1 for a in answers]

    actions, space = found.actions, runner.contract.action
    if isinstance(space, Box) and space.beyond > 1:
        inside = np.clip(actions, space.low, space.high).astype(actions.dtype)
        (at,) = diverges([inside])
        actions = inside[:at] if at >= 0 else actions
    small = shrink(actions, diverges)
    return Case("episode", found.start, small.actions), small


def diagnose(case: Case, oracle: OracleProcess, runner: Runner, rules: Rules) -> Diagnosis:
    """Run the case again on both sides and diagnose as far as their optional methods allow."""
    answer = ask(case, oracle, runner, rules)
    if answer.agrees:
        return bare(case, answer)
    contract = runner.contract
    if case.kind == "module":
        suspect = Suspect(case.module, "called alone with the inputs below it differs")
        call = ModuleCall(case.module, case.inputs, answer.candidate)
        near = _near_call(case.module, case.inputs, oracle, runner, rules)
        return Diagnosis(case, answer, None, (suspect,), call, answer.oracle, near, case)
    witness = _witness(case, answer, contract, oracle)
    one_step = None
    if witness is not None and oracle.offers("load") and runner.offers("load"):
        again = answer if case.kind != "episode" else ask(witness, oracle, runner, rules)
        # Another field may differ from there: that is no witness of this difference.
        one_step = not set(answer.paths).isdisjoint(again.paths)
    if answer.raised:
        suspect = Suspect("step", f"it raises {answer.raised.raised} there")
        return Diagnosis(case, answer, one_step, (suspect,), None, {}, None, witness)
    call, call_oracle, checked, why = None, {}, False, ""
    agree: frozenset[str] = frozenset()
    if one_step and witness is not None and witness.kind == "step":
        call, call_oracle, checked = _guilty_call(witness, oracle, runner, rules)
        why = "the first module call of this step whose outputs differ from the oracle's"
    if call is None and not checked and case.kind != "restart":
        call, call_oracle, why, agree = _called_alone(case, answer, witness, oracle, runner, rules)
    suspects = _suspects(contract, answer, call, why, checked, case, agree)
    if answer.step == 0 and call is None and case.kind == "episode":
        suspects = (*_beyond_reset(case, answer, oracle, runner, rules)[:2], *suspects)[:3]
    near = None
    if call is not None:
        near = _near_call(call.module, call.inputs, oracle, runner, rules)
    elif one_step and witness is not None and witness.kind == "step":
        near = _near_step(witness, oracle, runner, rules)
    oracle_log = _oracle_log(witness, oracle)
    return Diagnosis(case, answer, one_step, suspects, call, call_oracle, near, witness, oracle_log)


def _oracle_log(witness: Case | None, oracle: OracleProcess) -> str:
    """Return the oracle's own log of a one-step witness, "" if it has none."""
    if witness is None or witness.kind != "step" or len(witness.actions) != 1:
        return ""
    if not (oracle.offers("explain") and oracle.offers("load")):
        return ""
    try:
        return oracle.explain(witness.state, witness.actions[0])
    except OracleFailed:
        return ""


def _witness(case: Case, answer: Answer, contract: Contract, oracle: OracleProcess) -> Case | None:
    """Return the one-step case of a difference: the oracle's state before it and the action."""
    if case.kind == "restart":
        return case
    if case.kind == "step" and answer.step == 1:
        return Case("step", case.start, case.actions[:1], case.state)
    if answer.step == 0 or not answer.before:
        return None
    names = [f.name for f in contract.state if f"state.{f.name}" in answer.before]
    state = {name: answer.before[f"state.{name}"] for name in names}
    if contract.hidden and oracle.offers("load"):
        trial = (case.start, case.state, answer.played[: answer.step - 1])
        state |= oracle.hidden_after([trial])[0]
    return Case("step", case.start, answer.played[answer.step - 1 : answer.step], state)


def _guilty_call(
    witness: Case, oracle: OracleProcess, runner: Runner, rules: Rules
) -> tuple[ModuleCall | None, dict[str, np.ndarray], bool]:
    """Repeat each module call of the candidate's step on the oracle; return the first that differs.

    The last value is True if the oracle could answer any call.
    """
    if not (runner.offers("explain") and oracle.offers("call")):
        return None, {}, False
    checked = False
    for call in runner.explain(witness.state, witness.actions[0]):
        inputs = {name: np.asarray(value)[None] for name, value in call.inputs.items()}
        try:
            want = oracle.call(call.module, inputs)
        except NotCallable:
            continue
        checked = True
        got = {name: np.asarray(value)[None] for name, value in call.outputs.items()}
        if outputs_differ(runner.contract, rules, call.module, want, got):
            return call, {name: value[0] for name, value in want.items()}, True
    return None, {}, checked


def _called_alone(
    case: Case,
    answer: Answer,
    witness: Case | None,
    oracle: OracleProcess,
    runner: Runner,
    rules: Rules,
) -> tuple[ModuleCall | None, dict[str, np.ndarray], str, frozenset[str]]:
    """Return the first module that differs when called alone, the reason, and modules that agree.

    It is called first with known inputs (the start, and the state of the oracle's first frame or
    before the step), then with sampled ones. The modules that agree do so on sampled inputs.
    """
    known: dict[str, Any] = case.start.fields | {"seed": case.start.seed}
    if answer.step == 0:
        prefix = "state."
        for path, value in answer.oracle.items():
            if path.startswith(prefix):
                known[path.removeprefix(prefix)] = value
        why = "called alone, as a reset may call it, it differs from the oracle"
    elif witness is not None:
        known |= witness.state
        why = "called alone with the state before the step, it differs from the oracle"
    else:
        return None, {}, "", frozenset()
    if found := first_wrong_module_on(known, oracle, runner, rules):
        name = found[0].module
        below, agree = first_wrong_module(oracle, runner, rules, before=name)
        if below:
            return *below, f"{name} differs, and so does this, called alone: it comes before", agree
        return *found, why, agree
    found, agree = first_wrong_module(oracle, runner, rules)
    if found:
        why = "of the modules that differ from the oracle when called alone it comes first"
        return *found, why, agree
    return None, {}, "", agree


#: Views of a state.
_SEEN = frozenset({"obs", "legal"})


def _suspects(
    contract: Contract,
    answer: Answer,
    call: ModuleCall | None,
    why: str,
    checked: bool,
    case: Case,
    agree: frozenset[str],
) -> tuple[Suspect, ...]:
    if call is not None:
        return (Suspect(call.module, why),)
    if case.kind == "restart":
        return (Suspect("restart", "the auto-reset from the state below differs"),)
    if answer.step == 0:
        return (Suspect("reset", "the first frame differs"),)
    if checked:
        why = "every module call of this step agrees alone: how the step joins them differs"
        return (Suspect("step", why),)
    bare = {path.removeprefix("state.") for path in answer.paths}
    owners = [m.name for m in contract.modules if bare & m.owned()]
    # A view of a wrong state is wrong for that reason.
    wrong = any(path.startswith("state.") for path in answer.paths)
    follow = [m for m in owners if wrong and contract.module(m).owned() & bare <= _SEEN]
    owners = [name for name in owners if name not in follow]
    suspects = [Suspect(name, "owns a field that differs") for name in owners if name not in agree]
    if not suspects:
        why = "it gives what differs"
        if contract.modules:
            why = "no declared module owns what differs of the state"
        if owners:
            why = "what owns the fields that differ agrees alone: how the step joins it differs"
        suspects = [Suspect("step", why)]
    suspects += [
        Suspect(name, "owns a field that differs, but agrees when called alone")
        for name in owners
        if name in agree
    ]
    suspects += [
        Suspect(name, "owns what is seen of the state, which differs, too") for name in follow
    ]
    return tuple(suspects[:3])


def _beyond_reset(
    case: Case, answer: Answer, oracle: OracleProcess, runner: Runner, rules: Rules
) -> tuple[Suspect, ...]:
    names, steps = first_wrong_after_reset(case.start, answer.oracle, oracle, runner, rules)
    when = "a step" if steps == 1 else f"{steps} steps"
    why = f"owns a field that differs {when} from the oracle's own first frame, too"
    return tuple(Suspect(name, why) for name in names)


def _near_call(
    module: str, inputs: dict[str, Any], oracle: OracleProcess, runner: Runner, rules: Rules
) -> tuple[str, Any, Any] | None:
    """Return the nearest change of one input with which the module agrees."""
    contract = runner.contract
    fields = [f for f in contract.module(module).inputs if f.name in inputs]
    base = {name: np.asarray(value) for name, value in inputs.items()}
    trials = _perturbed(base, fields)
    if not trials:
        return None
    batch = {name: np.stack([t[2][name] for t in trials]) for name in base}
    try:
        want, got = oracle.call(module, batch), runner.call(module, batch)
    except (NotCallable, CandidateBroken, OracleFailed):
        return None
    wrong = np.zeros(len(trials), bool)
    for rows in outputs_differ(contract, rules, module, want, got).values():
        wrong |= rows
    return _nearest(trials, wrong, base)


def _near_step(
    witness: Case, oracle: OracleProcess, runner: Runner, rules: Rules
) -> tuple[str, Any, Any] | None:
    """Return the nearest change of one state field or of the action with which a step agrees."""
    contract = runner.contract
    if contract.masked:
        return None  # a perturbed state may have other legal actions
    fields = [f for f in contract.state if f.role is Role.COMPARED]
    base = dict(witness.state) | {"action": witness.actions[0]}
    if isinstance(contract.action, Discrete) and contract.players == 1:
        top = contract.action.n - 1
        fields = [*fields, Field("action", "int32", (1,), low=0, high=top, step=1)]
    trials = _perturbed(base, fields)
    if not trials:
        return None
    states = {name: np.stack([t[2][name] for t in trials]) for name in witness.state}
    actions = np.stack([t[2]["action"] for t in trials])[None]
    seeds = np.repeat(np.asarray(witness.start.seed)[None], len(trials), 0)
    starts = {
        n: np.repeat(np.asarray(v)[None], len(trials), 0) for n, v in witness.start.fields.items()
    }
    try:
        want, _ = oracle.steps(states, actions, type(witness.start)(seeds, starts))
        got = runner.play_from(states, actions)
    except (CandidateBroken, OracleFailed):
        return None
    wrong = np.zeros(len(trials), bool)
    for rows in frames_differ(want, got, rules.one_step()).values():
        wrong |= rows[0]
    return _nearest(trials, wrong, base)


#: (distance, field, changed values of all inputs)
_Trial = tuple[float, str, dict[str, np.ndarray]]


def _perturbed(base: dict[str, np.ndarray], fields: list[Field]) -> list[_Trial]:
    """Change one scalar input at a time by 1, 2, 4, ... grid steps, within its range."""
    trials: list[_Trial] = []
    for field in fields:
        value = np.asarray(base[field.name])
        if value.size != 1 or field.low is None or field.high is None or value.dtype.kind == "b":
            continue
        grid = field.step or (field.high - field.low) / 256
        here = float(value.reshape(-1)[0])
        for power in range(7):
            for sign in (1, -1):
                there = here + sign * grid * 2**power
                if field.low <= there <= field.high:
                    changed = np.full(value.shape, there).astype(value.dtype)
                    trials.append((2.0**power, field.name, {**base, field.name: changed}))
    return trials


def _nearest(
    trials: list[_Trial], wrong: np.ndarray, base: dict[str, np.ndarray]
) -> tuple[str, Any, Any] | None:
    good = [(trial[0], place) for place, trial in enumerate(trials) if not wrong[place]]
    if not good:
        return None
    _, place = min(good)
    _, name, values = trials[place]
    return name, base[name].reshape(-1)[0], values[name].reshape(-1)[0]
