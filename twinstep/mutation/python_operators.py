"""Mutation operators for Python source.

A mutant is a textual edit that is located through the syntax tree: a diff shows the one line that
differs, with its comments and layout. Annotations, decorators, `assert`, `raise` and strings are
not mutated: none of them computes anything. Of a table of more than LONG numbers only OF_LONG are
changed, spread over it: its numbers are data, and a check that notices one notices the others.

| operator | edit |
|---|---|
| comparison | at the edge, and the negation: `<` to `<=`, `>=`; `==` to `!=`, `>=`, `<=` |
| arithmetic | `+` and `-`, `*` to `+`, `/`, `//` to `*`, `%` to `//`, `>>` and `<<`, `^` to `|` |
| and-or | `and` and `or`, `&` and `|` |
| constant | + 1, and of 0 also - 1; True and False |
| index | + 1 of a number inside square brackets |
| where-swap | the two choices of `where`, `select` and `cond` |
| clip-drop | `clip(x, low, high)` to `x`, `minimum(a, b)` to `a` and to `b` |
| minus-drop | `-x` to `x` |
| not-drop | `not x` and `~x` to `x` |
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = (
    "comparison",
    "arithmetic",
    "and-or",
    "constant",
    "index",
    "where-swap",
    "clip-drop",
    "minus-drop",
    "not-drop",
)
#: A table of more than LONG numbers gets OF_LONG mutants.
LONG, OF_LONG = 64, 8


@dataclass(frozen=True)
class Mutant:
    """One planted bug.

    id: stable while the line's text is unchanged, wherever it moves in its file. path: of the file,
    from the repository's root. module: its import name. operator: one of OPERATORS. what: `< to
    <=`. line: from 1. symbol: the outermost function or class around it, "" for none. edits:
    (begin, end, new text), byte offsets in the source, sorted and disjoint.
    """

    id: str
    path: str
    module: str
    operator: str
    what: str
    line: int
    symbol: str
    edits: tuple[tuple[int, int, bytes], ...]

    def applied(self, source: bytes) -> bytes:
        """Return the source with the bug in it."""
        for begin, end, new in reversed(self.edits):
            source = source[:begin] + new + source[end:]
        return source


@dataclass(frozen=True)
class Site:
    """A mutant without its name. The fields are those of Mutant."""

    operator: str
    what: str
    line: int
    symbol: str
    edits: tuple[tuple[int, int, bytes], ...]


def mutants_of(source: bytes, path: str, module: str) -> list[Mutant]:
    """Return all mutants of a Python file in line order; SyntaxError if it is not Python."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return named(finder.sites, source, path, module)


def named(sites: list[Site], source: bytes, path: str, module: str) -> list[Mutant]:
    """Return the mutants of a file's sites, in line order."""
    lines = source.splitlines()
    repeats: Counter[str] = Counter()
    mutants = []
    for site in sorted(sites, key=lambda s: (s.edits[0][:2], s.operator, s.what)):
        text = lines[site.line - 1].strip().decode()
        key = "\0".join((path, site.operator, site.what, text))
        name = hashlib.sha256(f"{key}\0{repeats[key]}".encode()).hexdigest()[:10]
        repeats[key] += 1
        parts = (name, path, module, site.operator, site.what, site.line, site.symbol, site.edits)
        mutants.append(Mutant(*parts))
    return mutants


_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=", ">=", "<=")),
    ast.NotEq: ("!=", ("==", ">", "<")),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str, str]] = {
    ast.Add: ("arithmetic", "+", "-"),
    ast.Sub: ("arithmetic", "-", "+"),
    ast.Mult: ("arithmetic", "*", "+"),
    ast.Div: ("arithmetic", "/", "*"),
    ast.FloorDiv: ("arithmetic", "//", "*"),
    ast.Mod: ("arithmetic", "%", "//"),
    ast.LShift: ("arithmetic", "<<", ">>"),
    ast.RShift: ("arithmetic", ">>", "<<"),
    ast.BitXor: ("arithmetic", "^", "|"),
    ast.BitAnd: ("and-or", "&", "|"),
    ast.BitOr: ("and-or", "|", "&"),
}
_SIGNS: dict[type[ast.unaryop], tuple[str, str]] = {
    ast.USub: ("minus-drop", "-"),
    ast.Not: ("not-drop", "not"),
    ast.Invert: ("not-drop", "~"),
}
_CHOICES = ("where", "select", "cond")
#: Function -> positions of the arguments that may replace the call.
_LIMITS = {"clip": (0,), "clamp": (1,), "minimum": (0, 1), "maximum": (0, 1)}
_BUILTIN_LIMITS = {"min": (0, 1), "max": (0, 1)}


class _Finder(ast.NodeVisitor):
    """Collects the sites of one file."""

    def __init__(self, source: bytes) -> None:
        self.sites: list[Site] = []
        self._source = source
        starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]
        self._starts = starts
        self._symbol = ""
        self._indexing = False

    def visit_Assert(self, node: ast.Assert) -> None:  # noqa: N802
        """Skip it, like the next ones."""

    def visit_Raise(self, node: ast.Raise) -> None:  # noqa: N802
        """Skip it."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:  # noqa: N802
        """Skip it."""

    def visit_arg(self, node: ast.arg) -> None:
        """Skip its annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        """Visit only the value."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:  # noqa: N802
        """Visit defaults and body."""
        with _Within(self, node.name):
            self.visit(node.args)
            for statement in node.body:
                self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:  # noqa: N802
        """Visit the body."""
        with _Within(self, node.name):
            for statement in node.body:
                self.visit(statement)

    def visit_Subscript(self, node: ast.Subscript) -> None:  # noqa: N802
        """Visit both parts; numbers inside the brackets are indices."""
        self.visit(node.value)
        before, self._indexing = self._indexing, True
        self.visit(node.slice)
        self._indexing = before

    def visit_Compare(self, node: ast.Compare) -> None:  # noqa: N802
        """Find comparisons, each of a chain."""
        sides = [node.left, *node.comparators]
        for left, operation, right in zip(sides, node.ops, sides[1:], strict=False):
            if type(operation) in _COMPARISONS:
                old, others = _COMPARISONS[type(operation)]
                for new in others:
                    self._between("comparison", left, old, new, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:  # noqa: N802
        """Find arithmetic; `%` on a string is not arithmetic."""
        texts = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if type(node.op) in _ARITHMETIC and not texts:
            operator, old, new = _ARITHMETIC[type(node.op)]
            self._between(operator, node.left, old, new, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:  # noqa: N802
        """Find `and` and `or`, each of a chain."""
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between("and-or", left, old, new, right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:  # noqa: N802
        """Find signs and negations."""
        if type(node.op) in _SIGNS:
            operator, old = _SIGNS[type(node.op)]
            begin = self._begin(node)
            gap = re.match(rb"\s*", self._source[begin + len(old) :])
            end = begin + len(old) + (gap.end() if gap else 0)
            self._add(operator, f"{old} dropped", node, (begin, end, b""))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:  # noqa: N802
        """Find choices and limits."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given, plain = node.args, not any(isinstance(a, ast.Starred) for a in node.args)
        if plain and name.strip("_") in _CHOICES and len(given) >= 3:
            one, other = self._text(given[1]), self._text(given[2])
            if one != other:
                edits = (self._span(given[1], other), self._span(given[2], one))
                self._add("where-swap", f"choices of {name} swapped", node, *edits)
        limits = _LIMITS.get(name, ())
        if isinstance(node.func, ast.Name):
            limits = limits or _BUILTIN_LIMITS.get(name, ())
        if plain and limits and len(given) >= 2:
            for place in limits:
                text = b"(" + self._text(given[place]) + b")"
                what = f"{name} dropped for argument {place}"
                self._add("clip-drop", what, node, self._span(node, text))
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> None:  # noqa: N802
        """Visit the elements; in a long table only a few of its numbers."""
        items = node.elts
        if len(items) > LONG and all(map(_is_number, items)):
            items = [
                items[len(items) * place // (OF_LONG - 1) - (place > 0)] for place in range(OF_LONG)
            ]
        for element in items:
            self.visit(element)

    visit_List = visit_Tuple  # noqa: N815

    def visit_Constant(self, node: ast.Constant) -> None:  # noqa: N802
        """Find numbers and truth values."""
        value = node.value
        if not isinstance(value, bool | int | float):
            return
        for new in _others(value, self._indexing):
            text = hex(int(new)) if self._text(node)[:2].lower() == b"0x" else repr(new)
            operator = "index" if self._indexing and not isinstance(value, bool) else "constant"
            what = f"{self._text(node).decode()} to {text}"
            self._add(operator, what, node, self._span(node, text.encode()))

    def _between(self, operator: str, left: ast.expr, old: str, new: str, right: ast.expr) -> None:
        begin, end = self._end(left), self._begin(right)
        gap = re.sub(rb"#[^\n]*", lambda m: b" " * len(m[0]), self._source[begin:end])
        match = re.search(rb"\s+".join(re.escape(w.encode()) for w in old.split()), gap)
        if match is None:
            raise ValueError(f"no {old} in {gap!r}")
        edit = (begin + match.start(), begin + match.end(), new.encode())
        self._add(operator, f"{old} to {new}", left, edit)

    def _add(
        self, operator: str, what: str, node: ast.expr, *edits: tuple[int, int, bytes]
    ) -> None:
        self.sites.append(Site(operator, what, self._line(edits[0][0]), self._symbol, edits))

    def _line(self, offset: int) -> int:
        return self._source.count(b"\n", 0, offset) + 1

    def _begin(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> bytes:
        return self._source[self._begin(node) : self._end(node)]

    def _span(self, node: ast.expr, new: bytes) -> tuple[int, int, bytes]:
        return self._begin(node), self._end(node), new


class _Within:
    """Context that names the outermost function or class around sites."""

    def __init__(self, finder: _Finder, name: str) -> None:
        self._finder, self._before = finder, finder._symbol
        self._name = finder._symbol or name

    def __enter__(self) -> None:
        self._finder._symbol = self._name

    def __exit__(self, *exception: object) -> None:
        self._finder._symbol = self._before


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _others(value: bool | int | float, indexing: bool) -> Iterator[bool | int | float]:
    if isinstance(value, bool):
        yield not value
        return
    yield value + 1
    if value == 0 and not indexing:
        yield value - 1
