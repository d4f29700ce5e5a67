"""Keep a candidate away from the oracle: while it is imported and built, and in every call.

Oracle and candidate share nothing but the contract. A candidate that calls the reference
would agree with it in everything and prove nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from twinstep.project.registry import Pair


class _Refusal(MetaPathFinder):
    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse the oracle's modules; leave all others to the other finders."""
        if _within(fullname, self._packages):
            raise ImportError(
                f"{fullname} belongs to the oracle, and a candidate shares nothing with it but "
                "the contract"
            )
        return None


class Isolation:
    """A context in which imports of the oracle are refused, entered around every call.

    It refuses the oracle's bridge and the packages that the bridge drives, and sets aside those of
    their modules that this process has imported. A candidate inside the bridge's package may import
    that package, as in a project of one file.
    """

    def __init__(self, pair: Pair) -> None:
        oracle = pair.subject.env.oracle
        home = pair.candidate.factory.partition(":")[0]
        refused = [*oracle.upstream]
        if not _within(home, [oracle.package]):
            refused.append(oracle.package)
        self._refused = refused
        self._finder = _Refusal(refused)
        self._known: list[str] = []
        self._loaded = -1
        self._depth = 0
        self._aside: dict[str, ModuleType] = {}
        self._parents: list[tuple[ModuleType, str]] = []

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth > 1 or not self._refused:
            return
        if len(sys.modules) != self._loaded:  # looking through all of them takes a while
            self._loaded = len(sys.modules)
            self._known = [name for name in sys.modules if _within(name, self._refused)]
        self._aside = {name: sys.modules.pop(name) for name in self._known if name in sys.modules}
        self._parents = _taken_from_parents(self._aside)
        sys.meta_path.insert(0, self._finder)

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        if self._depth or not self._refused:
            return
        sys.meta_path.remove(self._finder)
        for parent, leaf in self._parents:
            setattr(parent, leaf, self._aside[f"{parent.__name__}.{leaf}"])
        sys.modules.update(self._aside)


def _taken_from_parents(aside: dict[str, ModuleType]) -> list[tuple[ModuleType, str]]:
    """Remove the modules from the packages that stay: `from package import oracle` finds them."""
    taken = []
    for name in aside:
        outer, _, leaf = name.rpartition(".")
        parent = sys.modules.get(outer)
        if parent is not None and getattr(parent, leaf, None) is aside[name]:
            delattr(parent, leaf)
            taken.append((parent, leaf))
    return taken


def _within(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)
