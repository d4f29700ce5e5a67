"""The places and source lines of modules, in the candidate and in the reference."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
from pathlib import Path
from typing import Any

from twinstep._lib.python_source import parsed
from twinstep.environment import OracleRef
from twinstep.project import registry

#: `190-222,240`: the lines of a module in the reference.
_RANGES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def find_source(path: str) -> Path | None:
    """Return a candidate's file by its path from the repository's root, None if it is not here.

    In a checkout that is the path itself. Installed, its first folder is a package, on its own or
    inside twinstep.
    """
    if Path(path).is_file():
        return Path(path)
    first, *rest = Path(path).parts
    for package in (f"twinstep.{first}", first) if rest and first.isidentifier() else ():
        spec = importlib.util.find_spec(package)
        for base in (spec.submodule_search_locations or ()) if spec else ():
            inner = Path(base).joinpath(*rest)
            if inner.is_file():
                return inner
    return None


def line_of(path: str, symbol: str) -> int:
    """Return the line that defines a symbol in a candidate's file, 0 if none does."""
    file = find_source(path)
    return line_in(file.read_text(errors="replace"), symbol) if file else 0


def line_in(text: str, symbol: str) -> int:
    """Return the line of a text that defines a symbol, 0 if none does.

    symbol: a function or class, or `Class.method` in Python, any depth. A bare name means the
    module's own definition where it has one, else the first of that name anywhere.
    """
    if not symbol:
        return 0
    with contextlib.suppress(SyntaxError):  # no Python
        return _python_line(parsed(text), symbol)
    name = re.escape(symbol.rpartition(".")[2])
    defined = re.compile(rf"\s*((pub(\(\w+\))? )?fn {name}\b|def {name}\(|class {name}\b)")
    for number, line in enumerate(text.splitlines(), 1):
        if defined.match(line):
            return number
    return 0


def _python_line(tree: ast.Module, symbol: str) -> int:
    definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    scope: ast.AST = tree
    for name in symbol.split("."):
        inside = [node for node in ast.iter_child_nodes(scope) if isinstance(node, definition)]
        found = [node for node in inside if node.name == name]
        if not found and "." not in symbol:
            found = [n for n in ast.walk(tree) if isinstance(n, definition) and n.name == name]
        if not found:
            return 0
        scope = found[0]
    return scope.lineno  # type: ignore[attr-defined]


def candidate_source(record: dict[str, Any], most: int = 40) -> str:
    """Return the suspect's own source, the whole function if it is short."""
    suspect = record["suspects"][0] if record["suspects"] else None
    if not suspect or ":" not in suspect["place"]:
        return ""
    path, _, line = suspect["place"].rpartition(":")
    file = find_source(path)
    if file is None:
        return ""
    lines = file.read_text(errors="replace").splitlines()
    begin = int(line) - 1
    body = lines[begin : begin + most]
    depth = len(body[0]) - len(body[0].lstrip()) if body else 0
    for number, text in enumerate(body[1:], 1):
        outside = text.strip() and len(text) - len(text.lstrip()) <= depth
        if outside and not text.lstrip().startswith((")", "}", "]")):
            body = body[:number]
            break
    while body and not body[-1].strip():
        body.pop()
    kind = "rust" if path.endswith(".rs") else "python"
    shown = "\n".join(body)
    return f"## Candidate source (`{path}:{line}-{begin + len(body)}`)\n```{kind}\n{shown}\n```"


def oracle_source(record: dict[str, Any]) -> str:
    """Return the reference's own lines for the first suspect, for display only.

    Never stored: reports hold the location. Empty if the contract's `source_view` is not
    `verbatim`, or if the reference's source is not here.
    """
    env = registry.environment(record["environment"])
    view = env.contract(record["params"]).source_view
    place = record["suspects"][0]["source"] if record["suspects"] else ""
    lines = reference_lines(env.oracle, view, place)
    if not lines:
        return ""
    parts = [f"## Oracle source (`{place}`)", *(text for _, text in lines)]
    return "\n".join(parts[:60])


def reference_lines(oracle: OracleRef, view: str, place: str) -> list[tuple[int, str]]:
    """Return (number, text) of the reference's lines at a module's `source`.

    Empty if the view is not `verbatim`, if the place names no lines (`pong.h:88-97,105` does) or if
    the file does not exist.
    """
    name, _, ranges = place.partition(":")
    if view != "verbatim" or not oracle.source or not _RANGES.fullmatch(ranges):
        return []
    file = registry.load_object(oracle.source)() / name
    if not file.is_file():
        return []
    lines = list(enumerate(file.read_text(errors="replace").splitlines(), 1))
    named: list[tuple[int, str]] = []
    for span in ranges.split(","):
        first, _, last = span.partition("-")
        named += lines[int(first) - 1 : int(last or first)]
    return named
