"""Command lines of child processes that import exactly what this process imports."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import twinstep


def child_command(module: str, *arguments: object) -> list[str]:
    """Return what starts a child whose `serve(*arguments)` is in a module; see child.py.

    It imports exactly what this process imports.
    """
    origin = json.dumps(
        {
            "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)],
            "file": twinstep.__file__,
            "folders": list(twinstep.__path__),
        }
    )
    script = str(Path(__file__).with_name("child.py"))
    return [sys.executable, "-P", script, origin, module, *map(str, arguments)]
