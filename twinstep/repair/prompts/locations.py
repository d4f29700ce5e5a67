"""Locations of a candidate's modules, its adapter, the contract and the reference's own files."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from twinstep.environment import CandidateRef, Environment
from twinstep.errors import OracleMissing
from twinstep.project import source_view
from twinstep.project.registry import Pair
from twinstep.repair.prompts.length_budget import Part, fenced

#: The parts between the modules: an episode's step, its start, the reference's own auto-reset.
GLUE = ("step", "reset", "restart")
_FENCES = {".py": "python", ".rs": "rust", ".h": "c", ".c": "c", ".js": "js", ".ts": "ts"}


def language(candidate: CandidateRef, module: str = "") -> str:
    """Return `jax` or `rust`, by the module's own file, else by the files that may be edited."""
    place = candidate.sources.get(module, "").partition(":")[0]
    if place:
        return "rust" if place.endswith(".rs") else "jax"
    rust = any(glob.startswith("rust/") or glob.endswith(".rs") for glob in candidate.edit)
    return "rust" if rust else "jax"


def known(pair: Pair) -> list[str]:
    """Return the translatable names: the contract's modules in their order, then the glue."""
    modules = [module.name for module in pair.subject.contract.modules]
    glue = GLUE if pair.subject.contract.reset_mode == "same-step" else GLUE[:2]
    return modules + [name for name in glue if name not in modules]


def present(pair: Pair) -> list[str]:
    """Return the names of modules and glue whose function the candidate's file defines."""
    return [name for name in known(pair) if found(pair, name)]


def found(pair: Pair, module: str) -> int:
    """Return the line that defines a module in the candidate's file, 0 if none does."""
    path, _, symbol = pair.candidate.sources.get(module, "").partition(":")
    return source_view.line_of(path, symbol) if path else 0


def place_of(pair: Pair, module: str) -> str:
    """Return the present or future place of a module, as a clause."""
    declared = pair.candidate.sources.get(module, "")
    if not declared:
        return f"no file is declared for it: choose one below {edit(pair)}"
    path, _, symbol = declared.partition(":")
    line = found(pair, module)
    more = [f"`{helper}`" for helper in pair.candidate.helpers.get(module, ())] if line else []
    with_them = f", with {', '.join(more)}" if more else ""
    return f"`{path}:{line}` (`{symbol}`){with_them}" if line else f"`{symbol}` in `{path}`"


def edit(pair: Pair) -> str:
    """Return the globs of the files that may be edited."""
    globs = pair.candidate.edit
    return ", ".join(f"`{glob}`" for glob in globs) or "the candidate's own files"


def signature(pair: Pair, module: str, most: int = 30) -> list[str]:
    """Return the lines of a module's present signature, up to its body; [] if it is missing."""
    path, _, _ = pair.candidate.sources.get(module, "").partition(":")
    line = found(pair, module)
    file = source_view.find_source(path) if line else None
    if file is None:
        return []
    lines = file.read_text(errors="replace").splitlines()[line - 1 : line - 1 + most]
    end = "{" if path.endswith(".rs") else ":"
    for count, text in enumerate(lines, 1):
        if text.rstrip().endswith(end):
            return lines[:count]
    return lines[:1]


def contract_place(env: Environment) -> str:
    """Return the file that declares the contract."""
    return f"`{_file_of(env.contract.__module__)}`"


def adapter(pair: Pair) -> str:
    """Return the class that plugs the candidate in, and its file."""
    module, _, name = pair.candidate.factory.partition(":")
    return f"`{name}` in `{_file_of(module)}`"


def reference_source(pair: Pair, module: str) -> str | Part:
    """Return the part of the reference that may be shown for a module, by `source_view`.

    `verbatim`: its lines, numbered, or its place if they are not available. `location`: the place.
    `rules`: the numbers of its rules and the file that holds them.
    """
    env, contract = pair.subject.env, pair.subject.contract
    own = {m.name: m.source for m in contract.modules}
    # The glue is what lies between the modules.
    source = own[module] if module in own else "; ".join(s for s in own.values() if s)
    if contract.source_view == "rules":
        return _rules(env, source)
    shown = f"The reference has it at `{source}`." if source else ""
    if contract.source_view != "verbatim":  # nor is the reference probed
        return shown or "The contract does not say where the reference has it."
    place = source if module in own else _span(list(own.values()))
    lines = _lines(pair, place)
    if not lines:
        return shown or "The contract does not say where the reference has it."
    name = place.partition(":")[0]
    numbered = [f"{number:4d}  {text}" for number, text in lines]
    block = fenced(numbered, _FENCES.get(Path(name).suffix, ""), f"`{place}` of the reference")
    above = f"`{place}`, with the reference's own line numbers:\n"
    return Part(block.lines, block.rest, above + block.head, block.tail)


def _lines(pair: Pair, place: str) -> list[tuple[int, str]]:
    if pair.subject.probe.problem:
        return []
    oracle = pair.subject.env.oracle
    try:
        return source_view.reference_lines(oracle, pair.subject.contract.source_view, place)
    except (OracleMissing, OSError, ValueError, ImportError):
        return []  # a prompt with only the place is better than none


def _span(places: list[str]) -> str:
    """Return the line range of all modules in the file that holds most of them."""
    lines_of: dict[str, list[int]] = {}
    for place in places:
        name, _, ranges = place.partition(":")
        if re.fullmatch(r"[\d,-]+", ranges):
            lines_of.setdefault(name, []).extend(int(n) for n in re.findall(r"\d+", ranges))
    if not lines_of:
        return ""
    name = max(lines_of, key=lambda n: len(lines_of[n]))
    return f"{name}:{min(lines_of[name])}-{max(lines_of[name])}"


def _rules(env: Environment, source: str) -> str:
    """Return the numbers of rules, without the places in the reference next to them."""
    numbers = [part.strip() for part in source.split(";") if not re.search(r"\.\w+:", part)]
    text = "; ".join(dict.fromkeys(part for part in numbers if part))
    package = _file_of(env.oracle.package)
    folder = _folder_of(env.oracle.package)
    names = sorted(p.name for p in folder.glob("*.md")) if folder else []
    files = ", ".join(f"`{package}/{name}`" for name in names if name.lower().startswith("rul"))
    lines = [f"It is defined by {text}." if text else "No rules are named for it alone."]
    if files:
        lines.append(f"The rules are written in {files}.")
    lines.append("The reference's code may not be shown or read: write from the rules.")
    return " ".join(lines)


def _folder_of(module: str) -> Path | None:
    """Return a package's folder without importing the package."""
    first, *rest = module.split(".")
    # The outermost package is on the path; one folder below it may lie elsewhere.
    for count in (2, 1):
        head, tail = ".".join([first, *rest][:count]), [first, *rest][count:]
        try:
            spec = importlib.util.find_spec(head)
        except (ImportError, ValueError):
            continue
        for base in (spec.submodule_search_locations or ()) if spec else ():
            folder = Path(base).joinpath(*tail)
            if folder.is_dir():
                return folder
    return None


def _file_of(module: str) -> str:
    """Return a module's file relative to the current folder; its dotted name if it is outside."""
    package, _, last = module.rpartition(".")
    folder = _folder_of(module)
    if folder is None and package:
        above = _folder_of(package)
        folder = above / f"{last}.py" if above else None
    if folder is None or not folder.exists():
        return module
    try:
        return folder.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return module
