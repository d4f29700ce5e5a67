"""EnvPool's environments in C++ as a candidate. They cannot be placed, and have no `load`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.inward._checks import imported
from twinstep.inward._gym_episode import GymHooks, require_fit, require_hooks
from twinstep.inward._host import HostCandidate, Rows
from twinstep.inward.vector import VectorLanes

#: The hooks of an environment that is not a Python object.
_HOOKS = ("seed", "observation", "act")


def from_envpool(
    make: Callable[[int, list[int]], Any] | str,
    *,
    dtype: str = "float64",
    **hooks: Unpack[GymHooks],
) -> Callable[[Contract], HostCandidate]:
    """Return a candidate's factory made of an EnvPool environment.

    make(n, seeds) -> EnvPool with Gymnasium's interface, of n lanes with these seeds i32; or an ID.
    A pool's seeds are those that it was made with, so each batch makes one. EnvPool begins the next
    episode by itself, which is not read. hooks: `seed`, `observation` and `act` of `GymHooks`, with
    a leading N; `seed(starts)` returns a list, by default of each start's words combined by xor.
    Its starts are its own: let `make_start` ask it, where the reference can be placed; then they
    are compared with the reference's in distribution. UserError if EnvPool is missing.
    """
    require_hooks("from_envpool", hooks, _HOOKS)
    made = make if not isinstance(make, str) else _pool_of(make)

    def build(contract: Contract) -> HostCandidate:
        # Its starts are in its seeds, whatever their fields say.
        require_fit("from_envpool", contract, {"seed": _seeds, **hooks})
        first = _Pools(contract, made, 1, hooks)  # tells now what is wrong with it
        first.reset(Start(np.zeros((1, 2), np.uint32)))
        first.release()

        def fresh(seeds: np.ndarray) -> Rows:
            pools = _Pools(contract, made, len(seeds), hooks)
            rows = pools.reset(Start(seeds))
            pools.release()
            return rows

        return HostCandidate(
            contract,
            lambda count: _Pools(contract, made, count, hooks),
            loads=False,
            any_size=False,
            dtype=dtype,
            fresh=fresh if contract.starts else None,
        )

    return build


class _Pools:
    """The lanes of one batch; see HostLanes."""

    def __init__(self, contract: Contract, make: Any, count: int, hooks: GymHooks) -> None:
        self._contract, self._make, self._count, self._hooks = contract, make, count, hooks
        self._lanes: VectorLanes | None = None

    def reset(self, starts: Start) -> Rows:
        seeds = self._hooks.get("seed", _seeds)(starts)
        self.release()
        pool = _Unseeded(self._make(self._count, seeds), self._count)
        self._lanes = VectorLanes("from_envpool", self._contract, pool, self._count, self._hooks)
        return self._lanes.reset(starts)

    def step(self, actions: np.ndarray, live: np.ndarray) -> Rows:
        assert self._lanes is not None
        return self._lanes.step(actions, live)

    def load(self, fields: Rows) -> None:
        raise UserError("from_envpool: an EnvPool cannot be placed in a state")

    def release(self) -> None:
        if self._lanes is not None:
            self._lanes.close()
            self._lanes = None


class _Unseeded:
    """A pool with the arguments of Gymnasium's vector environments."""

    def __init__(self, pool: Any, count: int) -> None:
        self._pool = pool
        self.num_envs = count
        self.single_action_space = pool.action_space

    def reset(self, seed: Any = None) -> tuple[Any, Any]:
        return self._pool.reset()

    def step(self, actions: Any) -> tuple[Any, ...]:
        return self._pool.step(actions)

    def close(self) -> None:
        self._pool.close()


def _seeds(starts: Start) -> Any:
    low, high = np.asarray(starts.seed, np.uint32).T
    return ((low ^ high) & np.uint32(0x7FFFFFFF)).tolist()


def _pool_of(name: str) -> Callable[[int, list[int]], Any]:
    def make(count: int, seeds: list[int]) -> Any:
        envpool = imported("envpool", "from_envpool")
        with warnings.catch_warnings():  # of its own spaces, with each pool
            warnings.simplefilter("ignore")
            return envpool.make_gymnasium(name, num_envs=count, seed=seeds)

    return make
