"""Under xdist all tests of one candidate run in one process, which compiles it once.

xdist's own groups write a suffix into test ids, which pytest 9.2 no longer lets it do; and a
report's bytes must not depend on how the tests were spread.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from twinstep.project.registry import Pair

#: Where the tests of levels 1 and 2 are.
_SMALL = ("properties/", "interactions/")


def group(test: str, labels: Iterable[str]) -> str:
    """Return the label that a test id belongs to, or without one the group that xdist gives it.

    labels: of pairs and subjects. Of several that fit the longest is meant. A test marked
    `xdist_group` has its group behind an `@`; any other one is a group of its own.
    """
    name, _, rest = test.partition("[")
    inner = rest.partition("]@")[0].removesuffix("]")
    fits = [label for label in labels if inner == label or inner.startswith(f"{label}-")]
    own = test.rpartition("@")[2] if test.rfind("@") > test.rfind("]") else test
    return max(fits, key=len, default=own)


def shared(label: str, pairs: list[Pair]) -> str:
    """Return the group of a label: all variants of a candidate that shares their programs."""
    for pair in pairs:
        if pair.label == label and pair.candidate.shares_programs:
            return f"{pair.subject.env.name}-{pair.candidate.name}"
    return label


class Groups:
    """Which tests run in one process. pairs: those of the run."""

    def __init__(self, pairs: list[Pair]) -> None:
        self._pairs = pairs
        self._labels = {label for pair in pairs for label in (pair.label, pair.subject.label)}
        #: The group of a test by its id.
        self.of: Callable[[str], str] = functools.cache(self._of)

    def _of(self, test: str) -> str:
        label = group(test, self._labels)
        together = shared(label, self._pairs)
        # Two processes are busy alike: whole episodes take as long as all that comes before them.
        small = any(folder in test for folder in _SMALL)
        return f"{together}, levels 1 and 2" if small and together != label else together


def forget_programs() -> None:
    """Free what was compiled for one group before the next: a dozen programs of a game take GBs."""
    if jax := sys.modules.get("jax"):
        jax.clear_caches()
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def by_pair(config: pytest.Config, log: Any, groups: Groups) -> Any:
    """Return the scheduler that keeps each group's tests together."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPair(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return groups.of(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            # A worker can have died while the news of it is still on its way: then `remove_node`
            # takes back what it was to get.
            with contextlib.suppress(OSError):
                super()._assign_work_unit(node)

        def remove_node(self, node: Any) -> str | None:
            """Give a worker's tests to others; not the one it died in, which has failed."""
            work = self.assigned_work.pop(node)
            left = [(unit, test) for unit in work.values() for test in unit if not unit[test]]
            if not left:
                return None
            unit, crashed = left[0]
            unit[crashed] = True
            self.workqueue.update({n: unit for n, unit in work.items() if not all(unit.values())})
            for other in self.assigned_work:
                self._reschedule(other)
            return crashed

        def _reschedule(self, node: Any) -> None:
            # A dead worker's successor may still be collecting; it asks by itself afterwards.
            if node not in self.registered_collections:
                return
            super()._reschedule(node)
            # A worker begins a test when it knows the next one, or that there is none.
            while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                if self.workqueue:
                    self._assign_work_unit(node)
                else:
                    node.shutdown()

    return ByPair(config, log)
