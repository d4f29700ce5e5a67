"""One episode of an object with Gymnasium's interface, behind reset, step and load."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, TypedDict

import numpy as np

from twinstep.chance.draws import Draws
from twinstep.chance.row import DRAWS, Row
from twinstep.contract import Contract, Discrete
from twinstep.errors import UserError
from twinstep.frames import Array, Frame, Start
from twinstep.inward import _paths
from twinstep.inward._checks import required_env, starts_placed

Fields = Mapping[str, str | Callable[[Any], Array]]


class GymHooks(TypedDict, total=False):
    """What a user may tell about one environment with Gymnasium's interface; all optional.

    For a vector environment every array has a leading N.

    place(env, start) -> obs: puts the start's fields into the environment after a reset, and
        returns the observation there. The reset without it is compared in distribution.
    fields: what `Frame.state` shows: for each name a path in the environment's object as
        `unwrapped.state[0]`, or a function of the object; or one function from the object to all,
        by name. Where all are paths, there is a `load`.
    load(env, fields): puts `Frame.state` fields into the environment after a reset, where the
        paths alone do not.
    seed(start) -> int: the seed of `env.reset`. Default: the start's 64 bits, low word first. A
        start of the environment's own has no fields.
    observation(obs) -> array: what is compared of the observation. Default: all of it.
    legal(env) -> bool[A]: the action mask. Default: `action_mask` of `info`.
    act(action[...]) -> action: the environment's own form of one player's action. Default: an
        integer, or the array in the shape of `env.action_space`.
    chance: the contract's row of words, from which a single environment draws; see
        `twinstep.chance`. It is then reset without a seed.
    sites: place in the source -> name in the row, for a row with names.
    install(env, draws): puts stand-ins for the environment's generators in, before each reset.
        Default: `env.unwrapped.np_random = draws.generator()`.
    """

    place: Callable[[Any, Start], Any]
    fields: Fields | Callable[[Any], dict[str, Array]]
    load: Callable[[Any, dict[str, Array]], None]
    seed: Callable[[Start], Any]
    observation: Callable[[Any], Array]
    legal: Callable[[Any], Array]
    act: Callable[[Array], Any]
    chance: Row
    sites: Mapping[str, str]
    install: Callable[[Any, Draws], None]


#: The hooks of environments that draw from the row of their step, one by one.
CHANCE = ("chance", "sites", "install")


def require_hooks(function: str, hooks: GymHooks, known: tuple[str, ...] = ()) -> None:
    """UserError for a hook that there is not."""
    names = known or tuple(GymHooks.__annotations__)
    for hook in hooks:
        if hook not in names:
            raise UserError(f"{function} has no argument '{hook}' (it has {', '.join(names)})")


def require_fit(function: str, contract: Contract, hooks: GymHooks) -> None:
    """UserError where the contract asks for what these hooks do not give."""
    if contract.players != 1:
        raise UserError(
            f"{function}: the contract has {contract.players} players, Gymnasium's interface one"
        )
    starts_placed(function, contract, hooks, "seed", "place=lambda env, start: ...")


def can_load(hooks: GymHooks) -> bool:
    """Return whether these hooks put a state into an environment."""
    return "load" in hooks or bool(_paths.settable(hooks.get("fields")))


def seeded(function: str, env: Any, seed: Any, smaller: str) -> Any:
    """Return what `reset(seed=)` does. UserError, with the mend, if it takes no seed of 64 bits.

    smaller: the seeds of `start` to write instead, in Python.
    """
    try:
        return env.reset(seed=seed)
    except (OverflowError, ValueError) as error:
        values = seed if isinstance(seed, list) else [seed]
        if not any(isinstance(value, int) and value >= 2**31 for value in values):
            raise
        raise UserError(
            f"{function}: reset refuses a seed of 64 bits ({error}): write "
            f"seed=lambda start: {smaller}"
        ) from error


def whole_seed(start: Start) -> int:
    """Return the 64 bits of a start's seed as one number, low word first."""
    low, high = (int(word) for word in np.asarray(start.seed))
    return low + (high << 32)


