"""A C library's calls to the C library's random functions, answered from the words of the step.

The library is a file that is not edited. Its own calls go through a table of addresses, which the
dynamic linker has filled in its memory; the entries of random functions are pointed elsewhere. Of
Linux, for 64-bit libraries in the ELF format.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from twinstep.chance import elf, words
from twinstep.chance.draws import Draws
from twinstep.errors import UserError

_INT, _LONG, _UINT, _DOUBLE = ctypes.c_int, ctypes.c_long, ctypes.c_uint, ctypes.c_double
_VOID, _POINTER, _SIZE = None, ctypes.c_void_p, ctypes.c_size_t
#: The functions that draw, and those that set a seed.
RANDOM = frozenset(
    ("rand", "rand_r", "random", "lrand48", "nrand48", "mrand48", "drand48", "erand48")
    + ("arc4random", "arc4random_uniform", "arc4random_buf", "getentropy", "getrandom")
)
_SEEDS = ("srand", "srandom", "srand48")
#: Callbacks and patched libraries: never freed, as the libraries call them for good.
_KEPT: list[Any] = []


def interpose(library: ctypes.CDLL) -> tuple[str, ...]:
    """Answer the library's random functions from the `Draws` whose `with` is open.

    Return their names: a row with names takes them as places. Seeds it sets change nothing.
    UserError if it calls none that is known, or this machine has no such libraries.
    """
    if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise UserError("chance: a C library's draws can be answered on 64-bit Linux alone")
    called = elf.called(library)
    if RANDOM.isdisjoint(called):
        raise UserError(
            f"chance: {library._name} calls no random function of the C library "
            f"({', '.join(sorted(RANDOM))}): it computes its own numbers; place its state, or seed "
            "it, instead"
        )
    answers = {name: answer for name, answer in _answers().items() if name in called}
    _KEPT.extend([library, answers])
    for name, answer in answers.items():
        for slot in called[name]:
            elf.redirect(slot, ctypes.cast(answer, _POINTER).value or 0)
    return tuple(sorted(answers))


def _answers() -> dict[str, Any]:
    """Return name -> callback of every function that is answered."""

    def word(what: str) -> int:
        if Draws.active is None:
            return 0  # while the library is loaded, or freed
        return int(Draws.active.take_in_c(1, what)[0])

    def thirty_one(what: str) -> int:
        return word(what) >> 1

    def unit(what: str) -> float:
        return float(words.units(np.array([word(what)], np.uint32))[0])

    def below(count: int) -> int:
        if count < 2:
            return 0
        return int(words.below(np.array([word("arc4random_uniform")], np.uint32), count)[0])

    def fill(buffer: int, size: int, what: str) -> int:
        if Draws.active is not None:
            drawn = Draws.active.take_in_c(-(-size // 4), what)
            ctypes.memmove(buffer, drawn.tobytes(), size)
        return 0

    def nothing(*_: Any) -> None:
        return None

    def of(result: Any, function: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(function)

    return {
        "rand": of(_INT, lambda: thirty_one("rand")),
        "rand_r": of(_INT, lambda _: thirty_one("rand_r"), _POINTER),
        "random": of(_LONG, lambda: thirty_one("random")),
        "lrand48": of(_LONG, lambda: thirty_one("lrand48")),
        "nrand48": of(_LONG, lambda _: thirty_one("nrand48"), _POINTER),
        "mrand48": of(_LONG, lambda: word("mrand48") - 2**31),
        "drand48": of(_DOUBLE, lambda: unit("drand48")),
        "erand48": of(_DOUBLE, lambda _: unit("erand48"), _POINTER),
        "arc4random": of(_UINT, lambda: word("arc4random")),
        "arc4random_uniform": of(_UINT, below, _UINT),
        "arc4random_buf": of(_VOID, lambda b, n: fill(b, n, "arc4random_buf"), _POINTER, _SIZE),
        "getentropy": of(_INT, lambda b, n: fill(b, n, "getentropy"), _POINTER, _SIZE),
        "getrandom": of(
            _LONG, lambda b, n, _: fill(b, n, "getrandom") or n, _POINTER, _SIZE, _UINT
        ),
        "srand": of(_VOID, nothing, _UINT),
        "srandom": of(_VOID, nothing, _UINT),
        "srand48": of(_VOID, nothing, _LONG),
    }
