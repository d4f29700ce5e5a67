"""The verdict on an environment as it was made: `env.verdict`."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project.imported import loaded_hash
from twinstep.project.registry import EnvVariant, Pair
from twinstep.project.source_hash import (
    PACKAGED,
    PACKAGED_GPU,
    package_folder,
    sources_below,
    sources_hash,
)

#: The words of a verdict that says yes. The second one is of gates that allow rounding.
EQUAL = ("equal", "equal but for rounding")
_NEEDED = {"verdict", "contract_digest", "platform", "auto_reset"}
#: The file of pytest's verdict, below the current folder.
LOCAL = Path(".twinstep/verdict.json")


@dataclass(frozen=True)
class Verdict:
    """The suite's verdict on one candidate under one choice of parameters.

    word: as pytest printed it (`equal`, `differs`, ...), or the reason for its absence.
    verified: whether the word is one of `EQUAL` and holds here: same contract, same sources, same
    platform, this kind of auto-reset. pair: `pong@fs8-jax`. detail: the entry of verdict.json.
    source: the file that it comes from.
    """

    word: str
    verified: bool
    pair: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def __str__(self) -> str:
        where = f" ({self.source})" if self.source else ""
        return f"{self.pair or 'this environment'}: {self.word}{where}"


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute a candidate's numbers."""
    # By name: importing JAX takes longer than most runs without it.
    return {name: importlib.metadata.version(name) for name in ("numpy", "jax", "jaxlib")}


#: What JAX computes differently by a setting, and the setting's value by default.
_SETTINGS: Mapping[str, Any] = {
    "jax_enable_x64": False,
    "jax_default_prng_impl": "threefry2x32",
    "jax_threefry_partitionable": True,
    "jax_default_matmul_precision": None,
    "jax_disable_jit": False,
}


def jax_settings() -> dict[str, str]:
    """Return JAX's settings that are not as it starts with, {} where it is not loaded."""
    jax = sys.modules.get("jax")
    given = {name: getattr(jax.config, name, usual) for name, usual in _SETTINGS.items() if jax}
    return {name: str(value) for name, value in given.items() if value != _SETTINGS[name]}


def bridge_hash(subject: EnvVariant) -> str:
    """Return the hash of the reference's bridge, "" where it cannot be found."""
    try:
        return sources_below(package_folder(subject.env.oracle.package))
    except (UserError, OSError):
        return ""


def verdict_of(
    subject: EnvVariant,
    pair: Pair | None,
    platform: str,
    auto_reset: str = "",
    lanes: int = 0,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Verdict:
    """Return the newest verdict: this folder's own, or else the packaged one.

    A verdict of another platform counts only if there is none of this one. auto_reset: the kind
    that must have been compared, "" for none. lanes: the most that are played. settings: JAX's
    unusual ones under which they are.
    """
    if pair is None:
        return Verdict("the reference itself", True)
    params = dict(subject.contract.params)
    same = [v for v in subject.env.variants if subject.env.params(v.params) == params]
    if not same:
        return Verdict("not verified: no declared variant has these parameters", False)
    label = Pair(EnvVariant(subject.env, same[0]), pair.candidate).label
    files = [(path, _entry(path, label)) for path in (LOCAL, *_packaged(pair.candidate))]
    entries = [(path, entry) for path, entry in files if entry is not None]
    entries.sort(key=lambda one: one[1]["platform"] != platform)
    if entries:
        path, entry = entries[0]
        found = _judge(entry, label, path, subject, pair.candidate, platform, auto_reset)
        return found if not found.verified else _beyond(found, lanes, settings)
    return Verdict(f"not verified here: run `{_command(subject)}`", False, label)


def _command(subject: EnvVariant) -> str:
    return f"twinstep verify {subject.env.name}"


def _judge(
    entry: Mapping[str, Any],
    label: str,
    path: Path,
    subject: EnvVariant,
    candidate: CandidateRef,
    platform: str,
    auto_reset: str,
) -> Verdict:
    word, loaded = str(entry["verdict"]), loaded_hash(candidate)
    if entry["contract_digest"] != subject.contract.digest():
        word = "not verified: the contract has changed since"
    elif not loaded:
        word = "not verified: a declared package of the candidate, or its factory, cannot be found"
    elif [entry.get("sources"), entry.get("loaded", loaded)] != [sources_hash(candidate), loaded]:
        word = "not verified: the candidate's files have changed since"
    elif entry.get("bridge", bridge := bridge_hash(subject)) != bridge:
        word = "not verified: the reference's bridge has changed since"
    elif word in EQUAL and "level2" not in entry.get("levels", {}):
        # Episodes alone ask neither other sizes of batches, nor two states, nor `load`.
        word = f"equal at level 3 alone, not verified: run `{_command(subject)}`"
    elif (others := entry["versions"]) != (ours := versions()):
        changed = [name for name in ours if others.get(name) != ours[name]]
        words = [f"{name} {ours[name]} (verified: {others.get(name)})" for name in changed]
        word = f"not verified with {', '.join(words)}"
    elif entry["platform"] != platform:
        word = f"not verified on {platform}: the verdict is for {entry['platform']}"
    elif word in EQUAL and auto_reset and auto_reset not in entry["auto_reset"]:
        modes = ", ".join(entry["auto_reset"]) or "none"
        word = f"not verified with auto_reset '{auto_reset}' (verified: {modes})"
    return Verdict(word, word in EQUAL, label, entry, path.as_posix())


def _beyond(found: Verdict, lanes: int, settings: Mapping[str, str]) -> Verdict:
    """Return the verdict, or one of what is beyond it."""
    most = max(found.detail.get("batches") or [0])
    verified = found.detail.get("settings", {})
    others = [name for name in {**verified, **settings} if settings.get(name) != verified.get(name)]
    word = found.word
    if most and lanes > most:
        word = f"beyond what was verified: {lanes:,} lanes (verified: up to {most:,})"
    elif others:
        now = ", ".join(f"{name}={settings.get(name, _SETTINGS[name])}" for name in sorted(others))
        word = f"beyond what was verified: {now}"
    return found if word == found.word else replace(found, word=word, verified=False)


def _entry(path: Path, label: str) -> Mapping[str, Any] | None:
    """Return a pair's entry in a verdict file, None where there is none that can be read."""
    try:
        verdict = json.loads(path.read_text())
        entry = {**verdict["pairs"][label], "versions": dict(verdict.get("versions", {}))}
        whole = entry.keys() >= _NEEDED and isinstance(entry["verdict"], str)
        whole = whole and isinstance(entry["auto_reset"], list)
        whole = whole and isinstance(entry.get("levels", {}), dict)
        whole = whole and all(isinstance(n, int) for n in entry.get("batches", []))
        whole = whole and isinstance(entry.get("settings", {}), dict)
        if not whole or entry["verdict"].startswith("not verified"):
            return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return entry


def _packaged(candidate: CandidateRef) -> list[Path]:
    package = candidate.factory.partition(":")[0].rpartition(".")[0]
    try:
        names = (PACKAGED, PACKAGED_GPU) if package else ()
        return [package_folder(package) / name for name in names]
    except UserError:
        return []


def encode(verdict: dict[str, Any]) -> bytes:
    """Return the verdict's bytes on disk."""
    return (json.dumps(verdict, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()
