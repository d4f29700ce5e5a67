"""The files that sources import, found without importing any of them."""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import twinstep
from twinstep._lib.python_source import parsed
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project.registry import load_object
from twinstep.project.source_hash import hash_of, hashed_files, package_folder

#: What of this package is an environment's, and so a part of a candidate that imports it.
_PARTS = ("contracts", "candidates", "generated")


def loaded_hash(candidate: CandidateRef) -> str:
    """Return the hash of all that a candidate is made of here, "" where a part is missing.

    Those are the files of its declared packages, the module of its factory, what their sources
    import, and its compiled part. Installed packages of others, the standard library and this
    package's core have versions instead. A file counts by its name and bytes, so that a checkout
    and an installed copy have one hash.
    """
    modules = [candidate.factory.partition(":")[0], *candidate.packages]
    has_version = _versioned({name.partition(".")[0] for name in modules})
    try:
        own = hashed_files([package_folder(name) for name in candidate.packages])
        factory = [Path(file) for file in seen(modules[0], whole=False)]
        found = map(Path, imported(map(str, [*own, *factory]), has_version))
        whole = {*own, *found, *(file for file in factory if not has_version(file))}
        rows = sorted((file.name, hash_of([(file.name, file)])) for file in whole)
        built = load_object(candidate.build)() if candidate.build else ""
    except (UserError, ImportError, OSError):
        return ""
    if not factory:
        return ""
    return hashlib.sha256(repr((rows, built)).encode()).hexdigest()


def _versioned(tops: set[str]) -> Callable[[Path], bool]:
    """Return whether a file has a version of its own; tops: names of a candidate's packages."""
    mine = [place for place in map(place_of, tops - {"twinstep"}) if place is not None]
    own, others = below(mine), below(installed())
    core = below(twinstep.__path__)
    parts = below([Path(folder, part) for folder in twinstep.__path__ for part in _PARTS])
    return lambda file: not parts(file) if core(file) else others(file) and not own(file)


def below(places: Iterable[str | Path]) -> Callable[[Path], bool]:
    """Return whether a path is one of these places, or in one of them."""
    folders = [Path(place) for place in places]
    return lambda path: any(path.is_relative_to(folder) for folder in folders)


def installed() -> list[str]:
    """Return the environment of this Python and the folders of installed packages."""
    folders = [Path(sys.prefix), *(Path(entry).absolute() for entry in sys.path if entry)]
    installed = {"site-packages", "dist-packages"}
    return [
        str(folder)
        for folder in folders
        if folder.exists() and (folder == Path(sys.prefix) or installed & set(folder.parts))
    ]


def places(names: Iterable[str]) -> Iterator[str]:
    """Yield the file or the folder of each module that is here, and compiled files beside it."""
    for name in names:
        place = place_of(name)
        if place is not None:
            yield str(place)
            yield from (str(path) for path in place.parent.glob(f"{place.name}.libs"))


def seen(module: str, *, whole: bool = True) -> Iterator[str]:
    """Yield what an import of a module reads: its package, and `__init__.py` of those around.

    whole: False for the module's own file alone.
    """
    parts = module.split(".")
    for end in range(1, len(parts)):
        around = place_of(".".join(parts[:end]))
        if around is not None and (around / "__init__.py").is_file():
            yield str(around / "__init__.py")
    # A module is seen with its package; the folder that holds a lone module is not.
    place = place_of(module)
    if not whole:
        place = place / "__init__.py" if place is not None and place.is_dir() else place
    elif place is not None and place.is_file() and len(parts) > 1:
        place = place_of(".".join(parts[:-1]))
    if place is not None:
        yield str(place)


def imported(places: Iterable[str], known: Callable[[Path], bool]) -> list[str]:
    """Return the files that the places' sources import, and those that these import in turn.

    Without those that are known. An import whose name is made while it runs is not found: its
    package has to be declared.
    """
    found: list[str] = []
    todo = [file for place in places for file in _sources(Path(place))]
    done = set(todo)
    while todo:
        for place in _imports(todo.pop()):
            if place not in done and place.is_file() and not known(place):
                done.add(place)
                todo.append(place)
                found.append(str(place))
    return found


def _sources(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _imports(file: Path) -> Iterator[Path]:
    """Yield the files that a source file's imports read."""
    try:
        tree = parsed(file.read_bytes())
    except SyntaxError:
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            outer = [node.module] if node.module else []
            names = [*outer, *(".".join([*outer, alias.name]) for alias in node.names)]
            if node.level:
                base = file.parents[min(node.level, len(file.parents)) - 1]
                for name in names:
                    inner = base.joinpath(*name.split("."))
                    yield from (inner.with_suffix(".py"), inner / "__init__.py")
                continue
        for name in names:
            if name.partition(".")[0] not in sys.stdlib_module_names:
                yield from map(Path, seen(name, whole=False))


def place_of(module: str) -> Path | None:
    """Return the folder of a package or the file of a module, None if there is none."""
    return _found(module, tuple(sys.path))


@functools.cache
def _found(module: str, search_path: tuple[str, ...]) -> Path | None:
    """Find it; the search path is part of the question."""
    try:
        return package_folder(module)
    except UserError:
        pass
    outer, _, leaf = module.rpartition(".")
    try:
        folders = [package_folder(outer)] if outer else [Path(entry or ".") for entry in sys.path]
    except UserError:
        return None
    files = (folder / f"{leaf}.py" for folder in folders)
    return next((file.absolute() for file in files if file.is_file()), None)
