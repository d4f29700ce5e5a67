"""The declared environments and candidates: entry points, and a project's own pyproject.toml.

Installed packages declare `[project.entry-points."twinstep.envs"]` (name -> `module:ATTR`)
and, for another candidate of a declared environment, `"twinstep.candidates"`
(`pong.mine = "module:REF"`). Projects that are not installed write the same two tables under
`[tool.twinstep]` in the pyproject.toml of the current folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import fnmatch
import functools
import importlib
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from twinstep.contract import Contract
from twinstep.environment import CandidateRef, Environment, Parameter, Probe, Variant
from twinstep.errors import UserError
from twinstep.further_drivers import DRIVERS
from twinstep.gates import Averages, Distribution, Horizon, Lockstep

_FURTHER = {"horizon": Horizon, "averages": Averages}


def load_object(path: str) -> Any:
    """Import `module:attribute` and return the attribute."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


#: How `called` calls: directly, or as `call_candidates_by` said.
_calls: list[Callable[..., Any]] = []


def called(candidate: CandidateRef, path: str, *args: Any) -> Any:
    """Call `module:attribute` of a candidate's own side, its probe or its build's hash.

    What it imports may be an agent's: a run that keeps candidates apart has it called behind walls.
    """
    return _calls[-1](candidate, path, *args) if _calls else load_object(path)(*args)


def call_candidates_by(how: Callable[..., Any] | None) -> None:
    """Say how `called` calls from now on, as how(candidate, path, *args); None: directly."""
    _calls[:] = [how] if how else []


GROUPS = ("envs", "candidates")


def _declared(group: str, folder: str) -> dict[str, str]:
    """Return name -> `module:ATTR`; what the folder itself declares can be imported from then on.

    The path is not part of what is cached: whoever restores it (a test, a snapshot) and asks again
    finds the folder importable again.
    """
    installed, own = _tables(group, folder)
    if own and folder not in sys.path:
        sys.path.insert(0, folder)
    return installed | own


@functools.cache
def _tables(group: str, folder: str) -> tuple[dict[str, str], dict[str, str]]:
    installed = {entry.name: entry.value for entry in entry_points(group=f"twinstep.{group}")}
    return installed, _flat(settings(Path(folder) / "pyproject.toml").get(group, {}))


def settings(project: Path) -> Mapping[str, Any]:
    """Return `[tool.twinstep]` of a project's file, {} without one. UserError if unreadable."""
    if not project.is_file():
        return {}
    try:
        tool = tomllib.loads(project.read_text()).get("tool", {})
    except (OSError, ValueError) as error:
        raise UserError(f"{project} cannot be read: {error}") from error
    own = tool.get("twinstep", {}) if isinstance(tool, dict) else {}
    if not isinstance(own, dict) or not all(isinstance(own.get(g, {}), dict) for g in GROUPS):
        tables = " and ".join(f"[tool.twinstep.{group}]" for group in GROUPS)
        raise UserError(f'{project}: {tables} are tables of `name = "module:attribute"`')
    return own


def _flat(table: Mapping[str, Any]) -> dict[str, str]:
    """Join nested names: TOML reads an unquoted `pong.mine = "..."` as a table in a table."""
    flat = {}
    for name, value in table.items():
        inner = {f"{name}.{n}": v for n, v in value.items()} if isinstance(value, dict) else {}
        flat |= inner or {name: value}
    return flat


def names() -> list[str]:
    """Return the names of all declared environments, without importing any."""
    return sorted(_declared("envs", str(Path.cwd())))


def locator(name: str) -> str:
    """Return the import path of an environment's declaration; UserError if unknown."""
    declared = _declared("envs", str(Path.cwd()))
    if name not in declared:
        raise unknown("environment", name, declared)
    return declared[name]


def locator_of_candidate(env: str, name: str) -> str:
    """Return the import path of a candidate's own declaration, "" if it is in the environment's."""
    return _declared("candidates", str(Path.cwd())).get(f"{env}.{name}", "")


