"""Ways to put a Gymnasium environment into a given state, tried on its real episodes.

A way is never guessed from a name: the environment, reset to another seed and placed, must play
the same episode to the last bit. That is asked of starts, and of states in the middle of episodes.
The code that is tried here is the code that the generated bridge contains.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from twinstep.inward import _paths
from twinstep.scaffold import attributes, element_names, reach

#: Resets over which the range of the reference's starts is measured.
RESETS = 1000
#: Resets on which placing is tried, and the steps after each.
TRIED, STEPS = 16, 20
#: Steps before a state in the middle of an episode is handed over; fewer where episodes are short.
BEFORE = 13
#: States drawn element by element, to see whether all of them are possible.
DRAWN = 256
#: Most elements of a state: beyond, it is an array with a meaning of its own.
MOST = 100


@dataclass(frozen=True)
class Way:
    """Code that reads and writes a state. `env` is the unwrapped environment, `values` a row.

    read: the expression of the row, in the dtype that it has after a step; first: in the dtype that
    it has at a reset, of which a cast may leave less. start, resume: statements that put a row of a
    start, and one of a later step, into it. names: of the row's elements, where there are any.
    observe: an expression of the observation, where this way knows one. seen: names of the
    observation's elements. free: whether elements may
    take values independently of each other, None to try it.
    """

    read: str
    first: str
    start: str
    resume: str
    names: tuple[str, ...] = ()
    observe: str = ""
    seen: tuple[str, ...] = ()
    free: bool | None = True


@dataclass(frozen=True)
class Placing:
    """The way to place a start into the reference, and what its states are.

    observe: the expression for the observation of `env`. dtype: of the state after a step.
    names: of its elements, () if none are documented. starts, played: their ranges over RESETS
    resets and in play. exact: whether a state in the middle of an episode continues to the last
    bit. shown: whether the observation is the state. free: whether states whose elements are drawn
    one by one are possible. states, observations: samples of resets and of play, which tells
    elements apart that all episodes begin with alike. drawn: whether starts may be drawn element by
    element. read_off: the expression of a start, of the flat first observation `obs`; "" where it
    is not to be seen there.
    """

    way: Way
    observe: str
    dtype: str
    names: tuple[str, ...]
    starts: tuple[reach.Range, ...]
    played: tuple[reach.Range, ...]
    exact: bool
    shown: bool
    free: bool
    states: np.ndarray
    observations: np.ndarray
    drawn: bool
    read_off: str


def find(env: Any, twin: Any, dtype: str, clocked: bool) -> Placing | str:
    """Return the way to place a start, or the reason why none exists.

    env, twin: the same environment twice. dtype: of its observations. clocked: whether a wrapper
    truncates its episodes.
    """
    found = way_of(env, twin, dtype, clocked)
    return found if isinstance(found, str) else _measured(env, twin, *found, clocked)


def way_of(env: Any, twin: Any, dtype: str, clocked: bool) -> tuple[Way, str] | str:
    """Return the way that places a start and the observation's expression, or why none does."""
    whole = "`unwrapped.state`" if hasattr(env, "unwrapped") else "`state`"
    has = getattr(env, "unwrapped", env)
    lack = "is no row of numbers" if hasattr(has, "state") else "does not exist"
    why = f"the reference's {whole} {lack}, and no attributes are its state"
    calls = ["env._get_obs()", "env._get_ob()"]
    calls += [call for call in attributes.methods_that_observe(env) if call not in calls]
    for kind in (_attribute, _mujoco, _attributes):
        for way in kind(env):
            what = "attributes" if kind is _attributes else whole
            why = f"placing the reference's {what} does not give the same episode"
            state = [] if kind is _attributes else [f"np.array(env.state, np.{dtype})"]
            for observe in filter(None, [way.observe, *calls, *state]):
                if all(
                    _continues(env, twin, seed, way, observe, 0, clocked) for seed in range(TRIED)
                ):
                    return way, observe
    return why


