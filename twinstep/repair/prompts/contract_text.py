"""A contract as Markdown: the environment, fields, gates, random numbers, dependencies."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence

from twinstep.contract import Box, Contract, Discrete, Field, Module, Role
from twinstep.gates import (
    Averages,
    Distribution,
    Gate,
    GateRule,
    Horizon,
    Lockstep,
    Resync,
    Window,
)
from twinstep.project.registry import Pair
from twinstep.repair.prompts import locations
from twinstep.repair.prompts.length_budget import Part, table

_HEAD = ("name", "dtype", "shape", "range", "what it is")
#: Maximum number of listed element names.
_NAMES = 24


def environment(pair: Pair) -> str:
    """Describe the environment, its parameters and its players."""
    env, contract = pair.subject.env, pair.subject.contract
    lines = [
        f"`{contract.version}`: {env.doc}",
        f"The reference is {env.oracle.title}. The contract is {locations.contract_place(env)}.",
        f"Players: {contract.players}{', with a mask of legal actions' * contract.masked}. "
        f"Action: {_action(contract)}. "
        f"Observation of one player: {contract.observation.dtype}{list(contract.observation.shape)}"
        f"{_named(contract.observation.names)}.",
    ]
    if env.parameters:
        lines.append("Parameters:")
        for parameter in env.parameters:
            choices = f", one of {', '.join(map(str, parameter.choices or ()))}"
            lines.append(
                f"- `{parameter.name}` = {_value(contract.params[parameter.name])}"
                f"{choices if parameter.choices else ''}: {parameter.doc}"
            )
    variants = [v for v in env.variants if v.name and _claims(v.candidates, pair)]
    if variants:
        names = "; ".join(
            f"{v.name} ({', '.join(f'{k}={x}' for k, x in v.params.items())})" for v in variants
        )
        lines.append(f"All variants are verified, with the same files: {names}.")
    return "\n".join(lines)


def facts(pair: Pair) -> str | Part:
    """Return the contract author's notes on the reference."""
    env = pair.subject.env
    module = sys.modules.get(env.contract.__module__)
    text = inspect.cleandoc((module and module.__doc__) or "")
    if not text:
        return ""
    return Part(tuple(text.splitlines()), f"the head of {locations.contract_place(env)}")


def fields(pair: Pair, listed: Iterable[Field]) -> str | Part:
    """Return a table of fields, or `None.`."""
    rows = [_row(pair.subject.contract, field) for field in listed]
    return table(_HEAD, rows, locations.contract_place(pair.subject.env)) if rows else "None."


def owned(pair: Pair, module: Module) -> str:
    """Name the fields that a module owns if they differ from its outputs."""
    if module.owns is None or not module.owns:
        return ""
    names = ", ".join(f"`{name}`" for name in module.owns)
    return f"Its own, by which a difference is laid at its door: {names}."


def frame_layout(pair: Pair) -> Part:
    """Return every path of a frame, with the descriptions of the state's fields."""
    contract = pair.subject.contract
    by_name = {f"state.{f.name}": f for f in contract.state}
    rows = []
    for path, (dtype, shape) in contract.layout().items():
        field = by_name.get(path)
        if field is None:
            rows.append((f"`{path}`", str(dtype), str(list(shape)), "", ""))
            continue
        name, kind, size, span, doc = _row(contract, field)
        rows.append((f"`state.{name.strip('`')}`", kind, size, span, doc))
    return table(_HEAD, rows, locations.contract_place(pair.subject.env))


def gates(pair: Pair, module: str) -> str | Part:
    """Return the gates of a module's outputs, or of every path of a frame for the glue."""
    contract = pair.subject.contract
    if module in {m.name for m in contract.modules}:
        outputs = contract.module(module).outputs
        named = {f.name: (f"{module}.{f.name}", f.name, f"state.{f.name}") for f in outputs}
        further: Sequence[GateRule] = ()
    else:
        named = {path: (path,) for path in contract.compared_paths()}
        further = contract.further
    groups: dict[GateRule, list[str]] = {}
    exact = []
    for name, names in named.items():
        left = {"float32", "float64"}  # what candidates compute in
        for rule in _rules_for(contract.gates, pair.candidate.name, names):
            groups.setdefault(rule, []).append(name)
            if rule.platform == "*":
                left = {dtype for dtype in left if rule.dtype not in ("*", dtype)}
            if not left:
                break
        else:
            exact.append(name)
    lines = [
        f"- {_where(rule)}{_list(names)}: {_gate(rule.gate)}" for rule, names in groups.items()
    ]
    for rule in further:
        if isinstance(rule.gate, Horizon | Averages) and rule.fits(
            *named, candidate=pair.candidate.name, dtype=rule.dtype, platform=rule.platform
        ):
            lines.append(f"- besides, {_where(rule)}`{rule.fields}`: {_gate(rule.gate)}")
    if exact or not lines:
        what = f"everywhere else, {_list(exact)}" if lines else "every output"
        lines.append(
            f"- {what}: equal to the bit. -0.0 differs from 0.0, and a NaN equals only a NaN at "
            "the same place"
        )
    return Part(tuple(lines), locations.contract_place(pair.subject.env))


