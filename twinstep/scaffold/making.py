"""The code that makes an environment with Gymnasium's interface, from what a user names.

The code that is run here is the code that the generated project contains.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twinstep.errors import UserError

#: `module:attribute`, both dotted.
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_ENDLESS = "max_episode_steps=-1"
_QUIET = """\
# It warns of steps that are intended here; its checker doubles a step's time.
gymnasium.logger.min_level = gymnasium.logger.ERROR
"""


@dataclass(frozen=True)
class Making:
    """The code of an environment.

    side: `oracle` or `candidate`. given: as the user wrote it. title: whose it is, for messages.
    imports: the modules it imports. body: of the function that returns a new environment.
    limited: whether its time limit can be left out; see `endless`. reader: the function of
    `twinstep.inward` that makes an oracle of it, of what the expression `maker` is.
    """

    side: str
    given: str
    title: str
    imports: tuple[str, ...]
    body: str
    limited: bool = False
    reader: str = "oracle_from_gym"
    maker: str = "make"

    @property
    def refused(self) -> tuple[str, ...]:
        """The user's own modules, which the other side must not import."""
        return () if self.limited else tuple(name for name in self.imports if name != "copy")

    @property
    def is_endless(self) -> bool:
        """Whether the time limit is left out."""
        return _ENDLESS in self.body

    def __call__(self) -> Any:
        """Return a new environment. UserError with the first line of what it raises."""
        scope: dict[str, Any] = {}
        try:
            exec("\n".join(f"import {module}" for module in self.imports), scope)
            lines = "".join(f"    {line}\n" for line in self.body.splitlines())
            exec(f"def make():\n{lines}", scope)
            env = scope["make"]()
        except Exception as error:  # the library's or the user's own
            words = first_line(error)
            if type(error).__name__ == "NamespaceNotFound":
                id = self.given.partition(":")[2]
                words += f" Or name the module that registers it: gymnasium:MODULE:{id}"
            if not self.limited:
                words = f"it raises {type(error).__name__}, called without arguments: {words}"
            raise UserError(f"--{self.side} {self.given}: {words}") from error
        return env

    def read_by(self, reader: str) -> Making:
        """Return the same with another function of `twinstep.inward`."""
        return replace(self, reader=reader)

    def endless(self) -> Making:
        """Return the same without its time limit, where it has one and can be made so."""
        if not self.limited or not _has_limit(self.given.removeprefix("gymnasium:")):
            return self
        body = self.body.replace("disable_env_checker", f"{_ENDLESS}, disable_env_checker")
        return replace(self, body=body)


def _has_limit(id: str) -> bool:
    """Return whether a Gymnasium ID is registered with a time limit; True if it cannot be told."""
    gymnasium = import_package("gymnasium")
    try:
        return gymnasium.spec(id).max_episode_steps is not None
    except (gymnasium.error.Error, ImportError):  # `made` says what is wrong with the ID
        return True


def gymnasium_of(side: str, id: str) -> Making:
    """Return the code of a Gymnasium ID. UserError if Gymnasium is missing."""
    import_package("gymnasium")
    body = f'{_QUIET}return gymnasium.make("{id}", disable_env_checker=True)'
    return Making(side, f"gymnasium:{id}", f"gymnasium's {id}", ("gymnasium",), body, True)


def dm_env_of(what: str) -> Making:
    """Return the code of a dm_env environment, `MODULE:FACTORY`. UserError if it is not there."""
    given = f"dm_env:{what}"
    making = object_of("oracle", "dm_env:MODULE:FACTORY", given, what)
    maker = making.body.removeprefix("return ").removesuffix("()")
    if "copy" in making.imports:
        raise UserError(f"--oracle {given}: it is no factory: give a callable")
    # Called here with Gymnasium's interface around it, as the reader of the bridge puts it.
    body = f"from twinstep.inward.dm_env import DmEnv\nreturn DmEnv({maker})"
    return replace(making, body=body, reader="oracle_from_dm_env", maker=maker)


def object_of(side: str, kinds: str, given: str, place: str = "") -> Making:
    """Return the code of `module:callable` or `module:object`.

    kinds: what else could have been written. place: the place in `given`, by default all of it.
    UserError if it is not there, or is no environment and makes none.
    """
    place = place or given
    module, _, name = place.partition(":")
    if not _PLACE.fullmatch(place):
        raise UserError(f"--{side} {given}: write {kinds}")
    thing = _imported(side, kinds, given, module)
    for part in name.split("."):
        if not hasattr(thing, part):
            there = [n for n in vars(thing) if not n.startswith("_")] if vars(thing) else []
            raise UserError(
                f"--{side} {given}: {module} has no `{name}` (it has {', '.join(there[-8:])})"
            )
        thing = getattr(thing, part)
    if callable(thing):
        return Making(side, given, place, (module,), f"return {module}.{name}()")
    return Making(side, given, place, ("copy", module), f"return copy.deepcopy({module}.{name})")


def _imported(side: str, kinds: str, given: str, module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if module == error.name or module.startswith(f"{error.name}."):
            raise UserError(
                f"--{side} {given}: there is no module {error.name} here: install it or go to its "
                f"folder, or write {kinds}"
            ) from error
        raise UserError(f"--{side} {given}: {module} needs {error.name}: install it") from error
    except Exception as error:  # an import may run any code
        raise UserError(
            f"--{side} {given}: {module} cannot be imported: {first_line(error)}"
        ) from error


@contextlib.contextmanager
def current_folder() -> Iterator[None]:
    """Let modules of the current folder be imported, as `python -m` does."""
    here = str(Path.cwd())
    known = here in sys.path or "" in sys.path
    if not known:
        sys.path.insert(0, here)
    try:
        yield
    finally:
        if not known:
            sys.path.remove(here)


def import_package(name: str) -> Any:
    """Import a package the user needs; UserError with the pip command if that fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or name).partition(".")[0]
        if missing == name.partition(".")[0]:
            raise UserError(f"{missing} is not installed: pip install {missing}") from error
        raise UserError(
            f"{name} needs {missing}, which is missing: pip install {missing}"
        ) from error
    except Exception as error:  # an import may run any code
        raise UserError(
            f"{name} cannot be imported ({first_line(error)}): pip install --force-reinstall {name}"
        ) from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, its type if it has none."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().partition("\n")[0]
    return text or type(error).__name__
