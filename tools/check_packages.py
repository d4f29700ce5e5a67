"""Fails when a package is not named in pyproject.toml: the wheel would lack it."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    named = set(settings["packages"])
    found = set()
    for package, folder in settings["package-dir"].items():
        for file in (ROOT / folder).rglob("__init__.py"):
            found.add(".".join([package, *file.parent.relative_to(ROOT / folder).parts]))
    lines = [f"{name}: add it to [tool.setuptools] packages" for name in sorted(found - named)]
    lines += [f"{name}: named there, but has no __init__.py" for name in sorted(named - found)]
    if lines:
        sys.exit("\n".join(["pyproject.toml and the folders differ:", *lines]))


if __name__ == "__main__":
    main()
