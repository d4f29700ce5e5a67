"""Inspection of two real environments, from which `twinstep init` writes a project.

Both are imported, made and played: a Gymnasium environment as the reference, a gymnax one as
the candidate. Their episodes begin with different generators, so no seed gives both the same
start. If the reference keeps its state in `unwrapped.state`, a start can be placed instead; that
is tried on real resets, never guessed from a name.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import ActionSpace, Box, Discrete
from twinstep.errors import UserError

#: Resets over which the range of the reference's starts is measured.
RESETS = 1000
#: Resets on which placing is tried, and the steps after each.
TRIED, STEPS = 16, 20
#: Tolerance of the candidate's observation of a placed start: it must be the same quantity here;
#: equality is left to the suite.
CLOSE = 1e-5
#: Maximum number of orders of a candidate's fields to try.
ORDERS = 5040


@dataclass(frozen=True)
class Placing:
    """The way to put a start into the reference, and the range of its own starts.

    dtype: of its state. observe: the expression for the observation of `env`. low, high: the
    range of each element over RESETS resets. states, observations: samples of these resets.
    """

    dtype: str
    observe: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    states: np.ndarray
    observations: np.ndarray


@dataclass(frozen=True)
class ReferenceFacts:
    """A Gymnasium environment. horizon: its time limit, 0 for none.

    module: of its class. file: that module's file in its top package's folder, with its sha256.
    versions: distribution -> version. placing: None, with the reason in `unplaceable`, for none.
    """

    id: str
    action: ActionSpace
    shape: tuple[int, ...]
    dtype: str
    horizon: int
    module: str
    file: str
    sha256: str
    versions: dict[str, str]
    placing: Placing | None
    unplaceable: str


@dataclass(frozen=True)
class Fast:
    """A gymnax environment. limit: its time limit.

    ends_apart: whether it separates terminated and truncated (1.0 and later). parts: its state's
    fields in the order of the reference's state; (), with the reason in `unmatched`, if none fit.
    """

    id: str
    version: str
    limit: int
    ends_apart: bool
    parts: tuple[str, ...]
    unmatched: str


def import_package(name: str) -> Any:
    """Import a package the user needs; UserError with the pip command if that fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or name).partition(".")[0]
        if missing == name:
            raise UserError(f"{name} is not installed: pip install {name}") from error
        raise UserError(
            f"{name} needs {missing}, which is missing: pip install {missing}"
        ) from error
    except Exception as error:  # an import may run any code
        raise UserError(
            f"{name} cannot be imported ({_first_line(error)}): "
            f"pip install --force-reinstall {name}"
        ) from error


def reference(id: str) -> ReferenceFacts:
    """Inspect the Gymnasium environment `id`; UserError if it cannot be a reference here."""
    gymnasium = import_package("gymnasium")
    quiet = gymnasium.logger.min_level
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    try:
        env, twin = (_made(gymnasium, "oracle", id) for _ in range(2))
        shape, dtype = _observed(env, id)
        placing = _placing(env, twin, dtype)
        module = type(env.unwrapped).__module__
        file, digest = _source(module)
        facts = ReferenceFacts(
            id,
            _action(env.action_space, f"gymnasium's {id}"),
            shape,
            dtype,
            (env.spec.max_episode_steps if env.spec else 0) or 0,
            module,
            file,
            digest,
            _versions("gymnasium", module.partition(".")[0]),
            placing if isinstance(placing, Placing) else None,
            placing if isinstance(placing, str) else "",
        )
        env.close()
        twin.close()
    finally:
        gymnasium.logger.min_level = quiet
    return facts


def fast(id: str, against: ReferenceFacts) -> Fast:
    """Inspect the gymnax environment `id`; UserError unless its spaces are the reference's."""
    gymnax = import_package("gymnax")
    env, params = _made(gymnax, "candidate", id)
    mine = _action(env.action_space(params), f"gymnax's {id}")
    if mine != against.action:
        raise UserError(
            f"the action spaces differ: gymnasium's {against.id} has {_plain(against.action)}, "
            f"gymnax's {id} has {_plain(mine)}; choose two that agree"
        )
    shape = tuple(env.observation_space(params).shape)
    if shape != against.shape:
        raise UserError(
            f"the observations differ: gymnasium's {against.id} has shape {list(against.shape)}, "
            f"gymnax's {id} has {list(shape)}; choose two that agree"
        )
    parts = _parts(env, params, against.placing) if against.placing else against.unplaceable
    return Fast(
        id,
        version("gymnax"),
        int(params.max_steps_in_episode),
        hasattr(env, "is_truncated"),
        parts if isinstance(parts, tuple) else (),
        parts if isinstance(parts, str) else "",
    )


def _made(package: Any, side: str, id: str) -> Any:
    """Call the package's `make`; UserError with its own words on a wrong id."""
    name = package.__name__
    try:
        return package.make(id, disable_env_checker=True) if side == "oracle" else package.make(id)
    except Exception as error:
        raise UserError(f"--{side} {name}:{id}: {_first_line(error)}") from error


