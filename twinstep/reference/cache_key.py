"""The trace cache's key: hash everything that can change a byte of a recorded episode.

The key needs no oracle, so that a run on cached traces never starts one.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from twinstep import action_mask, contract, drivers, frames
from twinstep._lib import hashing
from twinstep.contract import canonical_json
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.inputs.batching import chunk_lanes
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.project.source_hash import hash_of, package_folder, sources_below
from twinstep.reference import recording, trace_file, worker

#: What plays and writes an episode.
RECORDERS = (recording, trace_file, drivers, action_mask, worker, frames, contract, hashing)

#: Packages whose code is a part of the bridges that import them.
_MADE_OF = ("twinstep.chance", "twinstep.inward")


def material(subject: EnvVariant, driver: str, starts: Start, horizon: int) -> dict[str, Any]:
    """Return everything that can change a byte of these traces, by name."""
    start_bytes = hashlib.sha256(starts.seed.tobytes())
    for name, value in sorted(starts.fields.items()):
        start_bytes.update(name.encode() + b"\0" + value.tobytes())
    return {
        "format": trace_file.FORMAT,
        "environment": subject.env.name,
        "contract": subject.contract.digest(),
        "upstream": dict(subject.probe.pins),
        "bridge": bridge_sources(subject),
        "driver": driver,
        "driver_source": _driver_sources(subject, driver),
        "recorder": sources_of(*RECORDERS),
        "python": "{}.{}".format(*sys.version_info),
        "numpy": np.__version__,
        "starts": start_bytes.hexdigest(),
        "episodes": len(starts.seed),
        "horizon": horizon,
        "lanes": chunk_lanes(subject.contract),
    }


def key_of(parts: dict[str, Any]) -> str:
    """Return the entry's name: the hash of its material."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:40]


def bridge_sources(subject: EnvVariant) -> str:
    """Hash the oracle's package, and the packages of twinstep of which it makes a bridge."""
    folder = package_folder(subject.env.oracle.package)
    texts = [path.read_bytes() for path in sorted(folder.rglob("*.py"))]
    used = [name for name in _MADE_OF if any(name.encode() in text for text in texts)]
    # An adapter draws with the stand-ins.
    lent = "".join(sources_below(package_folder(name)) for name in (_MADE_OF if used else ()))
    return sources_below(folder) + lent


def sources_of(*modules: ModuleType) -> str:
    """Return the sha256 of these modules' sources."""
    text = "".join(inspect.getsource(module) for module in modules)
    return hashlib.sha256(text.encode()).hexdigest()


def _driver_sources(subject: EnvVariant, driver: str) -> str:
    """Hash a driver with everything that it may import: the whole package around it.

    For a driver of the core that is its module. Candidates' packages inside a driver's own package
    do not count: an edit of a candidate does not change the oracle's behaviour.
    """
    path = subject.driver(driver)
    # The factory may be defined in another module than the one that names it.
    homes = {path.partition(":")[0], registry.load_object(path).__module__}
    homes = {home for home in homes if home.partition(".")[0] not in sys.stdlib_module_names}
    candidates = set()
    for name in {name for ref in subject.env.candidates for name in ref.packages}:
        try:
            candidates.add(package_folder(name))
        except UserError:
            continue  # it is not here; its own tests say so
    return "".join(_home_sources(home, candidates) for home in sorted(homes))


def _home_sources(home: str, candidates: set[Path]) -> str:
    package = home.rpartition(".")[0]
    if package == drivers.__package__:
        return sources_of(importlib.import_module(home))
    if package:
        return sources_below(package_folder(package), candidates)
    # A module outside any package may import the modules of its folder.
    folder = Path(str(importlib.import_module(home).__file__)).parent
    return hash_of((path.name, path) for path in sorted(folder.glob("*.py")))
