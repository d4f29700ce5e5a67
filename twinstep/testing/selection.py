"""Which pairs a run verifies: what --env, --candidate, --driver, --variant and --set ask for.

What was asked for and is not there is an error, never a run of nothing. Without --env a name
must be known to one environment, with it to each that is named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from twinstep.environment import Environment
from twinstep.errors import UserError
from twinstep.further_drivers import DRIVERS, plays_rare
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair


@dataclass(frozen=True)
class Selection:
    """The options as they were given, each a list of texts; settings as `NAME=VALUE`."""

    envs: Sequence[str] = ()
    candidates: Sequence[str] = ()
    drivers: Sequence[str] = ()
    variants: Sequence[str] = ()
    settings: Sequence[str] = ()


@dataclass(frozen=True)
class Selected:
    """The pairs to verify, and a line for each variant that was left out."""

    pairs: list[Pair]
    notes: list[str]


def choose(asked: Selection) -> Selected:
    """Return the pairs asked for; UserError names what there is none of."""
    settings = _settings(asked)
    # A project's own settings may name one that the command line names again.
    wanted = dict.fromkeys(asked.envs) or registry.names()
    notes: list[str] = []
    envs = [env for name in wanted if (env := _declared(name, asked, notes)) is not None]
    candidates = {env.name: [ref.name for ref in env.candidates] for env in envs}
    _require("candidate", asked.candidates, candidates, asked)
    players = {env.name: [*DRIVERS, *env.drivers] for env in envs}
    _require("driver", asked.drivers, players, asked)
    variants = {env.name: _labels(env, settings) for env in envs}
    _require("variant", asked.variants, variants, asked)
    found = Selected([], notes)
    for env in envs:
        mine = [name for name in asked.candidates if name in candidates[env.name]]
        if asked.candidates and not mine:
            continue
        try:
            fitting = _fitting(env, settings, asked, notes)
        except UserError as error:
            if asked.envs or asked.variants:
                raise
            notes.append(f"{env.name} is left out: {error}")
            continue
        for subject in fitting:
            found.pairs.extend(registry.pairs(subject, mine))
    _require_something(found, asked)
    return found


def _declared(name: str, asked: Selection, notes: list[str]) -> Environment | None:
    """Return an environment; one that is broken and was not asked for is a note, and None."""
    try:
        return registry.environment(name)
    except UserError as error:
        if asked.envs:
            raise
        notes.append(f"{name} is left out: {error}")
        return None


def _settings(asked: Selection) -> dict[str, str]:
    settings = {}
    for text in asked.settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--set {text}: write it as --set NAME=VALUE")
        if not asked.envs:
            known = ", ".join(registry.names()) or "none"
            raise UserError(f"--set {text}: say whose parameter it is, with --env (known: {known})")
        settings[name] = value
    return settings


def _labels(env: Environment, settings: Mapping[str, str]) -> list[str]:
    """Return the names by which variants can be asked for: declared, and with what is set."""
    declared = [variant.name for variant in env.variants]
    return [*declared, *(registry.label_with(name, settings) for name in declared if settings)]


def _require(
    kind: str, wanted: Sequence[str], known: Mapping[str, Collection[str]], asked: Selection
) -> None:
    for name in wanted:
        lacking = [env for env, names in known.items() if name not in names]
        if not lacking:
            continue
        if asked.envs or len(known) == 1:
            raise registry.unknown(f"{kind} of {lacking[0]}", name, known[lacking[0]])
        if len(lacking) == len(known):
            raise registry.unknown(kind, name, {n for names in known.values() for n in names})


def _fitting(
    env: Environment, settings: Mapping[str, str], asked: Selection, notes: list[str]
) -> list[EnvVariant]:
    """Return the variants asked for; one that was not named may refuse the values set."""
    fitting, refused = [], []
    for subject in registry.subjects(env, settings, asked.variants):
        try:
            subject.contract  # noqa: B018 - raises UserError for parameters that do not fit
        except UserError as error:
            if asked.variants or not settings:
                raise
            refused.append((subject, error))
        else:
            fitting.append(subject)
    if refused and not fitting:
        raise refused[0][1]
    notes += [f"{subject.label} is left out: {error}" for subject, error in refused]
    return fitting


def _require_something(found: Selected, asked: Selection) -> None:
    options = {
        "--env": asked.envs,
        "--variant": asked.variants,
        "--candidate": asked.candidates,
    }
    given = [f"{option} {value}" for option, values in options.items() for value in values]
    if given and not found.pairs:
        raise UserError(f"nothing to verify: no candidate fits {' '.join(given)}")
    subjects = [pair.subject for pair in found.pairs]
    played = {n for s in subjects for n in (*s.contract.drivers, *s.env.drivers)}
    played |= {"rare" for s in subjects if plays_rare(s.contract)}
    for name in asked.drivers if found.pairs else ():
        if name not in played:
            raise registry.unknown("driver of what is verified", name, played)
