"""The checkpoint header: everything that must match before a run may resume."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from twinstep import __version__
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.verdicts import sources_hash
from twinstep.rl.training.policy_player import POLICY, is_run
from twinstep.rl.training.settings import SELF, TrainingSettings, load


def head(settings: TrainingSettings, arena: Any, devices: int) -> dict[str, Any]:
    """Return the header of a run, as plain JSON values."""
    contract = arena.contract
    header = {
        "twinstep": __version__,
        "environment": contract.version,
        "params": {name: str(value) for name, value in sorted(contract.params.items())},
        "backend": settings.backend,
        "platform": arena.platform,
        "devices": devices,
        "sources": _sources(settings),
        "code": _code(settings),
        "jax": jax.__version__,
        "settings": dataclasses.asdict(dataclasses.replace(settings, steps=1)),
    }
    return dict(json.loads(json.dumps(header)))


def require_same(path: Path, theirs: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """UserError that names the first difference of a checkpoint's header from this run's."""
    end = "A run goes on with what it was begun with; begin anew instead"
    before, now = _flat(theirs.get("settings", {})), _flat(own["settings"])
    if before.keys() == now.keys():
        for name, value in now.items():
            if before[name] != value:
                raise UserError(
                    f"the settings were changed after {path} was written: {name} was "
                    f"{before[name]!r}, and is {value!r}. {end}"
                )
    for name, value in own.items():
        if theirs.get(name) != value:
            raise UserError(
                f"{path} is of another version: its {name} is {theirs.get(name)}, here it is "
                f"{value}. {end}"
            )


def _flat(settings: Any) -> dict[str, Any]:
    """Return settings by name, those of PPO as `ppo.name`."""
    plain = dict(settings) if isinstance(settings, dict) else {}
    ppo = plain.pop("ppo", {})
    inner = ppo if isinstance(ppo, dict) else {}
    return plain | {f"ppo.{name}": value for name, value in inner.items()}


def _sources(settings: TrainingSettings) -> str:
    """Return the hash of the candidate's files; "" for the reference, whose version is pinned."""
    for candidate in registry.environment(settings.env).candidates:
        if candidate.name == settings.backend:
            return sources_hash(candidate)[:16]
    return ""


def _code(settings: TrainingSettings) -> dict[str, str]:
    """Return setting -> hash of the code that it names, or of the opponent's policy.

    Only the file itself is hashed, not its imports.
    """
    paths = {"shaping": settings.shaping, "encode": settings.ppo.encode}
    files: dict[str, list[Path | None]] = {
        name: [_file(path)] for name, path in paths.items() if path
    }
    if is_run(settings.against):
        other = Path(settings.against)
        files["against"] = [other / POLICY, other / "settings.toml"]
        if encode := load(other).ppo.encode:
            files["against"].append(_file(encode))
    elif settings.against not in ("", SELF):
        players = registry.environment(settings.env).players
        files["against"] = [_file(players.get(settings.against, settings.against))]
    return {name: _hash(those) for name, those in files.items()}


def _file(path: str) -> Path | None:
    file = getattr(importlib.import_module(path.partition(":")[0]), "__file__", None)
    return Path(file) if file else None


def _hash(files: list[Path | None]) -> str:
    digest = hashlib.sha256()
    for file in files:
        if file is not None:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
