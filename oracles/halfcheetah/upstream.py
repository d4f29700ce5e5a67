"""Availability of the reference: MuJoCo's and Gymnasium's files as published."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import platform
import struct
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from twinstep.environment import Probe
from twinstep.errors import OracleMissing

VERSIONS = {"mujoco": "3.14.0", "gymnasium": "1.4.0"}
_ENVIRONMENT = "gymnasium/envs/mujoco"
#: The files that determine an episode -> their sha256.
FILES = {
    f"{_ENVIRONMENT}/assets/half_cheetah.xml": (
        "11797a5d69e8ac955e89ca6fdd3a0087f1c990094fda401ac51420de1b6c5494"
    ),
    f"{_ENVIRONMENT}/half_cheetah_v5.py": (
        "c6520e364985f4715d42016284f694f7ba601acedbfb0221a43888ac49affcf3"
    ),
    f"{_ENVIRONMENT}/mujoco_env.py": (
        "77e8205c380d8e0d7dc68f6ad136cf192f07c061cd3f00eeebfac8414c71bc49"
    ),
    "gymnasium/wrappers/common.py": (
        "ef31d8b3c302ba123d353980cdb09b2c85116d6a0b872da168f67c78bf80e4a8"
    ),
    "gymnasium/utils/seeding.py": (
        "eb2a223b92604b7d1df2a859338e4a175c60f3fb11b87f8f316f306f1b97de53"
    ),
}
#: MuJoCo itself. Every platform's wheel has its own; the proof is made with this one.
LIBRARY = f"mujoco/libmujoco.so.{VERSIONS['mujoco']}"
LIBRARY_SHA256 = {
    "x86_64": "5e7623e30f55bf324d4c9648379ebeba5bcd153ee0304c52eac74bf8d441000b",
}
#: gymnasium imports it with every MuJoCo environment, but lists it only as an extra.
ALSO_NEEDED = "imageio"
MEND = 'pip install "twinstep[halfcheetah]"'


def probe(params: Mapping[str, Any]) -> Probe:
    """Return whether the reference can run here, without importing MuJoCo or Gymnasium.

    numpy is a pin: it draws an episode's start and adds up the cost of an action. So are the
    kind of processor, for which MuJoCo's shared library is made, and the C library's functions.
    """
    machine = platform.machine()
    pins = {**VERSIONS, **FILES, LIBRARY: LIBRARY_SHA256.get(machine, machine)}
    pins["C library"] = arithmetic()
    try:
        pins["numpy"] = distribution("numpy").version
        _require()
    except OracleMissing as missing:
        return Probe(pins, missing.problem, missing.mend)
    return Probe(pins)


def source() -> Path:
    """Return the folder with the environment's own file and its model."""
    return _path(_ENVIRONMENT)


def arithmetic() -> str:
    """Return 16 digits that change when this machine's sin, cos, exp or log1p does.

    MuJoCo turns bodies by the C library's functions, NumPy draws with them. One library gives
    different results on processors with and without fused multiply-add.
    """
    angles = [n / 1024 for n in range(-4096, 4096)]
    answers = [f(x) for f in (math.sin, math.cos, math.exp) for x in angles]
    answers += [math.log1p(-n / 8192) for n in range(8192)]
    return hashlib.sha256(struct.pack(f"{len(answers)}d", *answers)).hexdigest()[:16]


def _require() -> None:
    """Raise OracleMissing unless every file is present as published."""
    for package, version in VERSIONS.items():
        try:
            found = distribution(package).version
        except PackageNotFoundError:
            raise OracleMissing(f"{package} is not installed", MEND) from None
        if found != version:
            raise OracleMissing(f"{package} is {found}, the proof is against {version}", MEND)
    if importlib.util.find_spec(ALSO_NEEDED) is None:
        raise OracleMissing(f"{ALSO_NEEDED} is not installed", MEND)
    machine = platform.machine()
    if machine not in LIBRARY_SHA256:
        raise OracleMissing(
            f"MuJoCo's library for {machine} is not pinned",
            f"run on {' or '.join(LIBRARY_SHA256)}",
        )
    for name, sha256 in {**FILES, LIBRARY: LIBRARY_SHA256[machine]}.items():
        if _sha256(_path(name)) != sha256:
            package = name.partition("/")[0]
            raise OracleMissing(
                f"{name} is not as published",
                f"pip install --force-reinstall {package}=={VERSIONS[package]}",
            )


def _path(name: str) -> Path:
    return Path(str(distribution(name.partition("/")[0]).locate_file(name)))


def _sha256(path: Path) -> str:
    """Return the file's sha256, "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
