"""Landlock: the kernel refuses what the program may not touch, whatever is mounted.

The walls hold without it: mounts are read-only and the network is empty. It is a second wall, and
the one that keeps signals and abstract sockets inside.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from . import kernel

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIR, _EXECUTE = 1 << 2, 1 << 3, 1 << 0
_IOCTL_DEV = 1 << 15
#: What a rule for a file may allow: to run, write, read, cut it, and control a device.
_OF_FILES = 0b111 | 1 << 14 | _IOCTL_DEV
#: ABI -> bits of access to files that it knows: 13 at first, then refer, truncate, ioctl_dev.
_FILES = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
#: Bind and connect of TCP, from ABI 4 on.
_NETWORK = 0b11
#: Abstract sockets and signals, from ABI 6 on.
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scopes")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """Return the version that the kernel offers, 0 for none."""
    return max(
        0,
        kernel.call(
            "landlock_create_ruleset",
            None,
            ctypes.c_size_t(0),
            ctypes.c_uint32(_CREATE_VERSION),
        ),
    )


def restrict(write: Sequence[str], network: bool) -> None:
    """Allow reading everything that is visible, and writing below `write` alone.

    The process must have given up new privileges before. Raises kernel.Refused where the kernel
    has Landlock and refuses a rule.
    """
    version = abi()
    if not version:
        return
    files = (1 << _FILES.get(version, 16)) - 1
    rules = _Ruleset(
        files,
        _NETWORK if version >= 4 and not network else 0,
        _SCOPES if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    handle = kernel.call(
        "landlock_create_ruleset", ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    if handle < 0:
        raise kernel.Refused("Landlock's rules", ctypes.get_errno())
    try:
        _allow(handle, "/", (_READ_FILE | _READ_DIR | _EXECUTE) & files)
        for path in write:
            _allow(handle, path, files)
        if kernel.call("landlock_restrict_self", ctypes.c_int(handle), ctypes.c_uint32(0)) < 0:
            raise kernel.Refused("Landlock", ctypes.get_errno())
    finally:
        os.close(handle)


def _allow(handle: int, path: str, bits: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(bits if os.path.isdir(path) else bits & _OF_FILES, place)
        result = kernel.call(
            "landlock_add_rule",
            ctypes.c_int(handle),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
        if result < 0:
            raise kernel.Refused(f"Landlock's rule for {path}", ctypes.get_errno())
    finally:
        os.close(place)
