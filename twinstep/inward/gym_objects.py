"""Plain Python environments with Gymnasium's interface, as a candidate or as an oracle."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Start, take_lanes
from twinstep.inward._checks import imported
from twinstep.inward._gym_episode import GymEpisode, GymHooks, can_load, require_fit, require_hooks
from twinstep.inward._host import HostCandidate, Rows, stacked


def oracle_from_gym(make: Callable[[], Any] | str, **hooks: Unpack[GymHooks]) -> type[GymEpisode]:
    """Return an oracle's class made of an environment with Gymnasium's interface, one episode.

    make() -> env with `reset(seed=)` and the five values of `step`; or a Gymnasium ID. hooks: see
    `GymHooks`. UserError if `make` returns something else, or Gymnasium is missing.
    """
    return _episodes("oracle_from_gym", make, hooks)


def from_gym(
    make: Callable[[], Any] | str, *, dtype: str = "float64", **hooks: Unpack[GymHooks]
) -> Callable[[Contract], HostCandidate]:
    """Return a candidate's factory made of objects with Gymnasium's interface, one for each lane.

    The object of an episode that has ended is not stepped on. make, hooks: as `oracle_from_gym`
    takes them. dtype: `float32` or `float64`, of the environment's arithmetic.
    """
    kind = _episodes("from_gym", make, hooks)

    def build(contract: Contract) -> HostCandidate:
        require_fit("from_gym", contract, hooks)
        free = [kind(contract)]  # tells now what is wrong with it

        def lanes(count: int) -> _Objects:
            taken = [free.pop() if free else kind(contract) for _ in range(count)]
            return _Objects(taken, free)

        def fresh(seeds: np.ndarray) -> Rows:
            episode = free.pop() if free else kind(contract)
            rows = stacked([episode.fresh(seed) for seed in seeds])
            free.append(episode)
            return rows

        return HostCandidate(
            contract,
            lanes,
            loads=can_load(hooks),
            any_size=True,
            dtype=dtype,
            fresh=fresh if "place" in hooks else None,
        )

    return build


class _Objects:
    """One object per lane; see HostLanes. free: where the objects come from, and go back to."""

    def __init__(self, episodes: list[GymEpisode], free: list[GymEpisode]) -> None:
        self._episodes, self._free = episodes, free

    def reset(self, starts: Start) -> Rows:
        lanes = enumerate(self._episodes)
        return stacked([episode.reset(take_lanes(starts, lane)) for lane, episode in lanes])

    def step(self, actions: np.ndarray, live: np.ndarray) -> Rows:
        return stacked([self._episodes[lane].step(actions[lane]) for lane in live])

    def load(self, fields: Rows) -> None:
        for lane, episode in enumerate(self._episodes):
            episode.load({name: values[lane] for name, values in fields.items()})

    def release(self) -> None:
        self._free.extend(self._episodes)
        self._episodes = []


def _episodes(function: str, make: Any, hooks: GymHooks) -> type[GymEpisode]:
    require_hooks(function, hooks)
    if isinstance(make, str):
        made = gymnasium_made(function, make)
    elif callable(make):
        made = make
    else:
        raise UserError(
            f"{function}: {type(make).__name__} is no factory: write lambda: ..., which returns a "
            "new environment each time"
        )
    members = {"function": function, "make": staticmethod(made), "hooks": hooks}
    return type("GymOracle", (GymEpisode,), members)


def gymnasium_made(function: str, name: str) -> Callable[[], Any]:
    """Return the factory of a Gymnasium ID. UserError if Gymnasium is missing."""

    def make() -> Any:
        gymnasium = imported("gymnasium", function)
        # Its checker doubles a step's time, and warns of steps that are intended here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gymnasium.make(name, disable_env_checker=True)

    return make
