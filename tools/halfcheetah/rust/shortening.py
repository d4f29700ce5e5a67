"""Reorder sums: terms that are ready first are added first, which shortens chains."""

from __future__ import annotations

from typing import Any

from .symbols import Symbol, symbol

#: Approximate cycles of an operation; 1 if it is not listed.
CYCLES = {"+": 4, "-": 4, "*": 4, "/": 13, "sin": 40, "cos": 40, "min": 2, "max": 2, "where": 2}


def users_of(outputs: list[Symbol]) -> dict[Symbol, list[Symbol]]:
    """Return the users of each node that the outputs need."""
    users: dict[Symbol, list[Symbol]] = {}
    stack, seen = list(outputs), set(outputs)
    while stack:
        node = stack.pop()
        for part in node.parts:
            if isinstance(part, Symbol):
                users.setdefault(part, []).append(node)
                if part not in seen:
                    seen.add(part)
                    stack.append(part)
    return users


class Shortener:
    """Takes the parts of sums in the order in which they are ready: chains get shorter."""

    def __init__(self, outputs: list[Symbol]) -> None:
        self.users = users_of(outputs)
        self.kept = set(outputs)
        self.made: dict[Symbol, Symbol] = {}
        self.ready: dict[Symbol, int] = {}

    def terms(self, x: Symbol, sign: int) -> list[tuple[int, Symbol]]:
        """Return the terms of a sum, with their signs; sums that others use are terms."""
        left, right = x.parts
        found = []
        for part, own in ((left, sign), (right, sign if x.kind == "+" else -sign)):
            inner = part.kind in ("+", "-") and part not in self.kept
            if inner and len(self.users[part]) == 1:
                found += self.terms(part, own)
            else:
                found.append((own, part))
        return found

    def of(self, x: Symbol) -> Symbol:
        """Return the node that replaces this one."""
        if x not in self.made:
            if x.kind in ("+", "-"):
                self.made[x] = self.sum([(sign, self.of(term)) for sign, term in self.terms(x, 1)])
            else:
                parts = (self.of(p) if isinstance(p, Symbol) else p for p in x.parts)
                self.made[x] = self.note(Symbol.of(x.kind, *parts))
        return self.made[x]

    def sum(self, terms: list[tuple[int, Symbol]]) -> Symbol:
        def when(term: tuple[int, Symbol]) -> int:
            # A product is fused: it is as late as its factors.
            node = term[1]
            return self.begins(node) if node.kind == "*" else self.ready[node]

        terms = sorted(terms, key=when)
        first = next((place for place, (sign, _) in enumerate(terms) if sign > 0), None)
        if first is None:
            return self.note(Symbol.of("neg", self.sum([(1, node) for _, node in terms])))
        total = terms.pop(first)[1]
        for sign, node in terms:
            total = self.note(Symbol.of("+" if sign > 0 else "-", total, node))
        return total

    def begins(self, x: Symbol) -> int:
        return max((self.ready[part] for part in x.parts if isinstance(part, Symbol)), default=0)

    def note(self, x: Symbol) -> Symbol:
        """Note when a node is ready; a product in a sum takes no time of its own."""
        if x.kind in ("+", "-"):
            starts = [self.begins(p) if p.kind == "*" else self.ready[p] for p in x.parts]
            self.ready[x] = max(starts) + CYCLES["+"]
        else:
            leaf = x.kind in ("constant", "input")
            self.ready[x] = 0 if leaf else self.begins(x) + CYCLES.get(x.kind, 1)
        return x


def rebuilt(tree: Any, shortener: Shortener) -> Any:
    """Return a tree with all nodes replaced."""
    if isinstance(tree, list):
        return [rebuilt(part, shortener) for part in tree]
    if hasattr(tree, "_fields"):
        return type(tree)(*(rebuilt(part, shortener) for part in tree))
    if isinstance(tree, tuple):
        return tuple(rebuilt(part, shortener) for part in tree)
    return shortener.of(symbol(tree))
