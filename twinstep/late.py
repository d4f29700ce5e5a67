"""Packages that import their modules on first use."""

from __future__ import annotations

import importlib
from types import ModuleType


class Package:
    """A package by name; an attribute access imports the module of that name.

    An adapter that reaches its implementation this way can be built, and tested module by module,
    while parts of the implementation are not written yet.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, module: str) -> ModuleType:
        return importlib.import_module(f"{self._name}.{module}")