def _attribute(env: Any) -> list[Way]:
    """Return the way through `unwrapped.state`, in the dtypes that it has at reset and later."""
    kinds = []
    for step in (False, True):
        env.reset(seed=0)
        if step:
            env.action_space.seed(0)
            env.step(env.action_space.sample())
        state = np.asarray(getattr(_paths.innermost(env), "state", None))
        if state.ndim != 1 or state.dtype.kind != "f" or not 0 < len(state) <= MOST:
            return []
        kinds.append(state.dtype.name)
    start, later = (f"env.state = np.array(values, np.{kind})" for kind in kinds)
    first, read = (f"np.array(env.state, np.{kind})" for kind in kinds)
    return [Way(read, first, start, later)]


def _mujoco(env: Any) -> list[Way]:
    """Return the way through MuJoCo's positions and velocities."""
    inner = _paths.innermost(env)
    if not callable(getattr(inner, "set_state", None)) or not hasattr(inner, "data"):
        return []
    model = getattr(inner, "model", None)
    if model is None or not 0 < model.nq + model.nv <= MOST:
        return []
    put = f"env.set_state(values[:{model.nq}], values[{model.nq}:])"
    names = [f"qpos_{n}" for n in range(model.nq)] + [f"qvel_{n}" for n in range(model.nv)]
    read = "env.state_vector()"
    # Joints and velocities are not free of each other.
    return [Way(read, read, put, put, tuple(names), free=False)]


def _attributes(env: Any) -> list[Way]:
    """Return the way through all attributes that hold numbers and change in play."""
    played = attributes.play(env, MOST)
    if played is None:
        return []
    few = played.changing()
    kinds = [few] * bool(few.attributes) + [played] * (few.attributes != played.attributes)
    return [_through(each) for each in kinds]


def _through(played: attributes.Played) -> Way:
    """Return the way through attributes."""
    parts, puts, at = [], [], 0
    for each in played.attributes:
        parts.append(f"*np.ravel(env.{each.name})" if each.shape else f"env.{each.name}")
        puts.append(each.put(at))
        at += each.size
    read, put = f"np.array([{', '.join(parts)}], np.float64)", "\n".join(puts)
    observe, seen = played.observed()
    return Way(read, read, put, put, played.names(), observe, seen, None)


def _continues(
    env: Any, twin: Any, seed: int, way: Way, observe: str, before: int, clocked: bool
) -> bool:
    """Return whether the twin, reset to another seed and placed, plays the same episode.

    before: steps that `env` plays first; an episode that ends by then counts as continued.
    """
    obs, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(before):
        obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            return True
    twin.reset(seed=seed + RESETS)
    try:
        values = row_of(env, way.read if before else way.first)
        place(twin, way, values, later=before > 0)
        seen = observation(twin, observe)
    except Exception:  # not this environment's way
        return False
    rows = [[np.asarray(obs)], [np.asarray(seen)]]
    for _ in range(STEPS):
        action = env.action_space.sample()
        ended = False
        for each, row in zip((env, twin), rows, strict=True):
            obs, reward, terminated, truncated, _ = each.step(action)
            row += [np.asarray(value) for value in (obs, reward, terminated)]
            row.append(row_of(each, way.read))
            # A wrapper's clock is no part of the row.
            row.append(np.asarray(truncated and not clocked))
            ended = ended or terminated or truncated
        if ended:
            break
    # The state's own dtype may differ at first: a start is placed in that of a reset.
    ours, theirs = ([(v.dtype.name, v.tobytes()) for v in row] for row in rows)
    return ours == theirs


@functools.cache
def _code(text: str, mode: str) -> CodeType:
    return compile(text, "<placing>", mode)


def row_of(env: Any, read: str) -> np.ndarray:
    """Return the row of an environment's state."""
    return np.array(eval(_code(read, "eval"), {"env": _paths.innermost(env), "np": np}))


