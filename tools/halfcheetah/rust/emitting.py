"""Graphs written out as Rust functions, generic over the vector type.

In order it is straight-line code. A product that is only added becomes one fused operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .shortening import Shortener, rebuilt, users_of
from .symbols import Symbol, symbol
from .trees import inputs, leaves, type_of

ARITHMETIC = ("+", "-", "*", "/")


class Writer:
    """Writes one function: each node that is needed becomes one line."""

    def __init__(self, outputs: list[Symbol]) -> None:
        self.lines: list[str] = []
        self.names: dict[Symbol, str] = {}
        self.uses = users_of(outputs)
        self.kept = set(outputs)

    def fuses(self, x: Symbol) -> bool:
        """Return True if a product is only ever added, and so never needed alone."""
        if x.kind != "*" or x in self.kept:
            return False
        return all(
            user.kind in "+-" and user.parts[0] is not user.parts[1] for user in self.uses[x]
        )

    def name(self, x: Symbol) -> str:
        """Return the Rust name of a node, after the lines that compute it."""
        if x in self.names:
            return self.names[x]
        if x.kind == "constant":
            value = x.parts[0]
            self.names[x] = f"V::of(token, {value!r})" if value else "V::zero(token)"
            return self.names[x]
        if x.kind == "input":
            self.names[x] = x.parts[0]
            return x.parts[0]
        if x.kind in ("sin", "cos"):
            angle = self.name(x.parts[0])
            sin, cos = (Symbol.of(kind, x.parts[0]) for kind in ("sin", "cos"))
            self.names[sin], self.names[cos] = f"sin{len(self.lines)}", f"cos{len(self.lines)}"
            self.lines.append(f"let ({self.names[sin]}, {self.names[cos]}) = sin_cos({angle});")
            return self.names[x]
        value = self.value(x)
        self.names[x] = f"t{len(self.lines)}"
        self.lines.append(f"let {self.names[x]} = {value};")
        return self.names[x]

    def value(self, x: Symbol) -> str:
        if x.kind in "+-":
            left, right = x.parts
            # Of two products the second is fused: the first is the older one.
            if self.fuses(right):
                a, b = map(self.name, right.parts)
                return (
                    f"{a}.{'mul_add' if x.kind == '+' else 'neg_mul_add'}({b}, {self.name(left)})"
                )
            if self.fuses(left):
                a, b = map(self.name, left.parts)
                return f"{a}.{'mul_add' if x.kind == '+' else 'mul_sub'}({b}, {self.name(right)})"
        parts = [self.name(part) for part in x.parts]
        if x.kind in ARITHMETIC:
            return f"{parts[0]} {x.kind} {parts[1]}"
        if x.kind == "neg":
            return f"-{parts[0]}"
        if x.kind == "where":
            return f"V::select({', '.join(parts)})"
        return f"{parts[0]}.{x.kind}({parts[1]})"

    def tree(self, tree: Any) -> str:
        """Return the Rust expression of a result."""
        if isinstance(tree, list):
            return f"[{', '.join(map(self.tree, tree))}]"
        if hasattr(tree, "_fields"):
            parts = zip(tree._fields, tree, strict=True)
            inner = ", ".join(f"{field}: {self.tree(part)}" for field, part in parts)
            return f"{type(tree).__name__} {{ {inner} }}"
        if isinstance(tree, tuple):
            return f"({', '.join(map(self.tree, tree))})"
        return self.name(symbol(tree))


def function(doc: str, name: str, computing: Callable[..., Any], **shapes: Any) -> str:
    """Return the Rust function that computes what `computing` does."""
    Symbol.known = {}
    arguments = [inputs(key, like) for key, like in shapes.items()]
    result = computing(*arguments)
    shortener = Shortener(leaves(result))
    result = rebuilt(result, shortener)
    writer = Writer(leaves(result))
    # In this order values are used soon after they are computed.
    value = writer.tree(result)
    if writer.lines and writer.lines[-1].startswith(f"let {value} = "):
        value = writer.lines.pop().removeprefix(f"let {value} = ").removesuffix(";")
    takes = ", ".join(
        f"{key}: {'' if like is None else '&'}{type_of(like)}" for key, like in shapes.items()
    )
    lines = [*writer.lines, value]
    if any("(token" in line for line in lines):
        first = next(leaf for leaf in leaves(arguments) if leaf.kind == "input")
        lines.insert(0, f"let token = {first.parts[0]}.token();")
    body = "\n".join(f"    {line}" for line in lines)
    return (
        f"/// {doc}\n#[inline(always)]\npub(crate) fn {name}<V: Vector>({takes})"
        f" -> {type_of(result)} {{\n{body}\n}}\n"
    )
