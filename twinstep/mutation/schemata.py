"""Mutant schemata: source with many bugs, each behind a switch.

A program that takes a minute to compile and a second to run is compiled once for all bugs. A
mutated expression is evaluated both without and with the bug, and `PICK` returns one of the two by
a switch that the compiled program reads. Subexpressions are evaluated once: a part that is not on
the way to the bug, such as a call that draws, is passed to both.

A bug whose expression is not an array (an index of a list, a number in a table) is switched in the
nearest enclosing expression that is. Without one, it cannot be switched and must be planted alone.
"""

from __future__ import annotations

import ast
import bisect
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from twinstep.mutation.python_operators import Mutant

#: Name of the function that generated code calls.
PICK = "_twinstep_pick"
#: Modules whose functions compute arrays and change nothing.
_PURE = {"jnp", "jax", "lax", "np"}
#: Methods of arrays and named tuples that change nothing.
_METHODS = {"astype", "sum", "any", "all", "min", "max", "mean", "prod", "argmax", "argmin"}
_METHODS |= {"reshape", "transpose", "squeeze", "_replace"}
#: Expressions that may give an array.
_PICKED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Subscript, ast.Attribute)
#: Methods of `array.at[...]`.
_AT = {"set", "add", "multiply", "min", "max", "get"}


def with_switches(source: bytes, mutants: Mapping[int, Mutant]) -> tuple[ast.Module, set[int]]:
    """Return a module with these mutants, and the numbers of those that could be placed.

    mutants: switch number -> mutant, all of this source.
    """
    tree = ast.parse(source)
    maker = _Maker(source, tree, mutants)
    maker.visit(tree)  # in place
    return ast.fix_missing_locations(tree), maker.placed


@dataclass
class _Level:
    """An expression in which a bug can be switched.

    first, last: True for the innermost and the outermost such expression of the bug.
    """

    number: int
    first: bool
    last: bool


@dataclass
class _Plan:
    """The changes of one expression. on_the_way: its parts that contain an edit."""

    levels: list[_Level] = field(default_factory=list)
    on_the_way: set[ast.AST] = field(default_factory=set)


class _Maker(ast.NodeTransformer):
    """Inserts the switches."""

    def __init__(self, source: bytes, tree: ast.Module, mutants: Mapping[int, Mutant]) -> None:
        self.placed: set[int] = set()
        self._source = source
        self._starts = [0, *(i + 1 for i, c in enumerate(source) if c == 10)]
        self._mutants = mutants
        self._parents = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        self._plans: dict[ast.AST, _Plan] = defaultdict(_Plan)
        self._names: dict[ast.AST, str] = {}
        self._texts: dict[ast.AST, str] = {}
        self._active: set[ast.AST] = set()
        spans = [(*self._span(node), node) for node in ast.walk(tree) if isinstance(node, ast.expr)]
        spans.sort(key=lambda one: (one[0], -one[1]))
        begins = [one[0] for one in spans]
        for number, mutant in mutants.items():
            until = bisect.bisect_right(begins, mutant.edits[0][0])
            fits = (one for one in reversed(spans[:until]) if one[1] >= mutant.edits[-1][1])
            inner = next(fits, None)
            if inner is not None:
                self._place(number, inner[2])

    def _place(self, number: int, inner: ast.expr) -> None:
        """Find the expressions in which a mutant can be switched, from the innermost outwards."""
        if not self._in_a_function(inner):
            return
        way: list[ast.AST] = []
        picked: list[ast.expr] = []
        node: ast.AST = inner
        while isinstance(node, ast.expr | ast.keyword) and _can_lie_on_the_way(node):
            outer = self._parents[node]
            called = isinstance(node, ast.Attribute) and _is_function_of(node, outer)
            if isinstance(node, _PICKED) and not called:
                picked.append(node)
            way.append(node)
            node = outer
        levels = [node for node in picked if self._holds_together(node, number)]
        if not levels:
            return
        for level in levels:
            entry = _Level(number, level is levels[0], level is levels[-1])
            self._plans[level].levels.append(entry)
        # A nested expression is split into the same parts as in the enclosing one.
        for node in picked:
            self._plans[node].on_the_way.update(way[: way.index(node) + 1])
        self.placed.add(number)

    def _holds_together(self, node: ast.expr, number: int) -> bool:
        """Return True if an expression with a bug parses in its context as one expression.

        In `a & b & c` the text `a | b` does not: it reads `a | (b & c)`.
        """
        root: ast.AST = node
        while not isinstance(outer := self._parents[root], ast.stmt):
            root = outer
        if not isinstance(root, ast.expr):
            return False
        begin, end = self._span(root)
        edits = self._mutants[number].edits
        first, last = self._span(node)
        bare = self._edited(begin, end, edits)
        apart = self._edited(begin, end, [(first, first, b"("), *edits, (last, last, b")")])
        return ast.dump(_parsed(bare)) == ast.dump(_parsed(apart))

    def _edited(self, begin: int, end: int, edits: Sequence[tuple[int, int, bytes]]) -> bytes:
        """Return the source from begin to end with the edits (sorted) applied."""
        text = self._source[begin:end]
        for first, last, new in reversed(edits):
            text = text[: first - begin] + new + text[last - begin :]
        return text

    def _in_a_function(self, node: ast.AST) -> bool:
        """Return True if it is evaluated in a function's body, whose names a lambda sees."""
        while (outer := self._parents.get(node)) is not None:
            if isinstance(outer, ast.FunctionDef):
                # Defaults and annotations are not in the body.
                return node in outer.body
            if isinstance(outer, ast.ClassDef):
                return False
            node = outer
        return False

    def visit(self, node: ast.AST) -> Any:
        """Return the node with its switches."""
        plan = self._plans.get(node)
        if plan is None:
            return super().visit(node)
        assert isinstance(node, ast.expr)
        parts = list(_parts(node, plan.on_the_way))
        # As in the source: `visit` changes them in place.
        self._texts.update((part, ast.dump(part)) for part in parts)
        self._active.update(part for part in parts if _may_change_something(part))
        given = [self.visit(part) for part in parts]
        names = [f"_twinstep_{len(self._names) + place}" for place in range(len(parts))]
        self._names.update(zip(parts, names, strict=True))
        return self._picked(node, plan, names, given)

    def _picked(
        self, node: ast.expr, plan: _Plan, names: list[str], given: list[ast.expr]
    ) -> ast.expr:
        """Return the call that computes this expression's value."""
        variants: list[ast.expr] = []
        for level in plan.levels:
            changed, parts = self._changed(node, plan, level.number)
            if parts != self._in_order(node, plan):
                self.placed.discard(level.number)
                continue
            head = [ast.Constant(v) for v in (level.number, level.first, level.last)]
            variants.append(ast.Tuple([*head, _function([], changed)], ast.Load()))
        call = ast.Call(
            ast.Name(PICK, ast.Load()),
            [_function([], self._as_it_is(node)), *variants],
            [],
        )
        if names:
            call = ast.Call(_function(names, call), given, [])
        return ast.copy_location(call, node)

    def _as_it_is(self, node: ast.expr) -> ast.expr:
        """Return the unchanged expression over its named parts, with the switches on the way."""

        def rebuilt(one: ast.AST) -> ast.AST:
            if one in self._names:
                return ast.Name(self._names[one], ast.Load())
            if one is not node and one in self._plans:
                assert isinstance(one, ast.expr)
                return self._picked(one, self._plans[one], [], [])
            return _with_children(one, rebuilt)

        expression = rebuilt(node)
        assert isinstance(expression, ast.expr)
        return expression

    def _in_order(self, node: ast.expr, plan: _Plan) -> list[str]:
        """Return the names of the parts with side effects, in the order of evaluation."""
        return [self._names[p] for p in _parts(node, plan.on_the_way) if p in self._active]

    def _changed(self, node: ast.expr, plan: _Plan, number: int) -> tuple[ast.expr, list[str]]:
        """Return the expression over its named parts with one bug, and `_in_order` of it.

        A bug that drops a call, or moves it forward, is a different bug if all parts are evaluated
        beforehand.
        """
        mutated = _parsed(self._edited(*self._span(node), self._mutants[number].edits))
        names: dict[str, list[str]] = defaultdict(list)
        active = set()
        for part in _parts(node, plan.on_the_way):
            names[self._texts[part]].append(self._names[part])
            if part in self._active:
                active.add(self._names[part])
        used: list[str] = []

        def renamed(one: ast.AST) -> ast.AST:
            if twins := names.get(ast.dump(one)):
                used.append(twins.pop(0) if len(twins) > 1 else twins[0])  # twins in order
                return ast.Name(used[-1], ast.Load())
            return _with_children(one, renamed)

        expression = renamed(mutated)
        assert isinstance(expression, ast.expr)
        return expression, [name for name in used if name in active]

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )


