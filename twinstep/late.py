"""Packages whose modules are imported when they are used."""

from __future__ import annotations

import importlib
from types import ModuleType


class Package:
    """A package by name; an attribute is one of its modules, imported now.

    An adapter that reaches its implementation so can be made, and tested module by module, while
    parts of the implementation are not written yet.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, module: str) -> ModuleType:
        return importlib.import_module(f"{self._name}.{module}")