def _action(space: Any, whose: str) -> ActionSpace:
    """Convert an action space of either package to the contract's."""
    if hasattr(space, "n") and not space.shape:
        if getattr(space, "start", 0) != 0:
            raise UserError(f"{whose} counts actions from {space.start}, twinstep from 0: wrap it")
        return Discrete(int(space.n))
    ends = [np.unique(np.asarray(getattr(space, end, np.nan))) for end in ("low", "high")]
    if any(len(values) != 1 or not np.isfinite(values).all() for values in ends):
        raise UserError(
            f"{whose} has the actions {space}: twinstep takes Discrete, and Box with one finite "
            "low and high; wrap it"
        )
    low, high = (float(values[0]) for values in ends)
    return Box(low, high, tuple(space.shape), np.dtype(space.dtype).name)


def _plain(action: ActionSpace) -> str:
    if isinstance(action, Discrete):
        return f"Discrete({action.n})"
    return f"Box({action.low:g}, {action.high:g}, {list(action.shape)}, {action.dtype})"


def _observed(env: Any, id: str) -> tuple[tuple[int, ...], str]:
    """Return the actual shape and dtype of the observations of reset and step."""
    space = env.observation_space
    if not space.shape and not hasattr(space, "n") or space.shape is None:
        raise UserError(
            f"gymnasium's {id} observes {type(space).__name__}, which is not one array: wrap it "
            "(gymnasium.wrappers.FlattenObservation)"
        )
    env.action_space.seed(0)
    seen = [env.reset(seed=0)[0], env.step(env.action_space.sample())[0]]
    kind = np.result_type(*[np.asarray(obs).dtype for obs in seen])
    # A single integer is Python's or NumPy's widest; JAX's is int32.
    return np.asarray(seen[0]).shape, "int32" if kind.kind == "i" and not space.shape else kind.name


def _placing(env: Any, twin: Any, dtype: str) -> Placing | str:
    """Return the way to place a start, or the reason why none exists."""
    states, observations = [], []
    for seed in range(RESETS):
        obs, _ = env.reset(seed=seed)
        state = np.asarray(getattr(env.unwrapped, "state", None))
        if state.ndim != 1 or state.dtype.kind != "f":
            return "the reference's `unwrapped.state` is no row of numbers"
        states.append(state)
        observations.append(np.asarray(obs))
    rows = np.stack(states)
    for observe in ("env._get_obs()", "env._get_ob()", f"np.array(env.state, np.{dtype})"):
        if all(_continues(env, twin, seed, observe) for seed in range(TRIED)):
            low, high = rows.min(0).tolist(), rows.max(0).tolist()
            kind = rows.dtype.name
            tried = np.stack(observations[:TRIED])
            return Placing(kind, observe, tuple(low), tuple(high), rows[:TRIED], tried)
    return "placing the reference's `unwrapped.state` does not give the same episode"


def _continues(env: Any, twin: Any, seed: int, observe: str) -> bool:
    """Return whether the twin, reset to another seed and placed, plays the same episode."""
    rows = []
    for each in (env, twin):
        first, _ = each.reset(seed=seed if each is env else seed + RESETS)
        if each is twin:
            twin.unwrapped.state = np.array(rows[0][1])
            try:
                # The expressions of `_placing`, which the generated bridge contains.
                first = eval(observe, {"env": twin.unwrapped, "np": np})
            except Exception:
                return False
        rows.append([np.asarray(first), np.asarray(each.unwrapped.state)])
        each.action_space.seed(seed)
        for _ in range(STEPS):
            obs, reward, terminated, truncated, _ = each.step(each.action_space.sample())
            rows[-1] += [np.asarray(value) for value in (obs, reward, terminated, truncated)]
            if terminated or truncated:
                break
    ours, theirs = ([(v.dtype.name, v.tobytes()) for v in row] for row in rows)
    return ours == theirs


def _parts(env: Any, params: Any, placing: Placing) -> tuple[str, ...] | str:
    """Return the candidate's fields with the reference's state, or the reason why none have it."""
    import jax

    key = jax.random.PRNGKey(0)
    state: Any = env.reset_env(key, params)[1]
    if not dataclasses.is_dataclass(state) or isinstance(state, type):
        return "gymnax's state is no dataclass"
    values = {f.name: np.asarray(getattr(state, f.name)) for f in dataclasses.fields(state)}
    names = [name for name, value in values.items() if not value.ndim and value.dtype.kind == "f"]

    def shows(order: Iterable[str], row: int) -> bool:
        values = placing.states[row].astype(np.float32)
        filled = dataclasses.replace(state, **dict(zip(order, values, strict=True)))
        obs = env.get_obs(filled, params=params, key=key)
        return np.allclose(np.asarray(obs), placing.observations[row], CLOSE, CLOSE)

    length = placing.states.shape[1]
    for order in itertools.islice(itertools.permutations(names, length), ORDERS):
        if all(shows(order, row) for row in range(len(placing.states))):
            return order
    return "no fields of gymnax's state give the reference's observation of its own starts"


def _source(module: str) -> tuple[str, str]:
    """Return a module's file in its top package's folder, and its sha256."""
    file = Path(str(importlib.import_module(module).__file__))
    top = Path(str(importlib.import_module(module.partition(".")[0]).__file__))
    return file.relative_to(top.parent).as_posix(), sha256(file.read_bytes()).hexdigest()


def _versions(*packages: str) -> dict[str, str]:
    """Return the versions of the distributions of these import packages."""
    by_package = packages_distributions()
    distributions = (by_package[name][0] for name in packages if by_package.get(name))
    return {name: version(name) for name in distributions}


def _first_line(error: BaseException) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().partition("\n")[0]
    return text or type(error).__name__
