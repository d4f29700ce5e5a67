"""Trees of symbols, as pieces take and give them: lists are Rust's arrays, tuples structures."""

from __future__ import annotations

from typing import Any

from .symbols import Symbol, symbol


def inputs(name: str, like: Any) -> Any:
    """Return the symbols of an input `name` with the shape of `like`; numbers in it stay."""
    if isinstance(like, list):
        return [inputs(f"{name}[{place}]", part) for place, part in enumerate(like)]
    if hasattr(like, "_fields"):
        parts = zip(like._fields, like, strict=True)
        return type(like)(*(inputs(f"{name}.{field}", part) for field, part in parts))
    return Symbol.of("input", name) if like is None else like


def type_of(tree: Any) -> str:
    """Return the Rust type of a tree."""
    if isinstance(tree, list):
        return f"[{type_of(tree[0])}; {len(tree)}]"
    if hasattr(tree, "_fields"):
        return f"{type(tree).__name__}<V>"
    if isinstance(tree, tuple):
        return f"({', '.join(map(type_of, tree))})"
    return "V"


def leaves(tree: Any) -> list[Symbol]:
    if isinstance(tree, list | tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    return [symbol(tree)]
