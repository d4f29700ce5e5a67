"""Source with many bugs in it, each behind a switch: mutant schemata.

A program that takes a minute to compile and a second to run is compiled once for all of them. An
expression that has a bug is evaluated as it is and with the bug, and `PICK` gives one of the two,
by a switch that the compiled program reads. What an expression is made of is evaluated once: a
part that is not on the way to the bug, such as a call that draws, is handed to both.

A bug whose expression is no array (an index of a list, a number in a table) is looked for in the
expression around it. Where there is none, it cannot be switched and must be planted alone.
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

#: The name of the function that generated code calls.
PICK = "_twinstep_pick"
#: Modules whose functions compute arrays and change nothing.
_PURE = {"jnp", "jax", "lax", "np"}
#: Methods of arrays that change nothing, and of named tuples.
_METHODS = {"astype", "sum", "any", "all", "min", "max", "mean", "prod", "argmax", "argmin"}
_METHODS |= {"reshape", "transpose", "squeeze", "_replace"}
#: Expressions that may give an array.
_PICKED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Subscript, ast.Attribute)
#: Methods of `array.at[...]`.
_AT = {"set", "add", "multiply", "min", "max", "get"}


def with_switches(source: bytes, mutants: Mapping[int, Mutant]) -> tuple[ast.Module, set[int]]:
    """Return a module with these mutants in it, and the numbers of those that it has.

    mutants: by the number that switches each on, all of this source.
    """
    tree = ast.parse(source)
    maker = _Maker(source, tree, mutants)
    maker.visit(tree)  # in its place
    return ast.fix_missing_locations(tree), maker.placed


@dataclass
class _Level:
    """An expression that can give a bug's answer.

    first, last: whether it is the innermost and the outermost one of that bug's.
    """

    number: int
    first: bool
    last: bool


@dataclass
class _Plan:
    """What becomes of one expression. on_the_way: its parts that have an edit in them."""

    levels: list[_Level] = field(default_factory=list)
    on_the_way: set[ast.AST] = field(default_factory=set)


class _Maker(ast.NodeTransformer):
    """Puts the switches in."""

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
        """Find the expressions that can give a mutant's answer, from the innermost out."""
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
            known = _Level(number, level is levels[0], level is levels[-1])
            self._plans[level].levels.append(known)
        # An expression inside of another is made of the same parts as there.
        for node in picked:
            self._plans[node].on_the_way.update(way[: way.index(node) + 1])
        self.placed.add(number)

    def _holds_together(self, node: ast.expr, number: int) -> bool:
        """Whether an expression with a bug in it is still one where it stands.

        In `a & b & c` the text `a | b` is none: it reads `a | (b & c)`.
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
        """Return the source from begin to end with edits, in their order, made."""
        text = self._source[begin:end]
        for first, last, new in reversed(edits):
            text = text[: first - begin] + new + text[last - begin :]
        return text

    def _in_a_function(self, node: ast.AST) -> bool:
        """Whether it is evaluated in a function's body, whose names a lambda sees."""
        while (outer := self._parents.get(node)) is not None:
            if isinstance(outer, ast.FunctionDef):
                # Its defaults and annotations are not.
                return node in outer.body
            if isinstance(outer, ast.ClassDef):
                return False
            node = outer
        return False

    def visit(self, node: ast.AST) -> Any:
        """Return the node with switches in it."""
        plan = self._plans.get(node)
        if plan is None:
            return super().visit(node)
        assert isinstance(node, ast.expr)
        parts = list(_parts(node, plan.on_the_way))
        # As they are in the source: `visit` changes them in their place.
        self._texts.update((part, ast.dump(part)) for part in parts)
        self._active.update(part for part in parts if _may_change_something(part))
        given = [self.visit(part) for part in parts]
        names = [f"_twinstep_{len(self._names) + place}" for place in range(len(parts))]
        self._names.update(zip(parts, names, strict=True))
        return self._picked(node, plan, names, given)

    def _picked(
        self, node: ast.expr, plan: _Plan, names: list[str], given: list[ast.expr]
    ) -> ast.expr:
        """Return the call that gives this expression's value."""
        variants: list[ast.expr] = []
        for level in plan.levels:
            changed, parts = self._changed(node, plan, level.number)
            if parts != self._in_order(node, plan):
                self.placed.discard(level.number)
                continue
            known = [ast.Constant(v) for v in (level.number, level.first, level.last)]
            variants.append(ast.Tuple([*known, _function([], changed)], ast.Load()))
        call = ast.Call(
            ast.Name(PICK, ast.Load()),
            [_function([], self._as_it_is(node)), *variants],
            [],
        )
        if names:
            call = ast.Call(_function(names, call), given, [])
        return ast.copy_location(call, node)

    def _as_it_is(self, node: ast.expr) -> ast.expr:
        """Return the expression of its named parts, with the switches of those on the way."""

        def rebuilt(one: ast.AST) -> ast.AST:
            if one in self._names:
                return ast.Name(self._names[one], ast.Load())
            if one is not node and one in self._plans:
                assert isinstance(one, ast.expr)
                return self._picked(one, self._plans[one], [], [])
            return _with_children(one, rebuilt)

        made = rebuilt(node)
        assert isinstance(made, ast.expr)
        return made

    def _in_order(self, node: ast.expr, plan: _Plan) -> list[str]:
        """Return the names of the parts that may change something, in the order of evaluation."""
        return [self._names[p] for p in _parts(node, plan.on_the_way) if p in self._active]

    def _changed(self, node: ast.expr, plan: _Plan, number: int) -> tuple[ast.expr, list[str]]:
        """Return the expression of its named parts, with one bug in it.

        And `_in_order` of it: a bug by which something is not called, or called earlier, is another
        one if all parts are evaluated before.
        """
        made = _parsed(self._edited(*self._span(node), self._mutants[number].edits))
        names: dict[str, list[str]] = defaultdict(list)
        active = set()
        for part in _parts(node, plan.on_the_way):
            names[self._texts[part]].append(self._names[part])
            if part in self._active:
                active.add(self._names[part])
        used: list[str] = []

        def renamed(one: ast.AST) -> ast.AST:
            if held := names.get(ast.dump(one)):
                used.append(held.pop(0) if len(held) > 1 else held[0])  # twins in order
                return ast.Name(used[-1], ast.Load())
            return _with_children(one, renamed)

        found = renamed(made)
        assert isinstance(found, ast.expr)
        return found, [name for name in used if name in active]

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
    """Return a shallow copy whose children are changed ones."""
    made = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(made, name, change(value))
        elif isinstance(value, list):
            setattr(made, name, [change(v) if isinstance(v, ast.AST) else v for v in value])
    return made


def _parts(node: ast.AST, on_the_way: set[ast.AST]) -> Iterator[ast.expr]:
    """Yield what an expression is made of and has no edit in it, in the order of evaluation."""
    for child in ast.iter_child_nodes(node):
        called = isinstance(child, ast.Attribute) and _is_function_of(child, node)
        if child in on_the_way or called or isinstance(child, ast.keyword | ast.Slice):
            yield from _parts(child, on_the_way)
        elif isinstance(child, ast.expr) and not isinstance(child, ast.Constant | ast.Name):
            yield child


def _is_function_of(child: ast.Attribute, node: ast.AST) -> bool:
    """Whether a call calls it: a method stays one, its object is a part."""
    return isinstance(node, ast.Call) and node.func is child


def _can_lie_on_the_way(node: ast.expr | ast.keyword) -> bool:
    """Whether an edit inside it can be made in a copy: its parts are evaluated once and always."""
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
    """Whether calling it twice is calling it once: a function of arrays, by its name."""
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
