"""Look through a JAX candidate's compiled programs for calls back into Python.

A lint, like screening.py: what a callback returns could come from anywhere, and an agent learns so
at once. It is no wall; those of twinstep/walls are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twinstep.runner.state_types import traced

#: Primitives of JAX that call back into Python.
CALLBACKS = ("pure_callback", "io_callback", "debug_callback", "python_callback", "infeed")


def refused_programs(candidate: Any) -> list[str]:
    """Return the forbidden contents of a JAX candidate's programs, a line each."""
    pure = getattr(candidate, "pure", None)
    if pure is None:
        return []
    return [
        f"{where} calls back into Python ({name}): what it returns could come from anywhere"
        for where, name in sorted(set(_callbacks(candidate)))
    ]


def _callbacks(candidate: Any) -> Iterator[tuple[str, str]]:
    for where, jaxpr in _programs(candidate):
        for equation in _equations(jaxpr):
            if equation.primitive.name in CALLBACKS:
                yield where, equation.primitive.name


def _programs(candidate: Any) -> Iterator[tuple[str, Any]]:
    """Trace reset and step of a single environment."""
    import jax  # takes a second, and not every candidate needs it

    pure = candidate.pure
    with traced(candidate) as (start, action):
        yield "reset", jax.make_jaxpr(pure.reset)(start)
        state = jax.eval_shape(pure.reset, start)
        yield "step", jax.make_jaxpr(pure.step)(state, action)
        yield "its frame", jax.make_jaxpr(pure.frame)(state)


def _equations(jaxpr: Any) -> Iterator[Any]:
    """Return all equations of a jaxpr, nested ones included."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    for equation in inner.eqns:
        yield equation
        for value in equation.params.values():
            for part in value if isinstance(value, list | tuple) else [value]:
                if hasattr(part, "eqns") or hasattr(part, "jaxpr"):
                    yield from _equations(part)
