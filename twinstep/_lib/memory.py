"""Memory: how much there is, and that what is used again and again stays with the process."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

#: mallopt's names of malloc.h, and the values given to them in bytes.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_WHOLE, _LARGEST = 2**31 - 1, 32 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Keep freed arrays of up to 32 MB in this process; nothing where that cannot be asked for.

    glibc gives larger ones than 128 kB back at once, so that each window of a comparison would
    take new pages from the kernel: a sixth of a warm level 3.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_MMAP_THRESHOLD, _LARGEST)
    mallopt(_TRIM_THRESHOLD, _WHOLE)


def available(system: Path = Path("/")) -> int | None:
    """Return the bytes that programs may still take here, None where Linux does not tell.

    A container's own limit counts. system: the root of the file system.
    """
    told = []
    try:
        for line in (system / "proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                told.append(int(value.split()[0]) * 1024)
        limits = system / "sys/fs/cgroup"
        limit = (limits / "memory.max").read_text().strip()
        if limit != "max":
            told.append(max(0, int(limit) - int((limits / "memory.current").read_text())))
    except (OSError, ValueError, IndexError):
        pass
    return min(told, default=None)
