"""PyBoy for tests: headless, silent, at full speed; skips tests where it is not installed."""

import io
import warnings
from typing import Any

import pytest

from twinstep.tests.support.requirements import in_ci


def need_pyboy() -> Any:
    """Return the PyBoy class; skip the test without PyBoy, except in CI."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyBoy warns about the origin of its SDL2
        if in_ci():
            import pyboy
        else:
            pyboy = pytest.importorskip("pyboy", reason="pyboy is not installed")
    return pyboy.PyBoy


def switch_on(rom: bytes) -> Any:
    """Return a Game Boy before its first frame. Close it with `stop(save=False)`."""
    boy = need_pyboy()(
        io.BytesIO(rom), window="null", sound_emulated=False, cgb=False, log_level="CRITICAL"
    )
    boy.set_emulation_speed(0)
    return boy