def randomness(contract: Contract) -> str:
    """Explain how both sides draw the same numbers."""
    random = contract.randomness
    lines = [f"Random numbers: {random.scheme}."]
    if random.draws:
        lines.append(
            f"`{random.draws}` counts the draws and is compared as any field: draw exactly where "
            "the reference does, in its order, also where the number changes nothing."
        )
    else:
        lines.append("Draw exactly where the reference does, in its order.")
    if random.parts:
        parts = "; ".join(f"{name} ({', '.join(p)})" for name, p in random.parts.items())
        lines.append(f"Drawn at an episode's start, each by itself: {parts}.")
    return " ".join(lines)


def needs(pair: Pair, module: str, written: Sequence[str]) -> str | Part:
    """Return the modules that this one depends on, with their places and signatures."""
    contract = pair.subject.contract
    declared = [m.name for m in contract.modules]
    names = contract.module(module).needs if module in declared else declared
    lines: list[str] = []
    for name in names:
        if name not in declared:
            continue
        if name not in written:
            lines.append(f"- {name}: not written yet; its place: {locations.place_of(pair, name)}")
            continue
        lines.append(f"- {name}: written, {locations.place_of(pair, name)}")
        if head := locations.signature(pair, name):
            lines.append(f"  `{' '.join(text.strip() for text in head)}`")
    others = [name for name in written if name not in names and name != module]
    if others:
        lines.append(f"- written as well, for their style and helpers: {', '.join(others)}")
    text = "Use what is written instead of writing it again."
    return (
        Part((*lines, "", text), locations.contract_place(pair.subject.env)) if lines else "None."
    )


# ---- pieces -----------------------------------------------------------------------------


def _value(value: object) -> str:
    return str(value) if str(value) else "(nothing)"


def _claims(candidates: Sequence[str], pair: Pair) -> bool:
    return not candidates or pair.candidate.name in candidates


def _action(contract: Contract) -> str:
    action = contract.action
    if isinstance(action, Discrete):
        return f"0 to {action.n - 1}, {action.dtype}{_named(action.names)}"
    assert isinstance(action, Box)
    beyond = f"; tests also go {action.beyond:g} times as far" if action.beyond != 1 else ""
    return f"{action.dtype}{list(action.shape)} in [{action.low:g}, {action.high:g}]{beyond}"


def _named(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f" ({', '.join(names[:_NAMES])}{more})"


def _row(contract: Contract, field: Field) -> tuple[str, str, str, str, str]:
    state = {f.name: f for f in contract.state}
    doc = field.doc or (state[field.name].doc if field.name in state else "")
    notes = [doc, f"elements{_named(field.names)}" if field.names else ""]
    if field.role is not Role.COMPARED:
        notes.append(field.role.value)
    text = "; ".join(note for note in notes if note)
    return f"`{field.name}`", field.dtype, str(list(field.shape)), _range(field), text


def _range(field: Field) -> str:
    if field.low is None and field.high is None:
        return ""
    low, high = (("-inf", "inf")[i] if v is None else f"{v:.10g}" for i, v in
                 enumerate((field.low, field.high)))  # fmt: skip
    return f"{low} to {high}" + (f", step {field.step:g}" if field.step not in (0, 1) else "")


def _rules_for(
    rules: Sequence[GateRule], candidate: str, names: Sequence[str]
) -> Iterable[GateRule]:
    """Yield the rules that may apply to one output: dtype and platform are not known yet."""
    for rule in rules:
        if rule.fits(*names, candidate=candidate, dtype=rule.dtype, platform=rule.platform):
            yield rule


def _where(rule: GateRule) -> str:
    limits = [f"computed in {rule.dtype}"] if rule.dtype != "*" else []
    limits += [f"on a {rule.platform}"] if rule.platform != "*" else []
    return f"{' '.join(limits)}, " if limits else ""


def _list(names: Sequence[str]) -> str:
    return _named([f"`{name}`" for name in names]).strip(" ()")


def _gate(gate: Gate | Horizon | Averages) -> str:
    match gate:
        case Lockstep(atol, rtol) if gate.exact:
            return "equal to the bit"
        case Lockstep(0.0, 0.0):
            return "equal to the bit, but for the sign of a zero"
        case Lockstep(atol, rtol):
            bound = f"{atol:g}" + (f" + {rtol:g} * abs(reference)" if rtol else "")
            return f"abs(candidate - reference) <= {bound}"
        case Resync(most, above):
            return (
                f"one step from the reference's own state, no error above {most:g}{_above(above)}"
            )
        case Window(steps, most, above):
            many = f"{steps} steps from the reference's own state"
            return f"{many}, no error above {most:g}{_above(above)}"
        case Distribution(episodes, steps):
            return (
                f"alike in distribution: one of the first {steps} steps of each of {episodes} "
                "episodes, which each side draws for itself"
            )
        case Horizon(eps, median, least):
            return (
                f"whole episodes stay within {eps:g} for {median} steps in the median, "
                f"{least} at least"
            )
        case Averages(margin):
            return f"equal on average within {margin:g} standard deviations, by TOST"
    raise AssertionError(gate)


def _above(above: Sequence[tuple[float, float]]) -> str:
    return "".join(f", at most {100 * part:g} % above {size:g}" for size, part in above)
