"""Inspection of a real environment with Gymnasium's interface, the reference of a project.

It is made and played. Its episodes and a candidate's begin with different generators, so no seed
gives both the same start. Where the reference can be put into a state, a start can be placed
instead: see `placing`.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import ActionSpace, Discrete
from twinstep.errors import UserError
from twinstep.inward import _paths
from twinstep.scaffold import placing, spaces
from twinstep.scaffold.making import Making, first_line
from twinstep.scaffold.placing import Placing

#: Episodes that show whether an object truncates by itself, and steps of each.
EPISODES, STEPS = 8, 2000


@dataclass(frozen=True)
class ReferenceFacts:
    """An environment with Gymnasium's interface. horizon: its time limit, 0 for none.

    clock: whether a wrapper counts the steps towards it. masked: whether its `info` has an
    action_mask. module: of its class. file: that module's file in its top package's folder, with
    its sha256. versions: distribution -> version. first: the observations of its resets with the
    seeds 0, 1, .... fixed: whether no seed changes anything.
    inner: the expression of the object below its wrappers, `env`.
    placing: None, with the reason in `unplaceable`, for none. players: who act in it. ends: whether
    an episode has ended, in random play or by a time limit. wide: whether seeds may have 64 bits.
    """

    making: Making
    title: str
    action: ActionSpace
    shape: tuple[int, ...]
    dtype: str
    horizon: int
    clock: bool
    masked: bool
    module: str
    file: str
    sha256: str
    versions: dict[str, str]
    first: np.ndarray
    fixed: bool
    inner: str
    placing: Placing | None
    unplaceable: str
    players: int = 1
    ends: bool = True
    wide: bool = True


def reference(making: Making) -> ReferenceFacts:
    """Inspect the environment of `making`; UserError if it cannot be a reference here."""
    with _quiet(making):
        env, twin = (made(making) for _ in range(2))
        shape, dtype = spaces.observed(env, making.title)
        action = spaces.action_of(env.action_space, making.title)
        limit = time_limit(env)
        longest, ended = (limit, True) if limit else _ends(twin)
        placed = placing.find(env, twin, dtype, bool(limit))
        module = type(_paths.innermost(env)).__module__
        file, digest = source_of(module)
        # The space's library, too, on which an own class depends.
        versions = versions_of(*making.imports, module, type(env.action_space).__module__)
        facts = ReferenceFacts(
            making,
            title_of(making, versions),
            spaces.accepted_beyond(twin, action),
            shape,
            dtype,
            longest,
            bool(limit),
            isinstance(action, Discrete) and masks(env),
            module,
            file,
            digest,
            versions,
            first_observations(env),
            _is_fixed(env),
            "env.unwrapped" if hasattr(env, "unwrapped") else "env",
            placed if isinstance(placed, Placing) else None,
            _why_not(placed),
            ends=ended,
            wide=_takes_wide_seeds(twin),
        )
        for each in (env, twin):
            close(each)
    return facts


def _why_not(placed: Placing | str) -> str:
    """Return why starts cannot be drawn and placed, "" if they can."""
    if isinstance(placed, str):
        return placed
    return "" if placed.drawn else "its starts cannot be drawn element by element"


def made(making: Making) -> Any:
    """Return an environment that has what Gymnasium's interface asks for, or raise UserError."""
    env, who = making(), f"--{making.side} {making.given}"
    missing = [name for name in ("reset", "step") if not callable(getattr(env, name, None))]
    if missing:
        raise UserError(
            f"{who}: a {type(env).__name__} has no `{'`, `'.join(missing)}`: give a class or "
            "factory of an environment with Gymnasium's interface"
        )
    space: Any = getattr(env, "action_space", None)
    if not callable(getattr(space, "sample", None)) or not callable(getattr(space, "seed", None)):
        raise UserError(
            f"{who}: {type(env).__name__} has no action_space of gymnasium.spaces: give it one"
        )
    answer = _tried(who, "reset(seed=0)", lambda: env.reset(seed=0))
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise UserError(f"{who}: reset returns no (obs, info): wrap an environment of the old kind")
    space.seed(0)
    answer = _tried(who, "step", lambda: env.step(space.sample()))
    if not isinstance(answer, tuple) or len(answer) != 5:
        raise UserError(
            f"{who}: step returns no (obs, reward, terminated, truncated, info): wrap an "
            "environment of the old kind"
        )
    return env


