"""How a run was asked for, and what it cannot ask."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass


class NeedsInProcessCandidate(Exception):
    """A test needs the candidate in its own process, and the run keeps it apart."""


class NeedsOracle(Exception):
    """A test needs the oracle, and only traces are at hand."""


@dataclass(frozen=True)
class RunSettings:
    """How a run was asked for.

    drivers: the run's, those of each contract if empty. minutes: for which a candidate's drivers go
    on with further episodes. tolerance: (ABS, REL) that floats may be off beside their gates.
    batch_sizes: those in which a candidate is called, drawn anew if empty.
    """

    episodes: int = 100
    drivers: tuple[str, ...] = ()
    minutes: float = 0.0
    seeds: str = "public"
    full_budget: bool = False
    isolate: bool = False
    progress: Callable[[str], None] = lambda text: None
    tolerance: tuple[float, float] | None = None
    batch_sizes: tuple[int, ...] = ()


def in_ci() -> bool:
    """Whether a missing oracle must be an error."""
    return os.environ.get("CI", "").lower() in ("true", "1")


def keep_apart(isolate: bool) -> None:
    """Call candidates' probes and the hashes of their builds behind walls, or here as usual."""
    from twinstep.project import registry

    how = None
    if isolate:
        from twinstep.runner.apart import called as how
    registry.call_candidates_by(how)
