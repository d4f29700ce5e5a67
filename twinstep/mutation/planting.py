"""Put a mutant in the place of a candidate's code, inside this process, and take it out again."""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.python_operators import Mutant, mutants_of
from twinstep.mutation.rust_operators import rust_mutants_of
from twinstep.project.source_hash import package_folder

#: Rust files and folders that no candidate is made of.
_NOT_SHIPPED = {"tests", "examples", "benches", "build"}


@dataclass(frozen=True)
class SourceFile:
    """A file that bugs are planted in.

    path: from the repository's root. name: its module, "" of Rust's.
    """

    name: str
    path: str
    file: Path


def source_files(ref: CandidateRef) -> list[SourceFile]:
    """Return the files that a candidate's `edit` globs name: Rust's if it has a compiled part.

    Else the Python files of its packages, without the module of its factory, an adapter.
    UserError if there are none.
    """
    if ref.build:
        return _rust_files(ref)
    found: dict[Path, SourceFile] = {}
    adapter = ref.factory.partition(":")[0]
    for package in ref.packages:
        folder = package_folder(package)
        for file in sorted(folder.rglob("*.py")):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            path = _named_by(ref.edit, file)
            if path and name != adapter:
                found[file] = SourceFile(name, path, file)
    if not found:
        raise UserError(
            f"candidate '{ref.name}' has no Python files to plant bugs in: its `packages` hold "
            "none that its `edit` names"
        )
    return list(found.values())


def _rust_files(ref: CandidateRef) -> list[SourceFile]:
    found = {}
    for glob in ref.edit:
        folder = Path(glob.partition("*")[0])
        for file in sorted(folder.rglob("*.rs")):
            apart = _NOT_SHIPPED.intersection(file.with_suffix("").relative_to(folder).parts)
            if fnmatch.fnmatchcase(file.as_posix(), glob) and not apart:
                found[file] = SourceFile("", file.as_posix(), file)
    if not found:
        raise UserError(
            f"candidate '{ref.name}' has no Rust files to plant bugs in: run this where its `edit` "
            "can be found"
        )
    return list(found.values())


def _named_by(globs: Sequence[str], file: Path) -> str:
    """Return the file's path from the root that a glob begins at, "" if none names it."""
    full = file.resolve().as_posix()
    for glob in globs:
        if fnmatch.fnmatchcase(full, f"*/{glob}"):
            first = glob.partition("*")[0]
            return full[full.rindex(f"/{first}") + 1 :]
    return ""


def all_mutants(ref: CandidateRef) -> list[Mutant]:
    """Return every mutant of a candidate, file by file. UserError as `source_files`."""
    return [
        mutant
        for source in source_files(ref)
        for mutant in (
            mutants_of(source.file.read_bytes(), source.path, source.name)
            if source.name
            else rust_mutants_of(source.file.read_bytes(), source.path)
        )
    ]


def diff_of(mutant: Mutant, ref: CandidateRef) -> list[str]:
    """Return a mutant's unified diff, a line each, without lines of context."""
    file = next(source.file for source in source_files(ref) if source.path == mutant.path)
    before = file.read_bytes()
    old, new = (text.decode().splitlines() for text in (before, mutant.applied(before)))
    return list(difflib.unified_diff(old, new, mutant.path, mutant.path, n=0, lineterm=""))


def changed_lines(mutant: Mutant, ref: CandidateRef) -> tuple[str, str]:
    """Return the lines that a mutant changes, before and after, without indentation."""
    lines = diff_of(mutant, ref)[3:]
    before, after = (
        "\n".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+"
    )
    return before, after


@contextlib.contextmanager
def planted(ref: CandidateRef, mutant: Mutant | None) -> Iterator[None]:
    """Have a candidate's modules imported afresh, one of them with the bug (none: as it is).

    Its packages and its factory's module are new objects inside the context, so that nothing
    built before is seen by what is built there; afterwards the old ones are back.
    """
    with fresh(ref, _Finder(ref, mutant)):
        yield


class CandidateFinder(MetaPathFinder):
    """Gives some of a candidate's modules other code than their files'."""


@contextlib.contextmanager
def fresh(ref: CandidateRef, finder: CandidateFinder) -> Iterator[None]:
    """Have a candidate's packages and its factory's module imported afresh, as a finder says.

    Inside another such context only the inner finder says so: a bug that is planted alone while
    others are compiled together must not find these in the modules that it leaves as they are.
    """
    homes = [*ref.packages, ref.factory.partition(":")[0]]
    aside = _taken(homes)
    outside = [one for one in sys.meta_path if isinstance(one, CandidateFinder)]
    for one in outside:
        sys.meta_path.remove(one)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.meta_path[:0] = outside
        _taken(homes)
        sys.modules.update(aside)
        for name, module in aside.items():
            if (outer := _outer(name, homes)) is not None:
                setattr(outer, name.rpartition(".")[2], module)


def _taken(homes: Sequence[str]) -> dict[str, ModuleType]:
    """Remove the modules of some packages, also from the package they lie in; return them."""
    inside = tuple(f"{home}." for home in homes)
    names = [name for name in sys.modules if name in homes or name.startswith(inside)]
    taken = {name: sys.modules.pop(name) for name in names}
    for name in names:
        if (outer := _outer(name, homes)) is not None:
            vars(outer).pop(name.rpartition(".")[2], None)
    return taken


def _outer(name: str, homes: Sequence[str]) -> ModuleType | None:
    """Return the package a module lies in, if that is not itself one of those taken out.

    What is taken out keeps its attributes: a package may have given a submodule's name to a
    function of it (`from p.step import step`), and must have that function back.
    """
    outer = name.rpartition(".")[0]
    taken = outer in homes or outer.startswith(tuple(f"{home}." for home in homes))
    return None if taken else sys.modules.get(outer)


class _Finder(CandidateFinder):
    """Gives the mutated module its source."""

    def __init__(self, ref: CandidateRef, mutant: Mutant | None) -> None:
        # A bug in Rust is in the library that is imported: see `rust_workshop`.
        self._name = mutant.module if mutant else ""
        if mutant is not None and mutant.module:
            self._file = next(s.file for s in source_files(ref) if s.name == mutant.module)
            self._source = mutant.applied(self._file.read_bytes())

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the mutated module's spec, None for every other module."""
        if fullname != self._name:
            return None
        loader = _Loader(fullname, str(self._file), self._source)
        return importlib.util.spec_from_file_location(fullname, self._file, loader=loader)


class _Loader(SourceFileLoader):
    """Compiles given source, and keeps no bytecode of it."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the given source."""
        return compile(self._source, self.path, "exec", dont_inherit=True)
