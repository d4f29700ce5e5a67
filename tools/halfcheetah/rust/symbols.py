"""Symbols that are computed with instead of numbers, and the graph of operations they leave.

The same operation on the same nodes is the same object, and constants are folded.
"""

from __future__ import annotations

from typing import Any


class Symbol:
    """A node of the graph: an operation on other nodes, a constant or an input's name.

    The same operation on the same nodes is the same object.
    """

    known: dict[tuple[Any, ...], Symbol] = {}

    def __init__(self, kind: str, parts: tuple[Any, ...]) -> None:
        self.kind, self.parts = kind, parts

    @classmethod
    def of(cls, kind: str, *parts: Any) -> Symbol:
        if kind in ("+", "*", "min", "max") and id(parts[1]) < id(parts[0]):
            key = (kind, parts[1], parts[0])
        else:
            key = (kind, *parts)
        return cls.known.setdefault(key, cls(kind, parts))

    def __array_namespace__(self) -> type[Namespace]:
        return Namespace

    def __add__(self, other: Any) -> Symbol:
        return add(self, symbol(other))

    def __radd__(self, other: Any) -> Symbol:
        return add(symbol(other), self)

    def __sub__(self, other: Any) -> Symbol:
        return subtract(self, symbol(other))

    def __rsub__(self, other: Any) -> Symbol:
        return subtract(symbol(other), self)

    def __mul__(self, other: Any) -> Symbol:
        return multiply(self, symbol(other))

    def __rmul__(self, other: Any) -> Symbol:
        return multiply(symbol(other), self)

    def __truediv__(self, other: Any) -> Symbol:
        return divide(self, symbol(other))

    def __rtruediv__(self, other: Any) -> Symbol:
        return divide(symbol(other), self)

    def __neg__(self) -> Symbol:
        return negative(self)

    def __lt__(self, other: Any) -> Symbol:
        return Symbol.of("lt", self, symbol(other))

    def __le__(self, other: Any) -> Symbol:
        return Symbol.of("le", self, symbol(other))


class Namespace:
    """The result of `__array_namespace__`: the functions that the description uses."""

    @staticmethod
    def cos(x: Symbol) -> Symbol:
        return Symbol.of("cos", x)

    @staticmethod
    def sin(x: Symbol) -> Symbol:
        return Symbol.of("sin", x)

    @staticmethod
    def minimum(x: Any, y: Any) -> Symbol:
        return Symbol.of("min", symbol(x), symbol(y))

    @staticmethod
    def maximum(x: Any, y: Any) -> Symbol:
        return Symbol.of("max", symbol(x), symbol(y))

    @staticmethod
    def where(which: Symbol, yes: Any, no: Any) -> Symbol:
        return Symbol.of("where", which, symbol(yes), symbol(no))


def symbol(value: Any) -> Symbol:
    """Return a number as a constant; a symbol as it is."""
    if isinstance(value, Symbol):
        return value
    return Symbol.of("constant", float(value) + 0.0)


def constant(x: Symbol) -> float | None:
    """Return the value of a constant node, None for any other node."""
    return x.parts[0] if x.kind == "constant" else None


def add(x: Symbol, y: Symbol) -> Symbol:
    a, b = constant(x), constant(y)
    if a is not None and b is not None:
        return symbol(a + b)
    if a == 0.0:
        return y
    if b == 0.0:
        return x
    if y.kind == "neg":
        return subtract(x, y.parts[0])
    if x.kind == "neg":
        return subtract(y, x.parts[0])
    return Symbol.of("+", x, y)


def subtract(x: Symbol, y: Symbol) -> Symbol:
    a, b = constant(x), constant(y)
    if a is not None and b is not None:
        return symbol(a - b)
    if a == 0.0:
        return negative(y)
    if b == 0.0:
        return x
    if y.kind == "neg":
        return add(x, y.parts[0])
    return Symbol.of("-", x, y)


def multiply(x: Symbol, y: Symbol) -> Symbol:
    a, b = constant(x), constant(y)
    if a is not None and b is not None:
        return symbol(a * b)
    if a is None and b is not None:
        return multiply(y, x)
    if a == 0.0:
        return symbol(0.0)
    if a == 1.0:
        return y
    if a == -1.0:
        return negative(y)
    if x.kind == "neg":
        return negative(multiply(x.parts[0], y))
    if y.kind == "neg":
        return negative(multiply(x, y.parts[0])) if a is None else multiply(symbol(-a), y.parts[0])
    if a is not None and y.kind == "*" and (inner := constant(y.parts[0])) is not None:
        return multiply(symbol(a * inner), y.parts[1])
    return Symbol.of("*", x, y)


def divide(x: Symbol, y: Symbol) -> Symbol:
    return Symbol.of("/", x, y)


def negative(x: Symbol) -> Symbol:
    a = constant(x)
    if a is not None:
        return symbol(-a)
    if x.kind == "neg":
        return x.parts[0]
    if x.kind == "-":
        return Symbol.of("-", x.parts[1], x.parts[0])
    if x.kind == "*" and (factor := constant(x.parts[0])) is not None:
        return multiply(symbol(-factor), x.parts[1])
    return Symbol.of("neg", x)
