"""What a candidate's process sees: Python, installed packages, its own files, no oracle.

What is named is seen and nothing else: the project's folder is not, nor traces, verdicts, other
candidates' files and the user's home.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import twinstep
from twinstep._lib import paths
from twinstep.environment import CandidateRef
from twinstep.project import registry
from twinstep.project.cargo import workspace_of
from twinstep.project.distributions import closure, places_of
from twinstep.project.imported import below, imported, installed, place_of, places, seen
from twinstep.project.registry import Pair
from twinstep.project.source_hash import ABOUT, matching
from twinstep.walls.view import SYSTEM, View, python_folders

#: The variable with the folder of a check and the user's own, as PATH separates them.
SHOWN_AT = "TWINSTEP_SHOWN_AT"
#: The names of folders that packages are installed to.
_INSTALLED = ("site-packages", "dist-packages")
#: Bytes of its scratch.
SCRATCH = 1 << 30
#: Processes and threads of a candidate, all of its together.
PROCESSES = 1024


def view_of(pair: Pair, more: Iterable[str] = (), cwd: str = "/tmp") -> View:
    """Return the view of a pair's candidate. more: further files that it sees. cwd: its folder."""
    subject, candidate = pair.subject, pair.candidate
    oracle = subject.env.oracle
    hidden = [*places((oracle.package, *oracle.upstream)), *places(("twinstep.oracles",))]
    named = [
        registry.locator(subject.env.name),
        subject.env.contract.__module__,
        candidate.factory,
        candidate.probe,
        candidate.build,
        *candidate.packages,
    ]
    known = [*SYSTEM, *python_folders(), *installed(), *twinstep.__path__]
    own = [place for name in named if name for place in seen(name.partition(":")[0])]
    own += [str(path.absolute()) for glob in candidate.edit for path in matching(glob)]
    own += imported(own, below([*known, *hidden]))
    # A compiled module is asked whether it fits the sources it was built from, all of them.
    crates = [found for glob in candidate.edit if (found := workspace_of(Path.cwd(), glob))]
    own += map(str, crates)
    # A candidate inside the bridge's own package, as in a project of one file, has to be seen.
    hidden = [name for name in hidden if not any(Path(one).is_relative_to(name) for one in own)]
    hidden += [str(crate / "target") for crate in crates]
    # Not what says how a candidate did, nor what a project's runs and the cache hold.
    folders = [place for place in map(place_of, candidate.packages) if place and place.is_dir()]
    hidden += [str(folder / name) for folder in folders for name in ABOUT]
    kept = sorted(Path(".twinstep").absolute().glob("*"))
    hidden += [str(path) for path in kept if path.name != "built"]  # a check's own Rust
    hidden += [str(paths.cache_dir())]
    others, chosen = _libraries(candidate)
    own += chosen
    hidden += others
    view = View(
        tuple(dict.fromkeys([*known, *own, *more])),
        tuple(dict.fromkeys(hidden)),
        moved=_moved(),
        scratch=SCRATCH,
        devices=tuple(map(str, Path("/dev").glob("nvidia*"))),
        memory=_memory(),
        processes=PROCESSES,
    )
    return replace(view, cwd=view.inside(cwd))


def _libraries(candidate: CandidateRef) -> tuple[list[str], list[str]]:
    """Return the folders of installed packages that are hidden, and what is shown in them still."""
    if candidate.requires is None:
        return [], []
    chosen = places_of(closure(candidate.requires))
    places = {*SYSTEM, *python_folders(), *installed(), *map(os.path.dirname, chosen)}
    forms = [f"{lib}python3*/{name}" for lib in ("", "lib*/") for name in _INSTALLED]
    found = {folder for place in map(Path, places) for form in forms for folder in place.glob(form)}
    found |= {place for place in map(Path, places) if place.name in _INSTALLED}
    for folder in found:
        # Packages in folders of their own are found by what `pip install -e` leaves.
        chosen += map(str, folder.glob("__editable__*"))
        # A user's program finds the environment by what its distribution declares.
        declaring = folder.glob("*-info/entry_points.txt")
        chosen += [str(file.parent) for file in declaring if "[twinstep." in file.read_text()]
    return sorted(map(str, found)), chosen


def _memory() -> int:
    """Return the bytes that one process may hold: three quarters of the machine's."""
    return 3 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def _moved() -> tuple[tuple[str, str], ...]:
    """Return what a check shows at the user's own place: its folder would tell that it is one."""
    place, _, shown = os.environ.get(SHOWN_AT, "").partition(os.pathsep)
    return ((place, shown),) if place and shown else ()
