"""One line of progress on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def on_a_terminal() -> Callable[[str], None]:
    """Return a function that shows one line on a terminal, and nothing in CI or in a file."""
    if not sys.stderr.isatty() or os.environ.get("CI", "").lower() in ("true", "1"):
        return lambda text: None
    return lambda text: print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)
