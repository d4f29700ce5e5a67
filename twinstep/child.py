"""Starts the oracle's process with the modules of the process that asks, whatever folder it is in.

Run by its path: `python -P child.py FD LIFE ORIGIN`, ORIGIN a JSON text with the parent's
sys.path and where its `twinstep` is. A checkout in the current folder or
under PYTHONPATH would otherwise be imported in its place, and its traces kept as this one's.
"""

import importlib.util
import json
import sys


def main() -> None:
    """Import the parent's twinstep, then serve."""
    origin = json.loads(sys.argv[3])
    sys.path[:] = origin["path"]
    if "twinstep" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "twinstep", origin["file"], submodule_search_locations=origin["folders"]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules["twinstep"] = package = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
    from twinstep import worker

    worker.serve(int(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