@functools.cache
def _environment(name: str, folder: str) -> Environment:
    env: Environment = _load_declared(f"environment '{name}'", locator(name), Environment)
    extra = tuple(
        dataclasses.replace(
            _load_declared(f"candidate '{entry}'", value, CandidateRef),
            name=entry.partition(".")[2],
        )
        for entry, value in sorted(_declared("candidates", folder).items())
        if entry.partition(".")[0] == name
    )
    return dataclasses.replace(env, candidates=env.candidates + extra)


@contextlib.contextmanager
def _of_the_project(what: str) -> Iterator[None]:
    """Turn exceptions of a project's own code into a UserError that names the code."""
    try:
        yield
    except (ImportError, UserError):
        raise
    except Exception as error:
        text = str(error).partition("\n")[0]
        raise UserError(f"{what} raises {type(error).__name__}: {text}") from error


def _load_declared(what: str, path: str, kind: type) -> Any:
    try:
        declared = load_object(path)
    except Exception as error:  # a declaration may run any code
        why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise UserError(f"{what} is declared as {path}, which cannot be imported: {why}") from error
    if not isinstance(declared, kind):
        raise UserError(f"{what} is declared as {path}, which is no {kind.__name__}")
    if isinstance(declared, Environment) and not declared.variants:
        raise UserError(f"{what} is declared as {path}, which has no variants")
    return declared


def environment(name: str) -> Environment:
    """Return an environment with all its declared candidates; UserError if unknown or broken."""
    return _environment(name, str(Path.cwd()))


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Return the error for an undeclared name, with the nearest declared one."""
    options = sorted(known)
    near = difflib.get_close_matches(name, options, 1)
    guess = f"; did you mean '{near[0]}'?" if near else ""
    return UserError(f"unknown {kind} '{name}'{guess} (known: {', '.join(options) or 'none'})")


@dataclass(frozen=True)
class EnvVariant:
    """One environment under one choice of parameters, with its oracle: `pong@fs8`."""

    env: Environment
    variant: Variant

    @property
    def label(self) -> str:
        """`pong@fs8`, or `pong` for an unnamed variant."""
        return f"{self.env.name}@{self.variant.name}" if self.variant.name else self.env.name

    @functools.cached_property
    def contract(self) -> Contract:
        """The contract under this variant's parameters; UserError if its code is broken."""
        what = f"the contract of {self.label}"
        try:
            with _of_the_project(what):
                contract = self.env.contract(self.env.params(self.variant.params))
        except ImportError as error:
            raise UserError(f"{what} cannot be imported: {error}") from error
        if not isinstance(contract, Contract):
            raise UserError(f"{what} is a {type(contract).__name__}, not a Contract")
        return contract

    @functools.cached_property
    def probe(self) -> Probe:
        """The answer of the oracle's probe: whether it can run here."""
        try:
            with _of_the_project(f"the oracle's probe, {self.env.oracle.probe}"):
                return load_object(self.env.oracle.probe)(self.contract.params)
        except ImportError as error:
            return Probe({}, f"the bridge cannot be imported ({error})", "install its extra")

    def driver(self, name: str) -> str:
        """Return a driver's import path; UserError if the environment has no such driver."""
        drivers = DRIVERS | dict(self.env.drivers)
        if name not in drivers:
            raise unknown(f"driver of {self.env.name}", name, drivers)
        return drivers[name]


