"""Memory: the amount available, and reuse of freed memory by the process."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

#: mallopt's parameters in malloc.h, and their values in bytes.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_WHOLE, _LARGEST = 2**31 - 1, 32 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Keep freed arrays of up to 32 MB in this process; do nothing without glibc.

    glibc returns arrays above 128 kB to the kernel at once, so that each window of a comparison
    would take new pages: a sixth of the time of a warm level 3.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_MMAP_THRESHOLD, _LARGEST)
    mallopt(_TRIM_THRESHOLD, _WHOLE)


def available(system: Path = Path("/")) -> int | None:
    """Return the bytes that programs may still allocate here, None if Linux does not report it.

    A container's own limit counts. system: the root of the file system.
    """
    limits_in_bytes = []
    try:
        for line in (system / "proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                limits_in_bytes.append(int(value.split()[0]) * 1024)
        limits = system / "sys/fs/cgroup"
        limit = (limits / "memory.max").read_text().strip()
        if limit != "max":
            used = int((limits / "memory.current").read_text())
            limits_in_bytes.append(max(0, int(limit) - used))
    except (OSError, ValueError, IndexError):
        pass
    return min(limits_in_bytes, default=None)
