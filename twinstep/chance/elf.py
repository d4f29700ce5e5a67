"""The table of addresses through which a loaded library calls others: read, and pointed elsewhere.

Written from the ELF specification and the dynamic linker's `dlinfo`.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Iterator

from twinstep.errors import UserError

#: Kinds of entries that hold a function's address: jump slot, global data, address.
_KINDS = {"x86_64": {7, 6, 1}, "aarch64": {1026, 1025, 257}}
#: Tags of the dynamic section.
_STRINGS, _SYMBOLS, _TABLE, _TABLE_SIZE, _JUMPS, _JUMPS_SIZE = 5, 6, 7, 8, 23, 2
_ENTRY, _SYMBOL = 24, 24
_LINK_MAP = 2
_READ_WRITE = 3


class _LinkMap(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("dynamic", ctypes.c_uint64),
    )


def called(library: ctypes.CDLL) -> dict[str, list[int]]:
    """Return function -> places of its address, of all that the library calls elsewhere."""
    kinds = _KINDS.get(platform.machine())
    if kinds is None:
        raise UserError(
            f"chance: a C library's draws can be answered on {' and '.join(_KINDS)} alone, this "
            f"machine is {platform.machine()}"
        )
    found: dict[str, list[int]] = {}
    for name, kind, slot in _entries(library):
        if kind in kinds:
            found.setdefault(name, []).append(slot)
    return found


def _entries(library: ctypes.CDLL) -> Iterator[tuple[str, int, int]]:
    """Yield (function, kind, place of its address) of every entry."""
    place = ctypes.POINTER(_LinkMap)()
    itself = ctypes.CDLL(None, use_errno=True)
    if itself.dlinfo(ctypes.c_void_p(library._handle), _LINK_MAP, ctypes.byref(place)):
        raise UserError(f"chance: {library._name} cannot be read by the dynamic linker's dlinfo")
    base, dynamic = place.contents.base, dict(_dynamic(place.contents.dynamic))

    def address(tag: int) -> int:
        # Some linkers leave these relative to the library's place in memory.
        value = dynamic.get(tag, 0)
        return value + base if value and value < base else value

    strings, symbols = address(_STRINGS), address(_SYMBOLS)
    for table, size in ((_TABLE, _TABLE_SIZE), (_JUMPS, _JUMPS_SIZE)):
        for at in range(address(table), address(table) + dynamic.get(size, 0), _ENTRY):
            offset, info = _word(at), _word(at + 8)
            name = _u32(symbols + (info >> 32) * _SYMBOL)
            yield ctypes.string_at(strings + name).decode(), info & 0xFFFFFFFF, base + offset


def _dynamic(at: int) -> Iterator[tuple[int, int]]:
    while tag := _word(at):
        yield tag, _word(at + 8)
        at += 16


def _word(at: int) -> int:
    return ctypes.c_uint64.from_address(at).value


def _u32(at: int) -> int:
    return ctypes.c_uint32.from_address(at).value


def redirect(slot: int, address: int) -> None:
    """Write an address to a place of `called`, which the linker may have made read-only."""
    page = slot - slot % mmap.PAGESIZE
    itself = ctypes.CDLL(None)
    if itself.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(2 * mmap.PAGESIZE), _READ_WRITE):
        # The second page may lie beyond the table's end.
        itself.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), _READ_WRITE)
    ctypes.c_uint64.from_address(slot).value = address
