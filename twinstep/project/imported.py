"""The files that sources import, found without importing any of them."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import twinstep
from twinstep._lib.python_source import parsed
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project.registry import called
from twinstep.project.source_hash import all_files, hash_of, package_folder

#: What of this package is an environment's, and so a part of a candidate that imports it.
_PARTS = ("contracts", "candidates", "generated")
#: Prefixes of a Python that is the system's own.
_SYSTEMS = ("/usr", "/usr/local", "/")


def loaded_hash(candidate: CandidateRef) -> str:
    """Return the hash of all that a candidate is made of here, "" where a part is missing.

    Those are all files of its declared packages, the module of its factory, what their sources
    import, the versions of the installed packages among these, and its compiled part. The standard
    library, NumPy, JAX and this package's core have versions of their own in a verdict. A file
    counts by its name from its outermost package and its bytes, so that a checkout and an installed
    copy have one hash.
    """
    modules = [candidate.factory.partition(":")[0], *candidate.packages]
    has_version = _versioned({name.partition(".")[0] for name in modules})
    try:
        own = [path for name in candidate.packages for path in all_files(package_folder(name))]
        factory = [Path(file) for file in seen(modules[0], whole=False)]
        foreign: set[Path] = set()

        def is_known(file: Path) -> bool:
            known = has_version(file)
            foreign.update([file] if known else [])
            return known

        python = [str(path) for path in (*own, *factory) if path.suffix == ".py"]
        found = map(Path, imported(python, is_known))
        whole = {*own, *found, *(file for file in factory if not has_version(file))}
        rows = sorted((name_of(file), hash_of([("", file)])) for file in whole)
        built = called(candidate, candidate.build) if candidate.build else ""
        others = _versions_of(foreign)
    except (UserError, ImportError, OSError):
        return ""
    if not factory:
        return ""
    return hashlib.sha256(repr((rows, built, others)).encode()).hexdigest()


def name_of(file: Path) -> str:
    """Return a file's path from the folder of its outermost package, this one left out."""
    parts, place = [file.name], file.parent
    while (place / "__init__.py").is_file():
        parts.insert(0, place.name)
        place = place.parent
    return "/".join(parts[1:] if parts[0] == "twinstep" else parts)


def _versions_of(files: Iterable[Path]) -> list[tuple[str, str]]:
    """Return what installed packages these files belong to; a file of none counts itself."""
    core, parts = below(twinstep.__path__), [Path(folder) for folder in installed()]
    rows = set()
    for file in files:
        inner = [file.relative_to(one) for one in parts if file.is_relative_to(one)]
        if core(file) or not inner:
            continue
        top = min(inner, key=lambda one: len(one.parts)).parts[0].removesuffix(".py")
        if top not in ("numpy", "jax", "jaxlib"):
            names = _distributions().get(top, [])
            said = [f"{name} {importlib.metadata.version(name)}" for name in sorted(set(names))]
            rows.add((top, ", ".join(said) or hash_of([("", file)])))
    return sorted(rows)


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


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
    """Return the parts of this Python's environment and the folders of installed packages."""
    folders = [Path(entry).absolute() for entry in sys.path if entry]
    installed = {"site-packages", "dist-packages"}
    # Never the whole prefix: a project may lie in it, with its runs and its reference.
    names = ("bin", "lib", "lib64", "include", "pyvenv.cfg")
    parts = [Path(sys.prefix, name) for name in names] if sys.prefix not in _SYSTEMS else []
    whole = [*parts, *(folder for folder in folders if installed & set(folder.parts))]
    return [str(folder) for folder in whole if folder.exists()]


def places(names: Iterable[str]) -> Iterator[str]:
    """Yield every file and folder from which Python could import a module, each copy of it."""
    for name in names:
        parts = name.split(".")
        for entry in dict.fromkeys(os.path.abspath(entry or ".") for entry in sys.path):
            yield from _forms(Path(entry, *parts[:-1]), parts[-1])
        place = place_of(name)
        if place is not None:
            yield str(place)
            yield from _forms(place.parent, parts[-1])


def _forms(folder: Path, leaf: str) -> Iterator[str]:
    """Yield what a module is in a folder: a package, a file, its byte-code, shared libraries."""
    if (folder / leaf).is_dir():
        yield str(folder / leaf)
    files = [folder / f"{leaf}{suffix}" for suffix in importlib.machinery.all_suffixes()]
    yield from (str(path) for path in files if path.is_file())
    yield from (str(path) for path in folder.glob(f"{leaf}.libs"))
    yield from (str(path) for path in folder.glob(f"__pycache__/{leaf}.*"))


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
    suffixes = (".py", *importlib.machinery.EXTENSION_SUFFIXES)
    files = (folder / f"{leaf}{suffix}" for folder in folders for suffix in suffixes)
    return next((file.absolute() for file in files if file.is_file()), None)