def place(env: Any, way: Way, values: np.ndarray, later: bool) -> None:
    """Put a row into an environment that was reset; later: it is of a step after the start."""
    scope = {"env": _paths.innermost(env), "np": np, "values": values}
    exec(_code(way.resume if later else way.start, "exec"), scope)


def observation(env: Any, observe: str) -> np.ndarray:
    """Return the observation of a placed environment."""
    return np.asarray(eval(_code(observe, "eval"), {"env": _paths.innermost(env), "np": np}))


def _measured(env: Any, twin: Any, way: Way, observe: str, clocked: bool) -> Placing:
    """Return the placing with the ranges of starts and of play."""
    resets, observations = [], []
    for seed in range(RESETS):
        observations.append(np.asarray(env.reset(seed=seed)[0]))
        resets.append(row_of(env, way.read))
    starts = np.stack(resets)
    tried, seen = starts[:TRIED], np.stack(observations[:TRIED])
    shown = tried.astype(seen.dtype)
    same = shown.shape == seen.shape and bool((shown == seen).all())
    played = reach.play(env, lambda: row_of(env, way.read))
    rows = np.concatenate([starts, *played])
    ranges = [reach.range_of(column) for column in rows.T]
    if same:
        ranges = reach.declared(twin, ranges, lambda row: place(twin, way, row, later=True))
    some = np.concatenate(played)
    some = some[:: max(1, len(some) // TRIED)][:TRIED]
    before = min(BEFORE, max(1, min(map(len, played)) // 2))
    begun = tuple(reach.range_of(column) for column in starts.T)
    exact = all(_continues(env, twin, seed, way, observe, before, clocked) for seed in range(TRIED))
    return Placing(
        way,
        observe,
        rows.dtype.name,
        way.names or element_names.of_state(type(_paths.innermost(env)).__module__),
        begun,
        tuple(ranges),
        exact,
        same,
        _free(twin, way, ranges, True) if way.free is None else way.free,
        np.concatenate([tried, some]),
        np.concatenate([seen, _observed(twin, way, observe, some)]),
        way.free is not None or _free(twin, way, begun, False),
        _read_off(starts, np.stack(observations)),
    )


def _read_off(starts: np.ndarray, observations: np.ndarray) -> str:
    """Return how a start is read off the first observation, "" for not at all."""
    flat = observations.reshape(len(observations), -1)
    parts = []
    for column in starts.T:
        places = np.flatnonzero((flat == column[:, None].astype(flat.dtype)).all(0))
        if (column == column[0]).all():
            parts.append(repr(float(column[0])))
        elif len(places):
            parts.append(f"obs[{places[0]}]")
        else:
            return ""
    seen = flat.shape[1]
    if parts[:seen] == [f"obs[{n}]" for n in range(seen)]:
        rest = ", ".join(parts[seen:])
        return f"np.array([*obs, {rest}], np.float32)" if rest else "obs.astype(np.float32)"
    return f"np.array([{', '.join(parts)}], np.float32)"


def _observed(env: Any, way: Way, observe: str, rows: np.ndarray) -> np.ndarray:
    """Return the observations of rows of a state."""
    seen = []
    for row in rows:
        env.reset(seed=0)
        place(env, way, row, later=True)
        seen.append(observation(env, observe))
    return np.stack(seen)


def _free(env: Any, way: Way, ranges: Sequence[reach.Range], later: bool) -> bool:
    """Return whether the environment steps from states whose elements are drawn one by one."""
    rng = np.random.default_rng(0)
    env.action_space.seed(0)
    for seed in range(DRAWN):
        try:
            env.reset(seed=seed)
            place(env, way, np.array([reach.drawn(each, rng) for each in ranges]), later)
            obs, reward, *_ = env.step(env.action_space.sample())
        except Exception:  # a state that there cannot be
            return False
        if not np.isfinite(np.asarray(obs, np.float64)).all() or not np.isfinite(reward):
            return False
    return True
