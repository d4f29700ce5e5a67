"""Command lines of child processes that import the same modules as this process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import twinstep


def child_command(module: str, *arguments: object, inside: Callable[[str], str] = str) -> list[str]:
    """Return the command of a child that runs a module's `serve(*arguments)`; see child.py.

    inside: returns where the child finds a path of this process.
    """
    origin = json.dumps(
        {
            "path": [inside(os.path.abspath(part)) for part in sys.path if isinstance(part, str)],
            "file": inside(str(twinstep.__file__)),
            "folders": list(map(inside, twinstep.__path__)),
        }
    )
    script = inside(str(Path(__file__).with_name("child.py")))
    return [inside(sys.executable), "-P", script, origin, module, *map(str, arguments)]