def _tried(who: str, what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # the environment's own
        words = f"{type(error).__name__}: {first_line(error)}"
        raise UserError(f"{who}: {what} raises {words}") from error


def time_limit(env: Any) -> int:
    """Return the steps after which a wrapper truncates an episode, 0 for never."""
    spec = getattr(env, "spec", None)
    with contextlib.suppress(AttributeError):
        env.get_wrapper_attr("_elapsed_steps")
        return getattr(spec, "max_episode_steps", None) or env.get_wrapper_attr(
            "_max_episode_steps"
        )
    return 0


def masks(env: Any) -> bool:
    """Return whether an environment tells which actions are legal."""
    return "action_mask" in env.reset(seed=0)[1]


def first_observations(env: Any) -> np.ndarray:
    """Return the observations of the resets with the seeds 0, 1, ...."""
    return np.stack([np.asarray(env.reset(seed=seed)[0]) for seed in range(placing.TRIED)])


def _is_fixed(env: Any) -> bool:
    """Return whether equal actions give equal episodes, whatever the seed."""
    episodes = []
    for seed in range(placing.TRIED):
        env.action_space.seed(0)
        seen = [np.asarray(env.reset(seed=seed)[0])]
        for _ in range(placing.STEPS):
            obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
            seen.append(np.asarray(obs))
            if terminated or truncated:
                break
        episodes.append([each.tobytes() for each in seen])
    return all(episode == episodes[0] for episode in episodes)


def close(env: Any) -> None:
    """Free an environment that can be."""
    if callable(end := getattr(env, "close", None)):
        end()


def _takes_wide_seeds(env: Any) -> bool:
    """Return whether `reset` takes a seed of 64 bits; NumPy's older generators do not."""
    try:
        env.reset(seed=2**63 - 1)
    except (OverflowError, ValueError):
        return False
    return True


def _ends(env: Any) -> tuple[int, bool]:
    """Return the most steps of an episode that an object truncates by itself, 0 for none seen.

    And whether any episode of random play has ended.
    """
    longest, ended = 0, False
    for seed in range(EPISODES):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        for step in range(1, STEPS + 1):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if truncated:
                longest = max(longest, step)
            if terminated or truncated:
                ended = True
                break
    return longest, ended


def title_of(making: Making, versions: dict[str, str]) -> str:
    """Return what a reference is, with the versions of its packages."""
    name = making.given.removeprefix("gymnasium:").removeprefix("pettingzoo:")
    packages = " and ".join(f"{k.capitalize()} {v}" for k, v in versions.items())
    return f"{packages} {name}".strip()


@contextlib.contextmanager
def _quiet(making: Making) -> Iterator[None]:
    """Let Gymnasium warn of nothing meanwhile, where it makes the environment."""
    if "gymnasium" not in making.imports:
        yield
        return
    logger = importlib.import_module("gymnasium").logger
    level, logger.min_level = logger.min_level, logger.ERROR
    try:
        yield
    finally:
        logger.min_level = level


def source_of(module: str) -> tuple[str, str]:
    """Return a module's file in its top package's folder, and its sha256."""
    file = Path(str(importlib.import_module(module).__file__))
    top = Path(str(importlib.import_module(module.partition(".")[0]).__file__))
    return file.relative_to(top.parent).as_posix(), sha256(file.read_bytes()).hexdigest()


def path_of(module: str) -> str:
    """Return a module's file from the folder that its top package lies in, as reports name it."""
    top = importlib.import_module(module.partition(".")[0])
    file, _ = source_of(module)
    return f"{top.__name__}/{file}" if hasattr(top, "__path__") else file


def versions_of(*modules: str) -> dict[str, str]:
    """Return the versions of the distributions of these modules."""
    by_package = packages_distributions()
    packages = dict.fromkeys(module.partition(".")[0] for module in modules)
    distributions = (by_package[name][0] for name in packages if by_package.get(name))
    return {name: version(name) for name in distributions}
