"""Plant a mutant in a candidate's modules inside this process, and remove it again."""

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

#: Rust files and folders that are part of no candidate.
_NOT_SHIPPED = {"tests", "examples", "benches", "build"}


@dataclass(frozen=True)
class SourceFile:
    """A file that bugs are planted in.

    path: from the repository's root. name: its module, "" for Rust.
    """

    name: str
    path: str
    file: Path


def source_files(ref: CandidateRef) -> list[SourceFile]:
    """Return the files that a candidate's `edit` globs name: Rust files if it has a compiled part.

    Otherwise the Python files of its packages. The module of its factory is left out as an adapter
    where another module holds the rules. UserError if there are none.
    """
    if ref.build:
        return _rust_files(ref)
    files: dict[Path, SourceFile] = {}
    adapters: dict[Path, SourceFile] = {}
    adapter = ref.factory.partition(":")[0]
    for package in ref.packages:
        folder = package_folder(package)
        for file in sorted(folder.rglob("*.py")):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            path = _named_by(ref.edit, file)
            if path:
                kept = adapters if name == adapter else files
                kept[file] = SourceFile(name, path, file)
    if all(file.name == "__init__.py" for file in files):
        files |= adapters
    if not files:
        raise UserError(
            f"candidate '{ref.name}' has no Python files to plant bugs in: its `packages` hold "
            "none that its `edit` names"
        )
    return list(files.values())


def _rust_files(ref: CandidateRef) -> list[SourceFile]:
    files = {}
    for glob in ref.edit:
        folder = Path(glob.partition("*")[0])
        for file in sorted(folder.rglob("*.rs")):
            apart = _NOT_SHIPPED.intersection(file.with_suffix("").relative_to(folder).parts)
            if fnmatch.fnmatchcase(file.as_posix(), glob) and not apart:
                files[file] = SourceFile("", file.as_posix(), file)
    if not files:
        raise UserError(
            f"candidate '{ref.name}' has no Rust files to plant bugs in: run this where its `edit` "
            "can be found"
        )
    return list(files.values())


def _named_by(globs: Sequence[str], file: Path) -> str:
    """Return the file's path from the root of the globs, "" if no glob matches."""
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
    """Return the lines of a mutant's unified diff, without context."""
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
    """Re-import a candidate's modules in this context, one of them with the bug (None: as it is).

    The candidate's packages and its factory's module are new objects inside the context, so that
    objects built earlier are not shared. The old modules are back afterwards.
    """
    with fresh(ref, _Finder(ref, mutant)):
        yield


class CandidateFinder(MetaPathFinder):
    """A finder that replaces the code of some of a candidate's modules."""


@contextlib.contextmanager
def fresh(ref: CandidateRef, finder: CandidateFinder) -> Iterator[None]:
    """Re-import a candidate's packages and its factory's module through a finder in this context.

    In nested contexts only the innermost finder is active: modules around a bug that is planted
    alone must not contain the bugs that are compiled together outside.
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
    """Remove the modules of some packages, also from their parent packages; return them."""
    inside = tuple(f"{home}." for home in homes)
    names = [name for name in sys.modules if name in homes or name.startswith(inside)]
    taken = {name: sys.modules.pop(name) for name in names}
    for name in names:
        if (outer := _outer(name, homes)) is not None:
            vars(outer).pop(name.rpartition(".")[2], None)
    return taken


def _outer(name: str, homes: Sequence[str]) -> ModuleType | None:
    """Return a module's parent package, None if that package is removed as well.

    A removed package keeps its attributes: it may have bound a submodule's name to a function
    (`from p.step import step`), and must have that function back.
    """
    outer = name.rpartition(".")[0]
    taken = outer in homes or outer.startswith(tuple(f"{home}." for home in homes))
    return None if taken else sys.modules.get(outer)


class _Finder(CandidateFinder):
    """Finds the mutated module with its source."""

    def __init__(self, ref: CandidateRef, mutant: Mutant | None) -> None:
        # A bug in Rust is in the imported library: see `rust_build`.
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
    """Compiles the given source and writes no bytecode."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the given source."""
        return compile(self._source, self.path, "exec", dont_inherit=True)
