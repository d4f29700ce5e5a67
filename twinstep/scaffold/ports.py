"""Inspection of candidates in JAX, which `twinstep.inward` reads in with one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import twinstep.inward as readers
from twinstep.contract import ActionSpace, Box, Discrete
from twinstep.errors import UserError
from twinstep.inward._lane import own_promotion
from twinstep.inward._library import Library
from twinstep.scaffold import introspect, placing, spaces
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.making import first_line, import_package, object_of
from twinstep.scaffold.port_state import Begun, at, clock_of, paths_of
from twinstep.scaffold.render import rows
from twinstep.scaffold.twins import AGREE, Twin, require_alike

#: Library -> its methods for reset and step, which reports name.
_METHODS = {
    "functional": ("initial", "transition"),
    "pgx": ("_init", "_step"),
    "jumanji": ("reset", "step"),
    "brax": ("reset", "step"),
    "navix": ("reset", "_step"),
}

#: The port's own first observation.
_FIRST = """\
from PACKAGE.fast.candidate import Fast

obs = np.ravel(Fast.begins(seed))"""


@dataclass(frozen=True)
class _Written:
    """The call that is written. imports: modules. expression: of its first argument."""

    imports: tuple[str, ...]
    expression: str
    limit: int


def functional(what: str, facts: ReferenceFacts) -> Twin:
    """Inspect `MODULE:CLASS`, a `FuncEnv` of Gymnasium's or the user's."""
    given = f"functional:{what}"
    making = object_of("candidate", "functional:MODULE:CLASS", given, what)
    library = _built("functional", given, lambda: readers.from_functional(making()))
    expression = making.body.removeprefix("return ")
    written = _Written(making.imports, expression, 0)
    return _inspected("functional", what.rpartition(":")[2], library, written, facts)


def pgx(id: str, facts: ReferenceFacts) -> Twin:
    """Inspect the pgx game `id`."""
    return _of_id("pgx", id, facts, lambda library: 0)


def jumanji(id: str, facts: ReferenceFacts) -> Twin:
    """Inspect the jumanji environment `id`."""
    return _of_id("jumanji", id, facts, lambda library: _number(library.env, "time_limit"))


def navix(id: str, facts: ReferenceFacts) -> Twin:
    """Inspect the navix environment `id`."""
    return _of_id("navix", id, facts, lambda library: _number(library.env, "max_steps"))


def brax(id: str, facts: ReferenceFacts) -> Twin:
    """Inspect the brax environment `id`, which gets the reference's time limit."""
    import_package("brax.envs")
    expression = f'brax.envs.get_environment("{id}")'
    if facts.horizon:
        expression = f'brax.envs.create("{id}", episode_length={facts.horizon}, auto_reset=False)'
    library = _built(
        "brax",
        f"brax:{id}",
        lambda: readers.from_brax(eval(expression, {"brax": import_package("brax")})),
    )
    return _inspected(
        "brax", id, library, _Written(("brax.envs",), expression, facts.horizon), facts
    )


def _of_id(kind: str, id: str, facts: ReferenceFacts, limit: Callable[[Library], int]) -> Twin:
    import_package(kind)
    library = _built(kind, f"{kind}:{id}", lambda: getattr(readers, f"from_{kind}")(id))
    return _inspected(kind, id, library, _Written((), f'"{id}"', limit(library)), facts)


def _built(kind: str, given: str, build: Callable[[], Any]) -> Library:
    """Return the library's environment. UserError with its own words."""
    try:
        return build().library()
    except UserError:
        raise
    except Exception as error:  # the library's own
        raise UserError(
            f"--candidate {given}: {type(error).__name__}: {first_line(error)}: is it one of "
            f"{kind}'s?"
        ) from error


def _number(env: Any, name: str) -> int:
    value = getattr(env, name, None)
    return int(value) if isinstance(value, int) else 0


def _inspected(
    kind: str, id: str, library: Library, written: _Written, facts: ReferenceFacts
) -> Twin:
    """Return what the library's environment is; UserError unless its spaces are the reference's."""
    title = f"{'gymnasium' if kind == 'functional' else kind}'s {id}"
    if kind == "functional" and not written.expression.startswith("gymnasium."):
        title = written.expression.removesuffix("()")
    with own_promotion():
        action = _actions(kind, library.env, title, facts)
        begun = _begun(library, title, action, facts)
        paths, unmatched = paths_of(library, begun, facts)
        clock = clock_of(library, begun, facts, action) if paths and facts.clock else ""
        legal = library.legal(begun.inner, begun.seen) is not None
    fixed = facts.fixed and all(_same(first, facts.first[0]) for first in begun.firsts)
    asked = not paths and not fixed and bool(facts.placing and facts.placing.read_off)
    file, name = _home(library.env)
    values = {
        "fasttitle": title,
        "fastimports": "".join(f"import {module}\n" for module in sorted(written.imports)),
        "fastnames": ", ".join([*["at_paths"] * bool(paths), f"from_{kind}"]),
        "adapter": f"from_{kind}",
        "fastid": "",
        "fastenv": written.expression,
        "fastpart": begun.part,
        "paths": rows(f'"{path}"' for path in paths),
        "firstobs": _FIRST,
        "clockfield": f' | {{"time": "{clock}"}}' if clock else "",
    }
    methods = [_defined(library.env, method) for method in _METHODS[kind]]
    return Twin(
        kind,
        title,
        "port",
        introspect.versions_of(kind if kind != "functional" else file.partition("/")[0]),
        written.limit,
        bool(paths),
        unmatched,
        clock=bool(clock),
        alike="every episode of both begins with the same observation" if fixed else "",
        asked=asked,
        masked=legal,
        packages=(file.partition("/")[0],) if "/" in file else (),
        places=(methods[0] or f"{file}:{name}", methods[1] or f"{file}:{name}"),
        edit=(file,) if Path(file).is_file() else (),
        values=values,
        conditions={
            "fastimported": bool(written.imports),
            "fastparts": bool(begun.part),
            "traced": True,
            "askedport": asked,
            "fillplace": not paths and not fixed and not asked,
        },
    )


