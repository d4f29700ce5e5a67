"""A JavaScript module in a process of Node.js, whose functions an oracle or a candidate calls.

Its `Math.random` is answered from the words of the step while a `Draws` is open; see
`docs/chance.md`. Nothing of the module is edited.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import shutil
import subprocess
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.chance.draws import Draws
from twinstep.errors import UserError

HOST = Path(__file__).with_name("node_host.js")
#: Node.js reads modules of both kinds from this version on.
OLDEST = 18


@functools.cache
def node_version() -> str:
    """Return the version of `node`, "" if there is none that is new enough."""
    command = shutil.which("node")
    if command is None:
        return ""
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    version = said.stdout.strip().removeprefix("v")
    major = version.partition(".")[0]
    return version if major.isdigit() and int(major) >= OLDEST else ""


class NodeModule:
    """A JavaScript file and the process that has loaded it.

    file: CommonJS or an ES module. Many episodes share the process, each with a copy of its own:

        game = NodeModule(FILE).make()  # the module's own variables, anew
        game.call("reset", 3)

    Values are JSON's; typed arrays and sets become lists. UserError without Node.js.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        if not node_version():
            raise UserError(
                f"{file.name} needs Node.js {OLDEST} or newer, and `node` is not there: install it"
            )
        self._process = subprocess.Popen(
            ["node", str(HOST), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._end = weakref.finalize(self, _end, self._process)

    @functools.cached_property
    def exports(self) -> dict[str, list[str]]:
        """The functions that the module exports -> a class's methods, [] for a plain function.

        "" is what the module is itself, where that is a function.
        """
        return self._ask({"ask": "exports"})

    def make(self, of: str = "", *args: Any) -> NodeObject:
        """Return a copy of the module, or what an exported class or factory makes of a fresh copy.

        of: its name, "" for the module itself. UserError if nothing is exported so.
        """
        if of and of not in self.exports:
            raise UserError(
                f"{self.file.name} exports no function `{of}` (it has "
                f"{', '.join(filter(None, self.exports)) or 'none'})"
            )
        return NodeObject(self, self._ask({"ask": "make", "of": of, "args": list(args)}, True))

    def close(self) -> None:
        """End the process."""
        self._end()

    def _ask(self, question: dict[str, Any], draws: bool = False) -> Any:
        active = Draws.active if draws else None
        if active is not None:
            question = question | {"draws": active.lent()}
        said = self._said(json.dumps(_plain(question)))
        if "chance" in said:
            raise UserError(f"chance: {said['chance']}")
        if "error" in said:
            place = f" ({said['place']})" if said["place"] else ""
            raise RuntimeError(f"{self.file.name}: {said['error']}{place}")
        if active is not None:
            active.taken(said["taken"])
        return said.get("value")

    def _said(self, question: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        try:
            self._process.stdin.write(f"{question}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (OSError, ValueError):
            pass
        if not line:
            self.close()
            raise RuntimeError(f"{self.file.name}: its process of Node.js has ended")
        return json.loads(line, object_hook=_number)


class NodeObject:
    """A copy of a module, or an object of it: its functions and its variables."""

    def __init__(self, module: NodeModule, copy: int) -> None:
        self._module, self._copy = module, copy

    def call(self, name: str, *args: Any) -> Any:
        """Call a function; one that returns a promise is waited for.

        RuntimeError with its message, file and line if it throws.
        """
        question = {"ask": "call", "copy": self._copy, "name": name, "args": list(args)}
        return self._module._ask(question, True)

    def get(self, name: str) -> Any:
        """Return a variable, null as None."""
        return self._module._ask({"ask": "get", "copy": self._copy, "name": name})

    def set(self, name: str, value: Any) -> None:
        """Set a variable."""
        self._module._ask({"ask": "set", "copy": self._copy, "name": name, "args": [value]})

    def close(self) -> None:
        """Forget the copy."""
        self._module._ask({"ask": "drop", "copy": self._copy})


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        # What is left to be written to a process that has died cannot be.
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.kill()
    process.wait()


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": str(value)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _number(value: dict[str, Any]) -> Any:
    """Return a number that JSON has no words for."""
    if set(value) != {"$number"}:
        return value
    text = value["$number"]
    return int(text) if text.lstrip("-").isdigit() else float(text)
