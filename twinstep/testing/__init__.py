"""Compare a candidate with its reference: what suites use, and the pytest plugin behind them.

The names below are public: the tests of an environment import them from here. Every other name of
these packages may change. Each is imported on first use; the plugin must load nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twinstep.compare.arrays import broken_shares, differs, first_misses, frames_differ
    from twinstep.compare.lockstep import check_episodes
    from twinstep.diagnosis.case import Case, ask, outputs_differ
    from twinstep.inputs.batching import LANES, WINDOW, chunk_lanes
    from twinstep.inputs.drawn_sizes import drawn_sizes
    from twinstep.inputs.sampling import sample_actions, some_starts, takes_whole_state
    from twinstep.inputs.seeds import seeds, starts_of
    from twinstep.reference.trace_set import TraceSet
    from twinstep.testing.distributions import require_alike_starts, require_alike_steps
    from twinstep.testing.lab import Lab
    from twinstep.testing.settings import NeedsOracle

__all__ = [
    "LANES",
    "WINDOW",
    "Case",
    "Lab",
    "NeedsOracle",
    "TraceSet",
    "ask",
    "broken_shares",
    "check_episodes",
    "chunk_lanes",
    "differs",
    "drawn_sizes",
    "first_misses",
    "frames_differ",
    "outputs_differ",
    "require_alike_starts",
    "require_alike_steps",
    "sample_actions",
    "seeds",
    "some_starts",
    "starts_of",
    "takes_whole_state",
]

#: Module -> the names that suites use of it.
_HOMES = {
    "compare.arrays": "broken_shares differs first_misses frames_differ",
    "compare.lockstep": "check_episodes",
    "diagnosis.case": "Case ask outputs_differ",
    "inputs.batching": "LANES WINDOW chunk_lanes",
    "inputs.drawn_sizes": "drawn_sizes",
    "inputs.sampling": "sample_actions some_starts takes_whole_state",
    "inputs.seeds": "seeds starts_of",
    "reference.trace_set": "TraceSet",
    "testing.distributions": "require_alike_starts require_alike_steps",
    "testing.lab": "Lab",
    "testing.settings": "NeedsOracle",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'twinstep.testing' has no attribute '{name}'")
    return getattr(importlib.import_module(f"twinstep.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