def _actions(kind: str, env: Any, title: str, facts: ReferenceFacts) -> ActionSpace:
    if kind == "pgx":
        return Discrete(int(env.num_actions))
    if kind == "navix":
        return Discrete(int(env.action_space.maximum) + 1)
    if kind == "brax":
        # It has no range of its own: -1 to 1 by custom, in which references seldom act.
        wanted = facts.action
        if isinstance(wanted, Box):
            return Box(wanted.low, wanted.high, (int(env.action_size),), wanted.dtype)
        return Box(-1.0, 1.0, (int(env.action_size),))
    space = env.action_spec if kind == "jumanji" else env.action_space
    space = space() if callable(space) else space
    if hasattr(space, "num_values") and not space.shape:
        return Discrete(int(space.num_values))
    found = spaces.action_of(_Ends(space) if kind == "jumanji" else space, title)
    # Gymnasium's own tables take a whole number in an array of one.
    if kind == "functional" and isinstance(found, Box) and (found.shape, found.low) == ((1,), 0):
        return Discrete(int(found.high) + 1) if np.dtype(found.dtype).kind in "iu" else found
    return found


class _Ends:
    """A jumanji spec with the names of a space."""

    def __init__(self, spec: Any) -> None:
        self.shape, self.dtype = spec.shape, spec.dtype
        self.low, self.high = (
            getattr(spec, "minimum", np.nan),
            getattr(spec, "maximum", np.nan),
        )

    def __str__(self) -> str:
        return f"of shape {list(self.shape)}"


def _begun(library: Library, title: str, action: ActionSpace, facts: ReferenceFacts) -> Begun:
    """Reset the environment; UserError unless one part of its observation is the reference's."""
    import jax

    keys = np.stack([np.array([0, seed], np.uint32) for seed in range(placing.TRIED)])
    inner, seen = jax.jit(library.reset)(keys[0])
    leaves = [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in jax.tree_util.tree_flatten_with_path(seen)[0]
    ]
    fitting = [
        part
        for part, leaf in leaves
        if tuple(np.shape(leaf)) == facts.shape and not part.endswith("action_mask")
    ]
    if len(leaves) > 1 and len(fitting) != 1:
        parts = ", ".join(f"{part.lstrip('.')} {list(np.shape(leaf))}" for part, leaf in leaves)
        raise UserError(
            f"the observations differ: {facts.making.title} has shape {list(facts.shape)}, "
            f"{title} has the parts {parts}; {AGREE}"
        )
    part = fitting[0] if fitting else leaves[0][0]
    leaf = dict(leaves)[part]
    # [] and [1] are one number.
    shape = facts.shape if np.size(leaf) == int(np.prod(facts.shape)) == 1 else np.shape(leaf)
    require_alike(facts, title, action, shape, str(leaf.dtype), library.players)

    def first(key: Any) -> Any:
        _, seen = library.reset(key)
        return at(seen, part)

    firsts = np.asarray(jax.jit(jax.vmap(first))(keys))
    return Begun(keys, inner, seen, part, firsts)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.size(one) == np.size(other) and bool((np.ravel(one) == np.ravel(other)).all())


def _unwrapped(env: Any) -> Any:
    while hasattr(env, "env") and "wrapper" in type(env).__name__.lower():
        env = env.env
    return env


def _home(env: Any) -> tuple[str, str]:
    """Return the file of an environment's class, below its wrappers, and the class's name."""
    kind = type(_unwrapped(env))
    return introspect.path_of(kind.__module__), kind.__qualname__


def _defined(env: Any, method: str) -> str:
    """Return `file:Class.method` where a method of the environment is defined, "" if nowhere."""
    code = inspect.unwrap(getattr(type(_unwrapped(env)), method, None) or (lambda: None))
    name = getattr(code, "__qualname__", "")
    if not name.endswith(f".{method}") or "<locals>" in name:
        return ""
    return f"{introspect.path_of(code.__module__)}:{name}"