def shown(env: Any, hooks: GymHooks) -> dict[str, Any]:
    """Return the fields of `Frame.state`, as the environment holds them."""
    fields = hooks.get("fields", {})
    if not isinstance(fields, Mapping):
        return dict(fields(env))
    return {
        name: _paths.read(env, how) if isinstance(how, str) else how(env)
        for name, how in fields.items()
    }


def loaded(env: Any, fields: dict[str, Array], hooks: GymHooks) -> None:
    """Put `Frame.state` fields into an environment that was reset."""
    if "load" in hooks:
        hooks["load"](env, fields)
        return
    for name, path in _paths.settable(hooks.get("fields")).items():
        _paths.assign(env, path, fields[name])


class Converter:
    """Put what an environment returns into the contract's dtypes."""

    def __init__(self, function: str, contract: Contract, hooks: GymHooks) -> None:
        self._function, self._contract, self._hooks = function, contract, hooks
        self._dtypes = {field.name: np.dtype(field.dtype) for field in contract.state}

    def observation(self, obs: Any) -> np.ndarray:
        """Return the part of an observation that is compared."""
        if "observation" in self._hooks:
            obs = self._hooks["observation"](obs)
        if isinstance(obs, Mapping):
            raise UserError(
                f"{self._function}: the observation has parts ({', '.join(map(str, obs))}): say "
                "which are compared, observation=lambda obs: ..."
            )
        return self.held("obs", obs, np.dtype(self._contract.observation.dtype))

    def state(self, env: Any) -> dict[str, np.ndarray]:
        """Return the fields of `Frame.state`."""
        return {
            name: self.held(name, value, self._dtypes.get(name, np.asarray(value).dtype))
            for name, value in shown(env, self._hooks).items()
        }

    def legal(self, env: Any, info: Mapping[str, Any]) -> np.ndarray | None:
        """Return the action mask [A]; None where the contract has none."""
        if not self._contract.masked:
            return None
        legal = self._hooks["legal"](env) if "legal" in self._hooks else info.get("action_mask")
        if legal is None:
            raise UserError(
                f"{self._function}: the contract is masked and `info` has no action_mask: add "
                "legal=lambda env: ..."
            )
        return np.array(legal, bool)

    def held(self, name: str, value: Any, dtype: np.dtype) -> np.ndarray:
        """Return a value in the contract's dtype; UserError if that would lose fractions."""
        value = np.asarray(value)
        if value.dtype.kind == "f" and dtype.kind != "f":
            raise UserError(
                f"{self._function}: `{name}` is {value.dtype}, the contract says {dtype}: the "
                "fractions would be lost"
            )
        return value.astype(dtype)


def _number(value: Any) -> bool:
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"


