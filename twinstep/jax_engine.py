"""A pure JAX implementation with auto-reset, batched: what `twinstep.make` compiles.

Everything here can be traced: a trainer's own jit, vmap and scan may contain it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from twinstep.contract import Contract
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.jax_candidate import PureFunctions
from twinstep.timestep import TimeStep, next_seeds, start_of, timestep


class EnvState(NamedTuple):
    """N lanes. inner: the implementation's own state. seed: u32[N, 2], of the running episodes.

    ended: bool[N], whether the last step ended the episode (next-step auto-reset waits on it).
    """

    inner: Any
    seed: Array
    ended: Array


class JaxEngine:
    """Reset, step and rollout of N lanes under one kind of auto-reset.

    rows: what a seed's start is looked up in, see timestep.StartTable; an argument, so that one
    program serves all variants that differ in their starts alone.
    """

    def __init__(self, contract: Contract, pure: PureFunctions, auto_reset: str) -> None:
        self._contract = contract
        self._pure = pure
        self._mode = auto_reset
        self._restarts = contract.reset_mode == "same-step" and pure.restart is not None

    def reset(self, rows: Start | None, seeds: Array) -> tuple[EnvState, TimeStep]:
        """Begin one episode per seed u32[N, 2]."""
        seeds = jnp.asarray(seeds, jnp.uint32)
        inner = jax.vmap(self._pure.reset)(start_of(rows, seeds, jnp))
        frame = jax.vmap(self._pure.frame)(inner)
        ended = jnp.zeros(len(seeds), bool)
        return EnvState(inner, seeds, ended), timestep(self._contract, frame, frame.obs)

    def step(
        self, rows: Start | None, state: EnvState, actions: Array
    ) -> tuple[EnvState, TimeStep]:
        """Apply actions [N, P, ...]."""
        inner = jax.vmap(self._pure.step)(state.inner, actions)
        frame = jax.vmap(self._pure.frame)(inner)
        ended = frame.terminated | frame.truncated
        if self._mode == "off":
            return EnvState(inner, state.seed, ended), timestep(self._contract, frame, frame.obs)
        if self._mode == "same-step":
            return self._same_step(rows, EnvState(inner, state.seed, ended), frame)
        return self._next_step(rows, state, EnvState(inner, state.seed, ended), frame)

    def rollout(
        self, rows: Start | None, state: EnvState, actions: Array
    ) -> tuple[EnvState, TimeStep]:
        """Apply actions [T, N, P, ...]; time steps come with leading [T, N]."""
        return lax.scan(lambda *carried: self.step(rows, *carried), state, actions)

    def frame(self, state: EnvState) -> Frame:
        """Return the present frame, with the inner fields."""
        return jax.vmap(self._pure.frame)(state.inner)

    def load(self, fields: Fields, seed: Array, ended: Array) -> EnvState:
        """Continue from a frame's fields."""
        assert self._pure.load is not None
        return EnvState(jax.vmap(self._pure.load)(dict(fields)), seed, ended)

    def _same_step(
        self, rows: Start | None, state: EnvState, last: Frame
    ) -> tuple[EnvState, TimeStep]:
        state = self._renewed(rows, state, last.terminated, last.truncated)
        frame = jax.vmap(self._pure.frame)(state.inner)._replace(
            reward=last.reward, terminated=last.terminated, truncated=last.truncated
        )
        return state, timestep(self._contract, frame, last.obs)

    def _next_step(
        self, rows: Start | None, before: EnvState, after: EnvState, frame: Frame
    ) -> tuple[EnvState, TimeStep]:
        """Lanes that ended before this step begin anew instead of playing it."""
        last = jax.vmap(self._pure.frame)(before.inner)
        waited = before.ended
        # A lane of a loaded state waits without saying how its episode ended: as terminated.
        terminated = waited & (last.terminated | ~last.truncated)
        begun = self._renewed(rows, before, terminated, last.truncated & waited)
        inner = _choose(waited, begun.inner, after.inner)
        state = EnvState(inner, begun.seed, after.ended & ~waited)
        first = jax.vmap(self._pure.frame)(begun.inner)
        first = first._replace(
            reward=jnp.zeros_like(first.reward),
            terminated=jnp.zeros_like(first.terminated),
            truncated=jnp.zeros_like(first.truncated),
        )
        frame = _choose(waited, first, frame)
        return state, timestep(self._contract, frame, frame.obs)

    def _renewed(
        self, rows: Start | None, state: EnvState, terminated: Array, truncated: Array
    ) -> EnvState:
        """Begin the next episode where one ended: the reference's own way where it has one."""
        inner = state.inner
        fresh: Array = terminated | truncated
        if self._restarts:
            assert self._pure.restart is not None
            inner = _choose(terminated, jax.vmap(self._pure.restart)(inner), inner)
            fresh = truncated & ~terminated
            if not self._contract.truncates:
                return EnvState(inner, state.seed, state.ended)
        seed = jnp.where(fresh[:, None], next_seeds(state.seed), state.seed)
        return EnvState(self._compact_reset(rows, inner, seed, fresh), seed, state.ended)

    def _compact_reset(self, rows: Start | None, inner: Any, seed: Array, which: Array) -> Any:
        """Reset the lanes `which`: none, a few gathered together, or all. A reset may be dear."""
        lanes = len(which)
        few = min(lanes, max(32, lanes // 16))
        count = which.sum()

        def reset(seeds: Array) -> Any:
            return jax.vmap(self._pure.reset)(start_of(rows, seeds, jnp))

        def gathered(inner: Any) -> Any:
            (place,) = jnp.nonzero(which, size=few, fill_value=lanes)
            made = reset(seed[jnp.minimum(place, lanes - 1)])
            return jax.tree.map(lambda old, new: old.at[place].set(new, mode="drop"), inner, made)

        def everywhere(inner: Any) -> Any:
            return _choose(which, reset(seed), inner)

        if few == lanes:
            return lax.cond(count > 0, everywhere, lambda inner: inner, inner)
        branch = (count > 0).astype(jnp.int32) + (count > few).astype(jnp.int32)
        return lax.switch(branch, [lambda inner: inner, gathered, everywhere], inner)


class Compiled(NamedTuple):
    """An engine with its methods jitted."""

    engine: JaxEngine
    reset: Callable[..., Any]
    step: Callable[..., Any]
    rollout: Callable[..., Any]
    frame: Callable[..., Any]


def compiled(contract: Contract, pure: PureFunctions, auto_reset: str) -> Compiled:
    """Return the engine of these functions; the same one for contracts that are alike to it."""
    seen = (contract.players, contract.observation.shape, contract.reset_mode, contract.truncates)
    key = (auto_reset, *seen)
    if key not in pure.engines:
        engine = JaxEngine(contract, pure, auto_reset)
        methods = (engine.reset, engine.step, engine.rollout, engine.frame)
        pure.engines[key] = Compiled(engine, *map(jax.jit, methods))
    return pure.engines[key]


def _choose(which: Array, yes: Any, no: Any) -> Any:
    """Pick lane by lane over whole trees."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(which.reshape(-1, *([1] * (jnp.ndim(a) - 1))), a, b)

    return jax.tree.map(pick, yes, no)
