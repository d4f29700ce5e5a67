"""A candidate with many bugs at once; at most one of them is switched on at a time."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import jax
import numpy as np

from twinstep.environment import CandidateRef
from twinstep.mutation import schemata
from twinstep.mutation.planting import CandidateFinder, fresh, source_files
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.xla_switch import position, switch

_Variant = tuple[int, bool, bool, Callable[[], Any]]


class Together:
    """A candidate's switchable mutants, and the ones that turned out not to be switchable.

    numbers: id -> switch number. unable: numbers of mutants whose value is needed during tracing.
    """

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._mutants = dict(enumerate(mutants, 1))
        self.numbers = {mutant.id: number for number, mutant in self._mutants.items()}
        self.unable: set[int] = set()
        self._pending: set[int] = set()
        self._importing = False

    def can(self, mutant: Mutant) -> bool:
        """Return True unless a mutant is known not to be switchable."""
        number = self.numbers.get(mutant.id)
        return number is not None and number not in self.unable

    @contextlib.contextmanager
    def switched(self, mutant: Mutant | None) -> Iterator[None]:
        """Switch a mutant on in this context; None: none."""
        switch(self.numbers[mutant.id] if mutant else 0)
        try:
            yield
        finally:
            switch(0)

    @contextlib.contextmanager
    def planted(self, ref: CandidateRef) -> Iterator[None]:
        """Re-import a candidate's modules in this context, with all bugs and none of them on.

        Objects built inside the context keep the bugs when it ends.
        """
        sources = {source.name: source.file for source in source_files(ref)}
        with fresh(ref, _Finder(self, sources)):
            yield

    def code_of(self, module: str, file: Path) -> CodeType:
        """Return a module's code with its mutants and their switches."""
        own = {n: m for n, m in self._mutants.items() if m.module == module}
        tree, placed = schemata.with_switches(file.read_bytes(), own)
        self.unable |= set(own) - placed
        return compile(tree, str(file), "exec", dont_inherit=True)

    def run(self, loader: SourceFileLoader, module: ModuleType) -> None:
        """Execute a module: no program can change the values computed during its import."""
        vars(module)[schemata.PICK] = self.pick
        before, self._importing = self._importing, True
        try:
            SourceFileLoader.exec_module(loader, module)
        finally:
            self._importing = before

    def pick(self, original: Callable[[], Any], *variants: _Variant) -> Any:
        """Return an expression's value, or that of the variant that is on when the program runs.

        variants: (switch number, True for the innermost level of the bug, True for the outermost
        one, function that returns the variant's value).
        """
        value = original()
        for number, first, last, changed in variants:
            if not first and number not in self._pending:
                continue
            self._pending.discard(number)
            if number in self.unable:
                continue
            try:
                other = changed()
                chosen = None if self._importing else _chosen(number, value, other)
            except Exception:  # a bug that cannot be traced is planted alone and fails there
                self.unable.add(number)
                continue
            if chosen is not None:
                value = chosen[0]
            elif not _same(value, other):
                (self.unable if last else self._pending).add(number)
        return value


def _chosen(number: int, value: Any, other: Any) -> tuple[Any] | None:
    """Return the value selected by the switch, None if a program cannot select it."""
    leaves, shape = jax.tree.flatten(value)
    others, other_shape = jax.tree.flatten(other)
    if shape != other_shape or not leaves:
        return None
    if not all(isinstance(leaf, jax.Array) for leaf in (*leaves, *others)):
        return None
    if any(
        (a.dtype, a.shape, a.aval.weak_type) != (b.dtype, b.shape, b.aval.weak_type)
        for a, b in zip(leaves, others, strict=True)
    ):
        return None
    on = position() == np.int32(number)
    if not (isinstance(on, jax.core.Tracer) or jax.config.jax_disable_jit):  # pyright: ignore
        return None
    selected = [jax.lax.select(on, b, a) for a, b in zip(leaves, others, strict=True)]
    return (jax.tree.unflatten(shape, selected),)


def _same(value: Any, other: Any) -> bool:
    """Return True if two values that are known during tracing are the same."""
    if value is other:
        return True
    if type(value) is not type(other):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype == other.dtype and np.array_equal(value, other)
    return isinstance(value, bool | int | float | str | np.generic) and value == other


class _Finder(CandidateFinder):
    """Finds a candidate's modules with all bugs in their sources."""

    def __init__(self, together: Together, sources: dict[str, Path]) -> None:
        self._together, self._sources = together, sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a module's spec, None for a module without bugs."""
        file = self._sources.get(fullname)
        if file is None:
            return None
        loader = _Loader(fullname, file, self._together)
        return importlib.util.spec_from_file_location(
            fullname,
            file,
            loader=loader,
            submodule_search_locations=[str(file.parent)] if file.name == "__init__.py" else None,
        )


class _Loader(SourceFileLoader):
    def __init__(self, name: str, file: Path, together: Together) -> None:
        super().__init__(name, str(file))
        self._together = together

    def get_code(self, fullname: str) -> CodeType:
        """Return the code with all bugs; no bytecode of it is kept."""
        return self._together.code_of(fullname, Path(self.path))

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, marked as an import."""
        self._together.run(self, module)
