"""Expressions of the assembler: Python's whole-number arithmetic, spelt as assemblers spell it."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}

#: Names of functions; no label can have them.
FUNCTIONS = ("low", "high", "bank")


class Mistake(Exception):
    """An error in a source that does not know its line yet."""


class Unknown(Mistake):
    """A name that is not defined, or not yet."""


def evaluate(
    text: str, scope: str, value_of: Callable[[str], int], bank_of: Callable[[str], int]
) -> int:
    """The value of an expression. `.name` is the local label `scope`.name.

    Raises Mistake for what cannot be read, and whatever the two functions raise for a name.
    """
    spelt = re.sub(r"'([^'])'", lambda match: f" {ord(match[1])} ", text)
    spelt = re.sub(r"\$([0-9A-Fa-f]+)\b", r"0x\1", spelt)
    spelt = re.sub(r"(?<![\w.])\.(?=[A-Za-z_])", f"{scope or '_'}.", spelt)
    unreadable = Mistake(f"cannot read the expression {text.strip()!r}")

    def visit(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return value
            case ast.Name() | ast.Attribute():
                return value_of(ast.unparse(node))
            case ast.UnaryOp(op, operand) if act := _OPERATORS.get(type(op)):
                return act(visit(operand))
            case ast.BinOp(left, op, right) if act := _OPERATORS.get(type(op)):
                return act(visit(left), visit(right))
            case ast.Call(ast.Name("bank"), [label], []):
                return bank_of(ast.unparse(label))
            case ast.Call(ast.Name("low"), [argument], []):
                return visit(argument) & 0xFF
            case ast.Call(ast.Name("high"), [argument], []):
                return visit(argument) >> 8 & 0xFF
        raise unreadable

    try:
        return visit(ast.parse(spelt.strip(), mode="eval").body)
    except SyntaxError:
        raise unreadable from None
    except (ValueError, ArithmeticError) as error:  # a division by zero, a negative shift
        raise Mistake(f"{text.strip()!r}: {error}") from None
