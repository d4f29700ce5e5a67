"""Gymnasium's vector environments as a candidate, whatever their auto-reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from twinstep.contract import Contract, Discrete
from twinstep.errors import UserError
from twinstep.frames import Start, take_lanes
from twinstep.inward._checks import required_env
from twinstep.inward._gym_episode import (
    CHANCE,
    Converter,
    GymHooks,
    can_load,
    loaded,
    require_fit,
    require_hooks,
    seeded,
    whole_seed,
)
from twinstep.inward._host import HostCandidate, Rows

#: Vector environments of different sizes that are kept for the next batch.
_KEPT = 4
#: Lanes that begin episodes of their own at once.
_FRESH = 32


def from_vector(
    make: Callable[[int], Any], *, dtype: str = "float64", **hooks: Unpack[GymHooks]
) -> Callable[[Contract], HostCandidate]:
    """Return a candidate's factory made of a Gymnasium vector environment.

    make(n) -> vector environment of n lanes, with any `autoreset_mode`: the last frame of an
    episode is held, and what the library begins in its lane is not read. With same-step auto-reset
    it shows neither state nor mask of that frame: `fields` and masked contracts are refused.
    hooks: those of `GymHooks` without chance; their `env` is the vector environment, starts and
    arrays have a leading N, and `seed(starts)` returns what `reset` takes, by default a list.
    dtype: of the environment's arithmetic.
    UserError if `make` returns something else.
    """
    require_hooks(
        "from_vector", hooks, tuple(n for n in GymHooks.__annotations__ if n not in CHANCE)
    )

    def build(contract: Contract) -> HostCandidate:
        require_fit("from_vector", contract, hooks)
        free: list[VectorLanes] = [VectorLanes("from_vector", contract, make(1), 1, hooks)]

        def lanes(count: int) -> VectorLanes:
            for place, kept in enumerate(free):
                if kept.count == count:
                    return free.pop(place)
            made = VectorLanes("from_vector", contract, make(count), count, hooks)
            made.release_to(free)
            return made

        def fresh(seeds: np.ndarray) -> Rows:
            # Nothing was put into these lanes: a reset may keep what `place` has put there.
            some = VectorLanes("from_vector", contract, make(_FRESH), _FRESH, hooks)
            parts = []
            for begin in range(0, len(seeds), _FRESH):
                few = np.resize(seeds[begin : begin + _FRESH], (_FRESH, 2))
                parts.append(some.reset(Start(few), placed=False))
            some.close()
            return {p: np.concatenate([row[p] for row in parts])[: len(seeds)] for p in parts[0]}

        free[0].release_to(free)
        return HostCandidate(
            contract,
            lanes,
            loads=can_load(hooks),
            any_size=False,
            dtype=dtype,
            fresh=fresh if "place" in hooks else None,
        )

    return build


class VectorLanes:
    """The lanes of one vector environment; see HostLanes."""

    def __init__(
        self, function: str, contract: Contract, envs: Any, count: int, hooks: GymHooks
    ) -> None:
        required_env(function, envs)
        self._lanes = getattr(envs, "num_envs", None)
        if self._lanes != count:
            raise UserError(
                f"{function}: make({count}) returned a {type(envs).__name__} of {self._lanes} "
                f"lanes: it must return a vector environment of {count}"
            )
        self.count, self._envs, self._hooks = count, envs, hooks
        self._function, self._contract = function, contract
        self._converter = Converter(function, contract, hooks)
        self._free: list[VectorLanes] | None = None
        mode = getattr(envs, "metadata", {}).get("autoreset_mode")
        self._mode = str(getattr(mode, "name", mode)).upper()
        if self._mode == "SAME_STEP" and ("fields" in hooks or contract.masked):
            raise UserError(
                f"{function}: with same-step auto-reset the state and the mask of an episode's "
                "last frame are gone: use AutoresetMode.DISABLED, or leave `fields` out"
            )

    def release_to(self, free: list[VectorLanes]) -> None:
        """Be kept in this list when nobody uses the lanes any more."""
        self._free = free

    def reset(self, starts: Start, placed: bool = True) -> Rows:
        """Begin one episode per lane; where the library puts it, if not `placed`."""
        envs, hooks = self._envs, self._hooks
        obs, info = self._reset(starts)
        if placed and "place" in hooks:
            obs = hooks["place"](envs, starts)
        none = np.zeros(self.count)
        no = none.astype(bool)
        return self._rows(obs, none, no, no.copy(), info)

    def step(self, actions: np.ndarray, live: np.ndarray) -> Rows:
        """Apply actions [N, 1, ...] to all lanes; return the rows of the live ones."""
        obs, reward, terminated, truncated, info = self._envs.step(self._acted(actions[:, 0]))
        ended = np.asarray(terminated) | np.asarray(truncated)
        if self._mode == "SAME_STEP" and ended.any():
            obs = self._final(obs, info, ended)
        rows = self._rows(obs, reward, terminated, truncated, info)
        if self._mode == "DISABLED" and ended.any():
            # It refuses to step a lane that has ended.
            self._envs.reset(options={"reset_mask": ended})
        return {path: values[live] for path, values in rows.items()}

    def load(self, fields: Rows) -> None:
        """Put states [N, ...] into the lanes."""
        # What the fields leave open is the same in every load.
        nowhere = {f.name: np.zeros((self.count, *f.shape), f.dtype) for f in self._contract.starts}
        starts = Start(np.zeros((self.count, 2), np.uint32), nowhere)
        self._reset(starts)
        loaded(self._envs, fields, self._hooks)

    def _reset(self, starts: Start) -> Any:
        seed = self._hooks.get("seed", self._seeds)(starts)
        return seeded(self._function, self._envs, seed, "(start.seed[:, 0] >> 1).tolist()")

    def _seeds(self, starts: Start) -> Any:
        return [whole_seed(take_lanes(starts, lane)) for lane in range(self.count)]

    def release(self) -> None:
        """Keep the environment for the next batch of this size, or free it."""
        if self._free is None:
            self.close()
            return
        self._free.append(self)
        if len(self._free) > _KEPT:
            self._free.pop(0).close()

    def close(self) -> None:
        """Free the environment."""
        if callable(close := getattr(self._envs, "close", None)):
            close()

    def _acted(self, actions: np.ndarray) -> Any:
        if "act" in self._hooks:
            return self._hooks["act"](actions)
        space = getattr(self._envs, "single_action_space", None)
        if space is None or isinstance(self._contract.action, Discrete):
            return actions
        shape = (self.count, *space.shape)
        return actions.reshape(shape) if actions.size == np.prod(shape, dtype=int) else actions

    def _final(self, obs: Any, info: dict[str, Any], ended: np.ndarray) -> np.ndarray:
        """Return the observations with those that the auto-reset has replaced."""
        if "final_obs" not in info:
            raise UserError(f"{self._function}: `info` has no final_obs, with same-step auto-reset")
        obs = np.array(obs)
        for lane in np.flatnonzero(ended):
            obs[lane] = info["final_obs"][lane]
        return obs

    def _rows(
        self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any]
    ) -> Rows:
        rows = {
            "obs": self._converter.observation(obs)[:, None],
            "reward": np.array(reward, self._contract.reward_dtype)[:, None],
            "terminated": np.array(terminated, bool),
            "truncated": np.array(truncated, bool),
            "acting": np.ones((self.count, 1), bool),
        }
        legal = self._converter.legal(self._envs, info)
        if legal is not None:
            rows["legal"] = legal[:, None]
        state = self._converter.state(self._envs)
        return rows | {f"state.{name}": values for name, values in state.items()}
