"""Installed distributions: what they require in turn, and where their files lie."""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Iterable
from pathlib import Path

from twinstep.errors import UserError

#: What this package itself cannot be imported without.
_CORE = "twinstep"
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def closure(names: Iterable[str]) -> list[str]:
    """Return distributions with all that they require here, and what twinstep's core does.

    names: as in requirements, `torch` or `jax[cuda12]`. UserError for one that is not installed;
    what a requirement's marker excludes on this machine is not installed, and left out.
    """
    found: dict[str, None] = {}
    todo = [(text, True) for text in names]
    todo += [(text, False) for text in _required(_CORE, ()) or ()]
    done: set[tuple[str, str]] = set()
    while todo:
        text, named = todo.pop()
        name, extras = _parsed(text)
        if (name, extras) in done:
            continue
        done.add((name, extras))
        required = _required(name, tuple(filter(None, map(str.strip, extras.split(",")))))
        if required is None:
            if named:
                raise UserError(
                    f"a candidate requires '{name}', which is not installed: `pip install {text}`"
                )
            continue
        found[name] = None
        todo += [(further, False) for further in required]
    return sorted(found)


def _parsed(text: str) -> tuple[str, str]:
    match = _NAME.match(text)
    if match is None:
        raise UserError(f"`requires` has '{text}', which names no distribution")
    return _normal(match[1]), match[2] or ""


def _normal(name: str) -> str:
    """Return the one spelling of a distribution's or an extra's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def _required(name: str, extras: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the requirements of a distribution with some of its extras, None if it is missing."""
    try:
        texts = importlib.metadata.distribution(name).requires or []
    except importlib.metadata.PackageNotFoundError:
        return None
    wanted = set(map(_normal, extras))
    kept = []
    for text in texts:
        asked = set(map(_normal, _EXTRA.findall(text)))
        if not asked or asked & wanted:
            kept.append(text.partition(";")[0])
    return tuple(kept)


def places_of(names: Iterable[str]) -> list[str]:
    """Return the files and folders of distributions where packages are installed, outermost ones.

    One whose list of files is lost counts by the packages that it says it has.
    """
    places: set[str] = set()
    for name in names:
        dist = importlib.metadata.distribution(name)
        tops = {Path(file).parts[0] for file in dist.files or ()} - {"..", "/"}
        tops |= set((dist.read_text("top_level.txt") or "").split())
        for top in tops:
            for form in (top, f"{top}.py"):
                place = Path(str(dist.locate_file(form)))
                if place.exists() and place.name not in ("__pycache__", "bin"):
                    places.add(str(place.absolute()))
    return sorted(places)
