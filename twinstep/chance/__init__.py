"""Chance that both sides draw from one row of numbers, whatever generators they use themselves.

A reference draws from NumPy, Python or C, a port from `jax.random`: no seed gives both the same
numbers. Here each reset and each step has a row of random words, a field of the state. Stand-ins
for the generators read it by order, or by the place in the source that draws. They are put in from
outside; nothing of either library is edited. `Row` has an example. See docs/chance.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twinstep.chance.c_library import interpose
    from twinstep.chance.draws import Draws
    from twinstep.chance.jax_random import JaxDraws
    from twinstep.chance.row import Row

__all__ = ["Draws", "JaxDraws", "Row", "interpose"]

_HOMES = {"Draws": "draws", "JaxDraws": "jax_random", "Row": "row", "interpose": "c_library"}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'twinstep.chance' has no attribute '{name}'")
    return getattr(importlib.import_module(f"twinstep.chance.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
