"""Screen an agent's files before any of them is imported or built.

This is the first line of three: guard.py watches the process that runs the files, and another
process compares their results. Each refusal names file and line, so that an agent can fix an
honest mistake.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from twinstep._lib.python_source import parsed

#: Suffixes of an implementation's files.
SOURCES = (".py", ".csv", ".json", ".toml", ".rs")
#: Files that Python, pytest or cargo would run or read by their name alone.
NAMES = (
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "setup.py",
    "build.rs",
    "config.toml",
)
_TESTS = re.compile(r"(test_.*|.*_test)\.py")
#: Packages that a JAX candidate may import in addition to itself and the contracts.
PACKAGES = (
    "jax", "numpy", "twinstep.contracts", "twinstep.contract", "twinstep.exact", "twinstep.frames",
    "twinstep.Contract", "twinstep.Frame", "twinstep.JaxCandidate", "twinstep.ModuleCall",
    "twinstep.Start", "twinstep.jax_candidate.JaxCandidate", "twinstep.protocols.ModuleCall",
    "__future__",
    "collections", "copy", "csv", "dataclasses", "enum", "functools", "itertools", "json", "math",
    "operator", "pathlib", "types", "typing",
)  # fmt: skip
_CALLS = ("eval", "exec", "compile", "__import__", "globals", "locals", "breakpoint", "input")
_ATTRIBUTES = (
    "pure_callback", "io_callback", "callback", "host_callback", "call_tf", "memmap", "fromfile",
    "tofile", "ctypeslib", "ctypes", "write_text", "write_bytes", "unlink", "symlink_to", "rename",
    "mkdir", "rmdir", "touch", "__globals__", "__builtins__", "__subclasses__", "__code__",
    "__closure__", "__loader__", "__spec__", "__mro__", "__bases__",
)  # fmt: skip
#: The most numbers and texts in a Python file that is no table, and the most bytes of a data file.
CONSTANTS, TABLE_BYTES = 1500, 1 << 17
#: The most bytes of all data files together.
TABLES_BYTES = 1 << 18
_RUST = (
    (r"\bstd\s*::\s*(process|net|fs|env|os)\b", "no processes, sockets, files or environment"),
    (r"\b(include|include_str|include_bytes|env|option_env|asm|global_asm)!\s*[\(\{\[]",
     "no include, no environment, no assembly"),
    (r"\bproc_macro\b|proc-macro", "no procedural macros"),
    (r'\bextern\s+"|\b(no_mangle|export_name|link_section|link_name|libc)\b|#!?\[.*\b(link|path)\s*[=(]',
     "nothing foreign is linked"),
)  # fmt: skip


@dataclass(frozen=True)
class Refused:
    """One refusal. place: `generated/pong/step.py:12`, or the file alone. why: a sentence."""

    place: str
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


def screen(root: Path, files: Iterable[Path], own: Sequence[str]) -> list[Refused]:
    """Return the refusals of files below root, sorted by place; [] if all may run.

    own: import packages that consist of these files.
    """
    refusals: list[Refused] = []
    files = sorted(files)
    tables = [p.lstat().st_size for p in files if p.suffix in (".csv", ".json", ".toml")]
    if sum(tables) > TABLES_BYTES:
        why = f"{sum(tables)} bytes of tables, more than {TABLES_BYTES}: no environment needs them"
        refusals.append(Refused(files[0].parent.relative_to(root).as_posix(), why))
    for path in files:
        place = path.relative_to(root).as_posix()
        if why := _of_file(path):
            refusals.append(Refused(place, why))
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            refusals += [Refused(f"{place}:{line}", why) for line, why in _of_python(text, own)]
        elif path.suffix in (".rs", ".toml"):
            refusals += [Refused(f"{place}:{line}", why) for line, why in _of_rust(text)]
    return refusals


def _of_file(path: Path) -> str:
    if path.is_symlink():
        return "a symbolic link may lead out of the folder: write the file itself"
    if path.name in NAMES or _TESTS.fullmatch(path.name):
        return "a file of this name would be run or read by tools, not by the environment"
    if path.suffix not in SOURCES or path.name.startswith("."):
        return f"an implementation is made of {', '.join(SOURCES)} files"
    if path.stat().st_mode & 0o111:
        return "it is executable"
    if path.stat().st_size > TABLE_BYTES:
        return f"it is larger than {TABLE_BYTES} bytes: no table of an environment is"
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return "it is no UTF-8 text"
    return ""


def _of_python(text: str, own: Sequence[str]) -> Iterator[tuple[int, str]]:
    try:
        tree = parsed(text)
    except SyntaxError as error:
        yield error.lineno or 1, f"it is no Python ({error.args[0]})"
        return
    allowed = (*PACKAGES, *own)
    modules = _imported(tree)
    constants = 0
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(node):
                if not any(name == p or name.startswith(f"{p}.") for p in allowed):
                    yield line, f"`{name}` may not be imported by a candidate"
        elif isinstance(node, ast.Name) and node.id in _CALLS:
            yield line, f"`{node.id}` may not be used by a candidate"
        elif isinstance(node, ast.Call):
            yield from _of_call(node, modules)
        elif isinstance(node, ast.Attribute):
            yield from _of_attribute(node, modules)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float | bytes | str):
            constants += 1
    if constants > CONSTANTS:
        yield 1, f"{constants} constants: more than {CONSTANTS} are a table, which is a data file"


def _of_call(node: ast.Call, modules: set[str]) -> Iterator[tuple[int, str]]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "open" or (isinstance(node.func, ast.Attribute) and node.func.attr == "open"):
        modes = [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
        texts = [str(mode.value) for mode in modes if isinstance(mode, ast.Constant)]
        written = [text for text in texts if set(text) & set("wax+")]
        if name == "open" or written:
            yield node.lineno, "files may only be read, by `Path(__file__).with_name(...)`"
    if name in ("setattr", "delattr") and node.args and _root(node.args[0]) in modules:
        yield node.lineno, "what is imported may not be changed"


def _of_attribute(node: ast.Attribute, modules: set[str]) -> Iterator[tuple[int, str]]:
    if node.attr in _ATTRIBUTES:
        yield node.lineno, f"`.{node.attr}` may not be used by a candidate"
    if isinstance(node.ctx, ast.Store | ast.Del) and _root(node.value) in modules:
        yield node.lineno, "what is imported may not be changed"


def _imported(tree: ast.AST) -> set[str]:
    """Return the names bound to modules."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("jax", "numpy")))
        for alias in node.names
    }


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level:
        return []
    module = node.module or ""
    return [f"{module}.{alias.name}" for alias in node.names]


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _of_rust(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        code = line.partition("//")[0]
        for pattern, why in _RUST:
            if re.search(pattern, code):
                yield number, why
