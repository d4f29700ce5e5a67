"""Command lines of child processes that import the same modules as this process."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import twinstep


def child_command(module: str, *arguments: object) -> list[str]:
    """Return the command of a child that runs a module's `serve(*arguments)`; see child.py."""
    origin = json.dumps(
        {
            "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)],
            "file": twinstep.__file__,
            "folders": list(twinstep.__path__),
        }
    )
    script = str(Path(__file__).with_name("child.py"))
    return [sys.executable, "-P", script, origin, module, *map(str, arguments)]
