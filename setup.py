"""Find the packages: every folder with an `__init__.py` below one of [tool.setuptools.package-dir].

A new environment needs no entry in a list. Everything else about the project is in pyproject.toml.
"""

import sys
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
#: Packages of a checkout only: `make setup` installs it editable, and no wheel holds them.
CHECKOUT_ONLY = {"twinstep.tests"}


def packages() -> list[str]:
    """Return the import names of all packages to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    editable = "editable_wheel" in sys.argv
    found = []
    for package, folder in project["tool"]["setuptools"]["package-dir"].items():
        if package in CHECKOUT_ONLY and not editable:
            continue
        for file in sorted((ROOT / folder).rglob("__init__.py")):
            inner = file.parent.relative_to(ROOT / folder).parts
            found.append(".".join([package, *inner]))
    return found


setup(packages=packages())
