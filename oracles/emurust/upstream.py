"""Availability of the reference: every file of PyBoy's wheel as published."""

from __future__ import annotations

import base64
import functools
import hashlib
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from twinstep.environment import Probe
from twinstep.errors import OracleMissing
from twinstep.oracles.emurust.saved import VERSION

PYBOY = "2.8.1"
#: sha256 of a wheel's list of its own files, see `listed`, by machine and Python: each wheel has
#: its own compiled modules.
RECORDS = {
    ("x86_64", "3.11"): "4dc06108d07ed9886321e924a3baea822682ec2a796f7066ce79824f3db0c583",
    ("x86_64", "3.12"): "f987adc7e4c3921fbe50851b23434c800d08a35bdad38629e27d2810948828ef",
    ("x86_64", "3.13"): "f7c66748d66c5b22c0efa104c974e1e8fc20273acac1cf6d3499c4a82169a610",
    ("x86_64", "3.14"): "4f5794896caa10062d4eca1b1e3bbe347f166ada66a17f46cff699f38568845b",
}
MEND = 'pip install "twinstep[emurust]"'
_AGAIN = f"pip install --force-reinstall pyboy=={PYBOY}"


def probe(params: Mapping[str, Any]) -> Probe:
    """Return whether the reference can run here, without importing PyBoy."""
    pins = {"pyboy": PYBOY, "saved state": str(VERSION), "files": RECORDS.get(_wheel(), "")}
    try:
        require()
    except OracleMissing as missing:
        return Probe(pins, missing.problem, missing.mend)
    return Probe(pins)


@functools.cache
def require() -> None:
    """Raise OracleMissing unless PyBoy is installed byte for byte as published."""
    try:
        found = distribution("pyboy")
    except PackageNotFoundError:
        raise OracleMissing("pyboy is not installed", MEND) from None
    if found.version != PYBOY:
        raise OracleMissing(f"pyboy is {found.version}, the proof is against {PYBOY}", MEND)
    machine, python = _wheel()
    if (machine, python) not in RECORDS:
        known = ", ".join(f"Python {p} on {m}" for m, p in sorted(RECORDS))
        raise OracleMissing(
            f"pyboy's wheel for Python {python} on {machine} is not pinned", f"run on {known}"
        )
    files = listed(found)
    if _digest(files) != RECORDS[machine, python]:
        raise OracleMissing(f"pyboy {PYBOY}'s list of files is not as published", _AGAIN)
    for name, wanted in files.items():
        if _sha256(Path(str(found.locate_file(name)))) != wanted:
            raise OracleMissing(f"{name} is not as published", _AGAIN)


def listed(found: Distribution) -> dict[str, str]:
    """Return the wheel's files -> their sha256 in its RECORD's spelling.

    Files next to the package (`pyboy-2.8.1.dist-info/`) belong to the installer, and so do those
    without a hash, which are created when the package is imported.
    """
    return {
        str(file): file.hash.value
        for file in found.files or ()
        if file.parts[0] == "pyboy" and file.hash is not None and file.hash.mode == "sha256"
    }


def _wheel() -> tuple[str, str]:
    return platform.machine(), "{}.{}".format(*sys.version_info)


def _digest(files: Mapping[str, str]) -> str:
    lines = [f"{name},{value}\n" for name, value in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _sha256(path: Path) -> str:
    """Return the file's sha256 as a RECORD spells it, "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return ""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
