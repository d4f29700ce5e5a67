"""Keep a candidate away from the oracle while it is imported and built.

Oracle and candidate share nothing but the contract. A candidate that calls the reference
would agree with it in everything and prove nothing.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from twinstep.registry import Pair


class _Refusal(MetaPathFinder):
    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse what belongs to the oracle; leave everything else to the other finders."""
        if _within(fullname, self._packages):
            raise ImportError(
                f"{fullname} belongs to the oracle, and a candidate shares nothing with it but "
                "the contract"
            )
        return None


@contextlib.contextmanager
def without_the_oracle(pair: Pair) -> Iterator[None]:
    """Refuse imports of the oracle's bridge and of the packages it drives.

    Modules that this process has already imported are put aside meanwhile. The bridge's
    package is not refused to a candidate that lives in it, as in a project of one file.
    """
    oracle = pair.subject.env.oracle
    home = pair.candidate.factory.partition(":")[0]
    refused = [*oracle.upstream]
    if not _within(home, [oracle.package]):
        refused.append(oracle.package)
    aside = {name: module for name, module in sys.modules.items() if _within(name, refused)}
    for name in aside:
        del sys.modules[name]
    parents = _taken_from_parents(aside)
    finder = _Refusal(refused)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for parent, leaf in parents:
            setattr(parent, leaf, aside[f"{parent.__name__}.{leaf}"])
        sys.modules.update(aside)


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
