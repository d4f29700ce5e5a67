"""Memory that is used again and again stays with the process."""

from __future__ import annotations

import ctypes
import functools

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