@dataclass(frozen=True)
class Pair:
    """A subject and one candidate: `pong@fs8-jax`."""

    subject: EnvVariant
    candidate: CandidateRef

    @property
    def label(self) -> str:
        """`pong@fs8-jax`."""
        return f"{self.subject.label}-{self.candidate.name}"

    @functools.cached_property
    def probe(self) -> Probe:
        """The answer of the candidate's probe: whether it can run here."""
        if not self.candidate.probe:
            return Probe({})
        try:
            with _of_the_project(f"the candidate's probe, {self.candidate.probe}"):
                params = self.subject.contract.params
                return called(self.candidate, self.candidate.probe, params)
        except ImportError as error:
            return Probe({}, f"it cannot be imported ({error})", "install its extra")
        except UserError as error:
            return Probe({}, str(error), "mend the probe")

    def has_gates(self, kind: str) -> bool:
        """Return whether the rules may give this candidate gates of a kind.

        kind: `lockstep`, `resync` (window gates included), `distribution`, `horizon` or `averages`.
        dtype and platform are unknown before the candidate is built, so rules for any of them
        count.
        """
        contract, name = self.subject.contract, self.candidate.name
        if kind in _FURTHER:
            rules = [rule for rule in contract.further if isinstance(rule.gate, _FURTHER[kind])]
            return any(fnmatch.fnmatchcase(name, rule.candidate) for rule in rules)
        free = [r for r in contract.gates if fnmatch.fnmatchcase(name, r.candidate)]
        corrected = [r for r in free if not isinstance(r.gate, Lockstep)]
        if kind in ("resync", "distribution"):
            drawn = [isinstance(r.gate, Distribution) for r in corrected]
            return any(drawn) if kind == "distribution" else not all(drawn)
        everywhere = [r for r in corrected if (r.fields, r.dtype, r.platform) == ("*", "*", "*")]
        return not everywhere


def subjects(
    env: Environment, settings: Mapping[str, str], wanted: Collection[str] = ()
) -> list[EnvVariant]:
    """Return the variants to verify; `--set` values override each variant's parameters.

    wanted: names of variants, as declared or with the settings; empty for all. A variant that a
    setting makes equal to an earlier one is dropped.
    """
    parameters = {parameter.name: parameter for parameter in env.parameters}
    chosen: dict[str, Any] = {}
    for name, text in settings.items():
        if name not in parameters:
            raise unknown(f"parameter of {env.name}", name, parameters)
        chosen[name] = _parse(parameters[name], text)
    chosen_variants: list[EnvVariant] = []
    for variant in env.variants:
        params = dict(variant.params) | chosen
        label = label_with(variant.name, chosen)
        if wanted and not {variant.name, label, label_with(variant.name, settings)} & set(wanted):
            continue
        subject = EnvVariant(env, dataclasses.replace(variant, name=label, params=params))
        earlier = (env.params(s.variant.params) for s in chosen_variants)
        if env.params(params) not in earlier:
            chosen_variants.append(subject)
    return chosen_variants


def label_with(variant: str, settings: Mapping[str, Any]) -> str:
    """Return a variant's name under settings: `fs8+max_score=100`."""
    tag = ",".join(f"{name}={value}" for name, value in sorted(settings.items()))
    return variant + (f"+{tag}" if tag else "")


def pairs(subject: EnvVariant, wanted: Iterable[str] = ()) -> list[Pair]:
    """Return the subject's candidates that claim its variant, limited to those `wanted` if any."""
    refs = {ref.name: ref for ref in subject.env.candidates}
    for name in wanted:
        if name not in refs:
            raise unknown(f"candidate of {subject.env.name}", name, refs)
    claims = subject.variant.candidates
    return [
        Pair(subject, ref)
        for ref in refs.values()
        if (not claims or ref.name in claims) and (not wanted or ref.name in set(wanted))
    ]


def _parse(parameter: Parameter, text: str) -> Any:
    try:
        value = parameter.parse(text)
    except (ValueError, KeyError) as error:
        raise UserError(f"parameter {parameter.name}: '{text}' is not a value it takes") from error
    if parameter.choices is not None and value not in parameter.choices:
        choices = ", ".join(str(choice) for choice in parameter.choices)
        raise UserError(f"parameter {parameter.name}: '{text}' is none of {choices}")
    return value


def variant_of(env: str, name: str) -> EnvVariant:
    """Return a variant by name; UserError if there is none."""
    variants = {s.variant.name: s for s in subjects(environment(env), {})}
    if name not in variants:
        raise unknown(f"variant of {env}", name, variants)
    return variants[name]
