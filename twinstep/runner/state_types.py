"""Name what a step changes in the types of a JAX candidate's state: XLA cannot loop over it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from twinstep.frames import Start
from twinstep.inputs.sampling import some_starts


@contextlib.contextmanager
def traced(candidate: Any) -> Iterator[tuple[Start, np.ndarray]]:
    """Give a start and an action of one lane, to trace a JAX candidate with in its precision."""
    import jax

    start = jax.tree.map(lambda leaf: leaf[0], some_starts(candidate.contract, 1))
    dtype, shape = candidate.contract.action_layout()
    wide = jax.enable_x64(True) if candidate.dtype == "float64" else contextlib.nullcontext()
    with wide:
        yield start, np.zeros(shape, dtype)


def changed_types(candidate: Any) -> str:
    """Return the parts of the state whose dtype or shape a step changes, in words; "" for none.

    Nothing is compiled. "" also for a candidate that is not in JAX, or that cannot be traced.
    """
    pure = getattr(candidate, "pure", None)
    if pure is None:
        return ""
    import jax  # takes a second, and not every candidate needs it

    try:
        with traced(candidate) as (start, action):
            before = jax.eval_shape(pure.reset, start)
            after = jax.eval_shape(pure.step, before, action)
    except Exception:  # the candidate's own error says more
        return ""
    old, new = (jax.tree_util.tree_flatten_with_path(state) for state in (before, after))
    if old[1] != new[1]:
        return f"its structure from {_short(old[1])} to {_short(new[1])}"
    changes = [
        f"`{jax.tree_util.keystr(path).lstrip('.')}` from {_type(one)} to {_type(other)}"
        for (path, one), (_, other) in zip(old[0], new[0], strict=True)
        if (one.dtype, one.shape) != (other.dtype, other.shape)
    ]
    return ", ".join(changes)


def _type(value: Any) -> str:
    return f"{value.dtype}{list(value.shape) if value.shape else ''}"


def _short(structure: Any) -> str:
    text = str(structure).removeprefix("PyTreeDef(")
    return text if len(text) < 60 else f"{text[:57]}..."
