"""A program for a candidate's process: what it can import and which files it sees."""

import json
import sys
from pathlib import Path


def serve(_, asked):
    """Inside: say which modules import, and which files are there."""
    modules, files = json.loads(asked)
    said = []
    for module in modules:
        try:
            __import__(module)
            # A folder without files is a package to Python.
            said.append("imported" if getattr(sys.modules[module], "__file__", "") else "empty")
        except ImportError as error:
            said.append(f"{type(error).__name__}: {error}")
    print(json.dumps([said, [Path(file).exists() for file in files]]))
