"""twinstep proves that a fast environment behaves exactly like its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["make"]

if TYPE_CHECKING:
    from twinstep.env.make import make


def __getattr__(name: str) -> Any:
    """Import `make`, and JAX with it, only when it is asked for."""
    if name == "make":
        from twinstep.env.make import make

        return make
    raise AttributeError(f"module 'twinstep' has no attribute '{name}'")
