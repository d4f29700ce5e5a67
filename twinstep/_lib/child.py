"""Start a child process with the modules of its parent, whatever folder it runs in.

Run by its path: `python -P child.py ORIGIN MODULE FD [ARGUMENT...]`. ORIGIN is a JSON text with
the parent's sys.path and the place of its `twinstep`; MODULE's `serve` gets the rest. A checkout in
the current folder or under PYTHONPATH would be imported instead without this, and its traces
stored as the parent's.
"""

import importlib
import importlib.util
import json
import sys


def main() -> None:
    """Import the parent's twinstep, then serve."""
    origin = json.loads(sys.argv[1])
    sys.path[:] = origin["path"]
    if "twinstep" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "twinstep", origin["file"], submodule_search_locations=origin["folders"]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules["twinstep"] = package = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
    importlib.import_module(sys.argv[2]).serve(int(sys.argv[3]), *sys.argv[4:])


if __name__ == "__main__":
    main()
