"""Memory that the harness and a candidate's process share: a half for the arrays of each.

A pipe copies an array six times on its way; here it is written once and copied out once. The other
side is not trusted: it can change its half at any time, so nothing is read in place, and it cannot
shrink the memory under this process.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Iterator
from typing import Any

from twinstep._lib.rpc import Codec
from twinstep.runner.wire import MOST, pack, unpack

#: Bytes of a half; arrays beyond go through the pipe. Only pages that were used take memory.
HALF = 1 << 28
#: The sides, and which half each writes to.
HARNESS, CANDIDATE = 0, 1


@contextlib.contextmanager
def made() -> Iterator[int | None]:
    """Give a descriptor of new memory for the other side, closed in the end.

    None where the system has no such memory, or a limit of the size of files (`ulimit -f`) is
    below it.
    """
    if not hasattr(os, "memfd_create"):
        yield None
        return
    descriptor = os.memfd_create("arrays", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        try:
            os.ftruncate(descriptor, 2 * HALF)
        except OSError:
            yield None
            return
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        yield descriptor
    finally:
        os.close(descriptor)


def codec(descriptor: int | None, side: int) -> Codec:
    """Return a side's codec over the memory of a descriptor, which may be closed thereafter."""
    if descriptor is None:
        return Codec(pack, unpack, MOST)
    halves = _Halves(memoryview(mmap.mmap(descriptor, 2 * HALF)), side)
    return Codec(halves.encode, halves.decode, MOST)


class _Halves:
    """One side of the memory.

    What it wrote stays until a message has come back. An answer that nobody waited for, because an
    exception came between, is never decoded: what is written until then goes through the pipe.
    """

    def __init__(self, memory: memoryview, side: int) -> None:
        self._mine = memory[side * HALF : (side + 1) * HALF]
        self._others = memory[(1 - side) * HALF : (2 - side) * HALF]
        self._in_use = False

    def encode(self, value: Any) -> bytes:
        room = None if self._in_use else self._mine
        self._in_use = True
        return pack(value, room)

    def decode(self, data: bytes | memoryview) -> Any:
        self._in_use = False
        return unpack(data, self._others)
