"""The probe of the reference: Gymnasium's files as published, and the arithmetic."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from twinstep import Probe

PACKAGE = "gymnasium"
VERSION = "1.4.0"
_CLASSIC = "envs/classic_control"
#: The files that determine an episode -> their sha256.
FILES = {
    f"{_CLASSIC}/cartpole.py": "8c034275500ff9c60b8653273905cda0ba45aff1ee8142465516659a06ed67e0",
    f"{_CLASSIC}/utils.py": "5077e47a6ef0e49a9f65eced4032567be21a837270898f6066b08067d3aec962",
    "utils/seeding.py": "eb2a223b92604b7d1df2a859338e4a175c60f3fb11b87f8f316f306f1b97de53",
    "wrappers/common.py": "ef31d8b3c302ba123d353980cdb09b2c85116d6a0b872da168f67c78bf80e4a8",
    "core.py": "2a7a1bef059c8be021a53540bff4ea6393a853e0205c5cce28f8ba24bad304eb",
}


def probe(params: Mapping[str, Any]) -> Probe:
    """Return whether the reference can run here, without importing it."""
    pins = {PACKAGE: VERSION, **FILES, "numpy": np.__version__, "sin and cos": arithmetic()}
    mend = f"pip install {PACKAGE}=={VERSION}"
    try:
        installed = distribution(PACKAGE).version
    except PackageNotFoundError:
        return Probe(pins, f"{PACKAGE} is not installed", mend)
    if installed != VERSION:
        problem = f"{PACKAGE} is {installed}, the proof is against {VERSION}"
        return Probe(pins, problem, mend)
    for name, sha256 in FILES.items():
        if _sha256(source() / name) != sha256:
            problem = f"{PACKAGE}'s {name} is not as published"
            return Probe(pins, problem, f"pip install --force-reinstall {PACKAGE}=={VERSION}")
    return Probe(pins)


def source() -> Path:
    """Return the folder of the installed package."""
    return Path(str(distribution(PACKAGE).locate_file(PACKAGE)))


def arithmetic() -> str:
    """Return 16 digits that change with this machine's sin or cos.

    One C library gives other results on processors with and without fused multiply-add.
    """
    angles = np.linspace(-0.5, 0.5, 65536)
    answers = np.sin(angles).tobytes() + np.cos(angles).tobytes()
    return hashlib.sha256(answers).hexdigest()[:16]


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
