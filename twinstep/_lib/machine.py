"""The machine of a measurement: processor, system, versions, load; no host or user names."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import subprocess
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from twinstep import __version__

#: Instruction sets that change the speed of array arithmetic.
_ISA = re.compile(r"(sse|ssse|avx|amx|fma|bmi|f16c|asimd|sve|neon)")
_PACKAGES = ("numpy", "jax", "jaxlib")


def machine(cores: Sequence[int]) -> dict[str, Any]:
    """Return the processor, its used cores, its instruction sets and the system."""
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    facts = {name.strip(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    flags = facts.get("flags", facts.get("Features", "")).split()
    system = platform.system()
    with contextlib.suppress(OSError):
        system = platform.freedesktop_os_release().get("PRETTY_NAME", system)
    return {
        "cpu": facts.get("model name", platform.processor() or platform.machine()),
        "architecture": platform.machine(),
        "cores_used": len(cores),
        "cores_online": os.cpu_count(),
        "isa": sorted(flag for flag in flags if _ISA.match(flag)),
        "os": f"{system}, Linux {'.'.join(platform.release().split('.')[:2])}",
        "libc": " ".join(platform.libc_ver()),
        **_gpus(),
    }


def has_accelerator() -> bool:
    """Return whether this machine shows a device that JAX could compute on beside the CPU."""
    names = ("nvidia[0-9]*", "kfd", "dxg", "accel*", "vfio/[0-9]*")
    found = any(True for name in names for _ in Path("/dev").glob(name))
    return found or platform.system() == "Darwin"


def _gpus() -> dict[str, str]:
    """Return the names of NVIDIA's GPUs that JAX may use, {} if there are none.

    From the driver, because JAX would allocate memory on each.
    """
    if os.environ.get("JAX_PLATFORMS", "cuda").split(",")[0] not in ("cuda", "gpu"):
        return {}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, check=True, timeout=30)
        if names := [name.strip() for name in done.stdout.splitlines() if name.strip()]:
            return {"gpu": ", ".join(names)}
    return {}


def versions() -> dict[str, str]:
    """Return the versions of the software in every measurement."""
    by_name = {"twinstep": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            by_name[name] = version(name)
    if flags := os.environ.get("XLA_FLAGS"):
        by_name["XLA_FLAGS"] = flags
    return by_name


def made(cores: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the machine, versions and date of a result.

    cores: the ones that took part, None for all that this process may use.
    """
    return {
        "machine": machine(sorted(os.sched_getaffinity(0)) if cores is None else cores),
        "versions": versions(),
        "date": time.strftime("%Y-%m-%d"),
    }


def load() -> list[float]:
    """Return the load average of the last 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]
