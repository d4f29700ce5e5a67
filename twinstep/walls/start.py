"""Enter the walls, then run a program: `python -I -S start.py PROGRAM [ARGUMENT...]`.

Run by its path, so that no folder on a search path can put another module in place of these. The
view comes in an environment variable; see enter.py.
"""

import importlib.util
import pathlib
import sys


def main() -> None:
    """Load this folder as a package, whatever twinstep is installed, and enter."""
    folder = pathlib.Path(__file__).parent
    spec = importlib.util.spec_from_file_location(
        "walls", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["walls"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    enter = importlib.import_module("walls.enter")
    enter.main(sys.argv[1:])


if __name__ == "__main__":
    main()
