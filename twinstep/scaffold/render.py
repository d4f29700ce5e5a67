"""Render the files of `twinstep init` from `templates/`.

A line there may be `%if NAME`, `%else` or `%end`; other lines are string.Template's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from string import Template
from typing import Any

TEMPLATES = Path(__file__).with_name("templates")

Files = dict[Path, str]


def files_of(
    folders: tuple[str, str], values: Mapping[str, Any], conditions: Mapping[str, bool]
) -> Files:
    """Return path -> text of the whole project.

    folders: those of the reference's and of the candidate's templates.
    """
    package = Path(values["package"])
    reference, fast = folders
    # The agreement on a module of JavaScript is that on a library.
    agreed = "library" if reference == "node" else reference
    places = {
        Path("pyproject.toml"): "common/pyproject.toml",
        Path(".gitignore"): "common/gitignore",
        package / "__init__.py": "common/package.py",
        package / "declared.py": "common/declared.py",
        package / "contract.py": f"{agreed}/contract.py",
        package / "oracle" / "__init__.py": "common/oracle.py",
        package / "oracle" / "bridge.py": f"{reference}/bridge.py",
        package / "oracle" / "probe.py": f"{reference}/probe.py",
        package / "fast" / "__init__.py": "common/fast.py",
        package / "fast" / "candidate.py": f"{fast}/candidate.py",
    }
    if reference == "header":
        places[package / "oracle" / "oracle.c"] = "header/oracle.c"
    return {
        path: render((TEMPLATES / f"{name}.txt").read_text(), values, conditions)
        for path, name in places.items()
    }


def render(text: str, values: Mapping[str, Any], conditions: Mapping[str, bool]) -> str:
    """Fill a template: choose the lines of %if NAME, %else and %end, then substitute $values."""
    chosen, on = [], True
    for line in text.splitlines(keepends=True):
        word, _, name = line.strip().partition(" ")
        if word == "%if":
            on = conditions.get(name, False)
        elif word == "%else":
            on = not on
        elif word == "%end":
            on = True
        elif on:
            chosen.append(line)
    return Template("".join(chosen)).substitute(values)


def indented(code: str) -> str:
    """Return the lines of code inside a function."""
    return "\n".join(f"    {line}".rstrip() for line in code.splitlines())


def imports_of(
    modules: Iterable[str], numpy: bool, typing: Iterable[str], collections: Iterable[str] = ()
) -> str:
    """Return the lines that import modules and names, sorted as formatters sort them."""
    standard = [name for name in modules if name == "copy"]
    others = [name for name in modules if name != "copy"]
    first = [f"import {name}" for name in standard]
    for module, names in (("collections.abc", collections), ("typing", typing)):
        first += [f"from {module} import {', '.join(names)}"] if names else []
    third = {name: f"import {name}" for name in others}
    third |= {"numpy": "import numpy as np"} if numpy else {}
    blocks = [first, [third[name] for name in sorted(third)]]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def inward(low: float, high: float) -> tuple[str, str]:
    """Return both ends of a range in four digits, rounded into the range."""
    if low == high:
        return repr(low), repr(high)
    ends = (low, ROUND_CEILING), (high, ROUND_FLOOR)
    first, last = (float(Context(4, way).create_decimal(repr(value))) for value, way in ends)
    return repr(first), repr(last)


def rows(items: Iterable[str]) -> str:
    """Return the items as lines of a tuple or a dictionary."""
    return "".join(f"    {item},\n" for item in items)
