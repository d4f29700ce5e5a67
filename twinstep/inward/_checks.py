"""One clear line where a library is missing, or an object is not what an adapter takes."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from twinstep.chance.row import DRAWS
from twinstep.contract import Contract
from twinstep.errors import UserError


def imported(module: str, function: str) -> Any:
    """Import a library's module; UserError if the package is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise UserError(
                f"{function}: {module} cannot be imported: {error}: install what it needs"
            ) from error
        raise UserError(
            f"{function}: {package} is not installed: `pip install {package}`"
        ) from error


def required(env: Any, function: str, methods: tuple[str, ...], whence: str) -> None:
    """UserError unless `env` is an object with these methods. whence: where to get one."""
    if isinstance(env, type):
        raise UserError(f"{function}: {env.__name__} is a class: give an object, {whence}")
    missing = [name for name in methods if not callable(getattr(env, name, None))]
    if missing:
        raise UserError(
            f"{function}: {type(env).__name__} has no `{'`, `'.join(missing)}`: give {whence}"
        )


def no_auto_reset(env: Any, function: str, inner: str) -> None:
    """UserError if a wrapper around `env` resets it. inner: the attribute of what it wraps."""
    seen = env
    while seen is not None:
        if "autoreset" in type(seen).__name__.lower():
            raise UserError(
                f"{function}: {type(seen).__name__} begins the next episode by itself: give the "
                "environment below it"
            )
        seen = vars(seen).get(inner) if hasattr(seen, "__dict__") else None


def starts_placed(
    function: str, contract: Contract, hooks: Mapping[str, Any], seeding: str, example: str
) -> None:
    """UserError if nothing puts the starts' fields into the environment.

    seeding: the hook that may do it in place of `place`. example: what to add.
    """
    drawn = (DRAWS,) if "chance" in hooks else ()
    names = ", ".join(field.name for field in contract.starts if field.name not in drawn)
    if names and "place" not in hooks and seeding not in hooks:
        raise UserError(
            f"{function}: nothing puts the starts' fields ({names}) into the environment: add "
            f"{example}"
        )


def required_env(function: str, env: Any) -> None:
    """UserError unless the object that `make` returned has `reset` and `step`."""
    missing = [name for name in ("reset", "step") if not callable(getattr(env, name, None))]
    if missing:
        raise UserError(
            f"{function}: make returned a {type(env).__name__} without `{'`, `'.join(missing)}`: "
            "it must return an environment with Gymnasium's interface"
        )
