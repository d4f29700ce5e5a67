"""End a command on a signal, wherever Python is when the signal arrives."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

#: As Ctrl-C, `kill`, and a terminal that is closed.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds until a lost interruption comes again.
_AGAIN = 0.01


@contextlib.contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt inside on each of these signals; none is lost.

    A signal that is ignored, as below nohup, stays ignored.
    """
    usual = {number: signal.getsignal(number) for number in _ENDING}
    plain = (signal.SIG_DFL, signal.default_int_handler)
    usual = {number: handler for number, handler in usual.items() if handler in plain}
    for number in usual:
        signal.signal(number, _interrupt)
    usual_hook, sys.unraisablehook = sys.unraisablehook, _hook
    try:
        yield
    finally:
        sys.unraisablehook = usual_hook
        for number, handler in usual.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal: raise KeyboardInterrupt, but inside `_hook` only later.

    Python prints and drops exceptions of its hook. The frames are searched because no timing keeps
    a signal out: on a busy machine the hook is slower than any delay.
    """
    if _inside_hook(frame):
        _interrupt_soon()
        return
    raise KeyboardInterrupt


def _inside_hook(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _hook.__code__:
        frame = frame.f_back
    return frame is not None


def _hook(lost: sys.UnraisableHookArgs, /) -> None:
    """Interrupt again after an interruption that Python dropped.

    Python drops exceptions of finalisers and of callbacks of the garbage collector and of weak
    references, of which JAX has some. Not at once: that would still be inside the same callback.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _interrupt_soon()
    else:
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    """Start a thread that interrupts; unlike threading's, its start waits for nothing."""
    _thread.start_new_thread(_interrupt_later, ())


def _interrupt_later() -> None:
    time.sleep(_AGAIN)
    for number in _ENDING:
        if signal.getsignal(number) == _interrupt:
            # A real signal: nothing else wakes a thread that waits in the kernel.
            signal.pthread_kill(threading.main_thread().ident or 0, number)
            return