class GymEpisode:
    """An oracle over one object with Gymnasium's interface; see twinstep.Oracle.

    env: the object. `load` and `explain` are there where the hooks can put a state, `fresh` where
    they place starts. UserError if the object has no reset or step, or if the hooks do not fit it
    or the contract. Subclass it to add `events`.
    """

    function: str
    make: Any  # () -> an environment
    hooks: GymHooks

    def __init__(self, contract: Contract) -> None:
        require_fit(self.function, contract, self.hooks)
        self.env = env = type(self).make()
        required_env(self.function, env)
        self.contract = contract
        self._converter = Converter(self.function, contract, self.hooks)
        row = self.hooks.get("chance")
        self._draws = None if row is None else Draws(row, self.hooks.get("sites"))
        if can_load(self.hooks):
            self.load = self._load
            self.explain = self._explain
        # An environment with a generator of its own kind may keep the stand-in for it.
        if "place" in self.hooks or self._draws and "install" not in self.hooks:
            self.fresh = self._fresh
        self._unplaced: GymEpisode | None = None

    def reset(self, start: Start) -> Frame:
        """Begin the episode of a start."""
        return self._begun(start)

    def _begun(self, start: Start, placed: bool = True) -> Frame:
        hooks = self.hooks
        if self._draws:
            self._draws.put(start.fields[DRAWS] if placed else 0)
        seed = hooks["seed"](start) if "seed" in hooks else whole_seed(start)
        obs, info = self._reset(seed, drawing=placed)
        if placed and "place" in hooks:
            obs = hooks["place"](self.env, start)
            if obs is None:
                raise UserError(f"{self.function}: place returned None, not the observation there")
        return self._frame(obs, 0.0, False, False, info)

    def step(self, action: Array) -> Frame:
        """Apply an action [1, ...]."""
        with self._draws or nullcontext():
            answer = self.env.step(self._acted(np.asarray(action)[0]))
        if not isinstance(answer, tuple) or len(answer) != 5:
            many = f"{len(answer)} values" if isinstance(answer, tuple) else "no tuple"
            raise UserError(
                f"{self.function}: step returned {many}, not obs, reward, terminated, truncated, "
                "info: wrap an environment of the old interface"
            )
        return self._frame(*answer)

    def _fresh(self, seed: np.ndarray) -> Frame:
        """Begin an episode of the environment's own, in an object into which nothing was put.

        A reset may keep what `place` has put there, as bsuite's Deep Sea keeps its mapping.
        """
        if self._unplaced is None:
            self._unplaced = type(self)(self.contract)
        return self._unplaced._begun(Start(seed), placed=False)

    def close(self) -> None:
        """Free the environment."""
        if self._unplaced is not None:
            self._unplaced.close()
        if callable(close := getattr(self.env, "close", None)):
            close()

    def _load(self, state: dict[str, Array]) -> None:
        # From a reset with one seed: what the fields leave open is the same in every load.
        if self._draws:
            self._draws.put(0)
        self._reset(0)
        loaded(self.env, state, self.hooks)
        if self._draws:
            self._draws.put(state[DRAWS])

    def _explain(self, state: dict[str, Array], action: Array) -> str:
        """Return the numbers in `info` after one step, a line each: reward terms, often."""
        self._load(state)
        with self._draws or nullcontext():
            *_, info = self.env.step(self._acted(np.asarray(action)[0]))
        return "\n".join(
            f"{name} = {float(info[name]):.9g}" for name in info if _number(info[name])
        )

    def _reset(self, seed: int, drawing: bool = True) -> tuple[Any, Any]:
        if self._draws is None or not drawing:
            answer = seeded(self.function, self.env, seed, "int(start.seed[0]) >> 1")
        else:
            self.hooks.get("install", _install)(self.env, self._draws)
            with self._draws:
                answer = self.env.reset()  # a seed would make a new generator
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise UserError(
                f"{self.function}: reset did not return obs and info: wrap an environment of the "
                "old interface"
            )
        return answer

    def _acted(self, action: np.ndarray) -> Any:
        if "act" in self.hooks:
            return self.hooks["act"](action)
        if isinstance(self.contract.action, Discrete):
            return int(action)
        shape = getattr(getattr(self.env, "action_space", None), "shape", None)
        fits = shape is not None and action.size == np.prod(shape, dtype=int)
        return action.reshape(shape) if fits else action

    def _frame(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Frame:
        legal = self._converter.legal(self.env, info)
        return Frame(
            obs=self._converter.observation(obs)[None],
            reward=np.asarray(reward, self.contract.reward_dtype).reshape(1),
            terminated=np.bool_(terminated),
            truncated=np.bool_(truncated),
            acting=np.ones(1, bool),
            legal=None if legal is None else legal[None],
            state=self._converter.state(self.env) | (self._draws.state() if self._draws else {}),
        )


def _install(env: Any, draws: Draws) -> None:
    env.unwrapped.np_random = draws.generator()
