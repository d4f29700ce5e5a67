"""A signal that ends a command does end it, wherever Python was when it came."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

#: As Ctrl-C, `kill`, and a terminal that is closed.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds until a lost interruption comes again.
_AGAIN = 0.01


@contextlib.contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """All of these signals raise KeyboardInterrupt inside: nothing is lost.

    What is ignored, as below nohup, is ignored still.
    """
    named = [n for n in _ENDING if signal.getsignal(n) == signal.SIG_DFL]
    for number in named:
        signal.signal(number, signal.default_int_handler)
    usual, sys.unraisablehook = sys.unraisablehook, _raised_again
    try:
        yield
    finally:
        sys.unraisablehook = usual
        for number in named:
            signal.signal(number, signal.SIG_DFL)


def _raised_again(lost: sys.UnraisableHookArgs, /) -> None:
    """Interrupt again after an interruption that Python dropped.

    It drops what is raised in callbacks of the garbage collector and of weak references, of which
    JAX has some, and in finalisers. Not at once: that would be inside the same callback still.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    timer = threading.Timer(_AGAIN, _interrupt)
    timer.daemon = True
    timer.start()


def _interrupt() -> None:
    for number in _ENDING:
        handler: Any = signal.getsignal(number)
        if handler == signal.default_int_handler:
            # A real signal: what waits in the kernel is woken by no other.
            signal.pthread_kill(threading.main_thread().ident or 0, number)
            return