def _parsed(text: bytes) -> ast.expr:
    return ast.parse(b"(" + text + b")", mode="eval").body


def _function(names: list[str], body: ast.expr) -> ast.Lambda:
    given = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], given, None, [], [], None, []), body)


def _with_children(node: ast.AST, change: Callable[[ast.AST], ast.AST]) -> ast.AST:
    """Return a shallow copy with changed children."""
    clone = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(clone, name, change(value))
        elif isinstance(value, list):
            setattr(clone, name, [change(v) if isinstance(v, ast.AST) else v for v in value])
    return clone


def _parts(node: ast.AST, on_the_way: set[ast.AST]) -> Iterator[ast.expr]:
    """Yield the parts of an expression that contain no edit, in the order of evaluation."""
    for child in ast.iter_child_nodes(node):
        called = isinstance(child, ast.Attribute) and _is_function_of(child, node)
        if child in on_the_way or called or isinstance(child, ast.keyword | ast.Slice):
            yield from _parts(child, on_the_way)
        elif isinstance(child, ast.expr) and not isinstance(child, ast.Constant | ast.Name):
            yield child


def _is_function_of(child: ast.Attribute, node: ast.AST) -> bool:
    """Return True if a call calls it: a method stays a method, and its object is a part."""
    return isinstance(node, ast.Call) and node.func is child


def _can_lie_on_the_way(node: ast.expr | ast.keyword) -> bool:
    """Return True if an edit in it can be made in a copy: its parts are evaluated exactly once."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        return _is_pure(node)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    kept = (ast.BinOp, ast.Subscript, ast.Attribute, ast.Tuple, ast.List, ast.keyword, ast.Slice)
    return isinstance(node, kept) and isinstance(getattr(node, "ctx", None), ast.Load | None)


def _may_change_something(part: ast.expr) -> bool:
    return any(isinstance(one, ast.Call) and not _is_pure(one) for one in ast.walk(part))


def _is_pure(call: ast.Call) -> bool:
    """Return True if a second call has no effect: a function of arrays, judged by its name."""
    function, given = call.func, [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(isinstance(one, ast.Starred | ast.Lambda | ast.GeneratorExp) for one in given):
        return False
    if not isinstance(function, ast.Attribute):
        return isinstance(function, ast.Name) and function.id in ("min", "max")
    of = function.value
    while isinstance(of, ast.Attribute):
        of = of.value
    if isinstance(of, ast.Name) and of.id in _PURE:
        return True
    of = function.value
    if isinstance(of, ast.Subscript) and isinstance(of.value, ast.Attribute):
        return of.value.attr == "at" and function.attr in _AT
    return function.attr in _METHODS
