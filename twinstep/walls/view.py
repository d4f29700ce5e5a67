"""What a walled process sees, and the command line that starts it there."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from twinstep.walls.enter import VARIABLE

#: Parts of the system that programs need: shared libraries, their index, the time zone, the CPUs.
SYSTEM = (
    "/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache",
    "/etc/localtime", "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip
_START = Path(__file__).with_name("start.py")


@dataclass(frozen=True)
class View:
    """The file system, the rights and the limits of a walled process.

    read: what it can read, files or folders; nothing else of the outside exists for it. hide: parts
    of these that are empty for it. write: what it can also change. moved: (folder of the outside,
    where it is shown); the rest is shown at its own place. scratch: bytes of its own /tmp, which
    ends with it. cwd: its folder. network: whether it has the machine's. devices: device files.
    memory: bytes of data of each of its processes. processes: number of its processes and threads.
    file_size: bytes of a file. 0 is no limit.
    """

    read: tuple[str, ...]
    hide: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    scratch: int = 1 << 30
    cwd: str = "/tmp"
    network: bool = False
    devices: tuple[str, ...] = ()
    memory: int = 0
    processes: int = 0
    file_size: int = 0

    def encode(self) -> str:
        """Return the view as JSON, with all links resolved and what does not exist left out."""
        links: dict[str, str] = {}
        values = dataclasses.asdict(self)
        for name in ("read", "hide", "write", "devices"):
            found = (_resolved(path, links) for path in values[name])
            values[name] = [(path, self.inside(path)) for path in dict.fromkeys(found) if path]
        shown = {self.inside(path): target for path, target in links.items()}
        return json.dumps(values | {"links": {} if "/" in self.read else shown})

    def inside(self, path: str) -> str:
        """Return where a path of the outside is shown."""
        for place, shown in self.moved:
            if Path(path).is_relative_to(place):
                return str(Path(shown, Path(path).relative_to(place)))
        return path


def _resolved(path: str, links: dict[str, str]) -> str:
    """Return a path without links, "" if nothing is there. links: gets those on the way."""
    place, parts = "/", [part for part in os.path.abspath(path).split("/") if part]
    passed = 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            place = os.path.dirname(place)
            continue
        step = os.path.join(place, part)
        if not os.path.lexists(step):
            return ""
        if os.path.islink(step):
            passed += 1
            if passed > 40:
                return ""
            links[step] = target = os.readlink(step)
            place = "/" if target.startswith("/") else place
            parts = [one for one in target.split("/") if one and one != "."] + parts
        else:
            place = step
    return place


def walled(command: Sequence[str]) -> list[str]:
    """Return the command line that runs a command behind walls, with a view's `variables`."""
    return [sys.executable, "-I", "-S", str(_START), *command]


def variables(view: View) -> dict[str, str]:
    """Return the environment variable that gives `walled` its view."""
    return {VARIABLE: view.encode()}


def python_folders() -> tuple[str, ...]:
    """Return the folders of this Python itself, its standard library and its shared library."""
    own = {sys.base_prefix, sys.base_exec_prefix}
    own |= {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    own.add(str(Path(sys.executable).resolve()))
    if sys.base_prefix in ("/usr", "/usr/local", "/"):  # the system's own, with all that is there
        own -= {sys.base_prefix, sys.base_exec_prefix}
        own.add(str(Path(sys.executable).resolve().parent))
    return tuple(sorted(own))
