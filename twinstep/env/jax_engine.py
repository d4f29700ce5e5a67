"""A batched pure JAX implementation with auto-reset, compiled by `twinstep.make`.

Everything here can be traced: a trainer's own jit, vmap and scan may contain it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from twinstep.contract import Contract
from twinstep.env.timestep import TimeStep, next_seeds, start_of, timestep
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.jax_candidate import PureFunctions

#: Elements per lane from which a scatter of whole lanes is faster than an elementwise choice.
_WIDE = 64


class EnvState(NamedTuple):
    """N lanes. inner: the implementation's own state, its lanes along `PureFunctions.lanes`.

    seed: u32[N, 2], of the running episodes.
    ended: bool[N], whether the last step ended the episode (next-step auto-reset waits on it).
    """

    inner: Any
    seed: Array
    ended: Array


class JaxEngine:
    """Reset, step and rollout of N lanes under one kind of auto-reset.

    rows: the table of a seed's start, see timestep.StartTable; an argument, so that one program
    serves all variants that differ only in their starts.
    """

    def __init__(self, contract: Contract, pure: PureFunctions, auto_reset: str) -> None:
        self._contract = contract
        self._pure = pure
        self._mode = auto_reset
        self._restarts = contract.reset_mode == "same-step" and pure.restart is not None
        at = pure.lanes
        self._begin = jax.vmap(pure.reset, out_axes=at)
        self._act = jax.vmap(pure.step, in_axes=(at, 0), out_axes=at)
        self._look = jax.vmap(pure.frame, in_axes=at)

    def reset(self, rows: Start | None, seeds: Array) -> tuple[EnvState, TimeStep]:
        """Begin one episode per seed u32[N, 2]."""
        seeds = jnp.asarray(seeds, jnp.uint32)
        inner = self._begin(start_of(rows, seeds, jnp))
        frame = self._look(inner)
        ended = jnp.zeros(len(seeds), bool)
        return EnvState(inner, seeds, ended), timestep(self._contract, frame, frame.obs)

    def step(
        self, rows: Start | None, state: EnvState, actions: Array
    ) -> tuple[EnvState, TimeStep]:
        """Apply actions [N, P, ...]."""
        inner = self._act(state.inner, actions)
        if self._mode == "next-step":
            return self._next_step(rows, state, inner)
        frame = self._look(inner)
        after = EnvState(inner, state.seed, frame.terminated | frame.truncated)
        if self._mode == "off":
            return after, timestep(self._contract, frame, frame.obs)
        return self._same_step(rows, after, frame)

    def rollout(
        self, rows: Start | None, state: EnvState, actions: Array
    ) -> tuple[EnvState, TimeStep]:
        """Apply actions [T, N, P, ...]; time steps have a leading [T, N]."""
        return lax.scan(lambda *carried: self.step(rows, *carried), state, actions)

    def frame(self, state: EnvState) -> Frame:
        """Return the present frame with the inner fields."""
        return self._look(state.inner)

    def load(self, fields: Fields, seed: Array, ended: Array) -> EnvState:
        """Continue from a frame's fields."""
        assert self._pure.load is not None
        load = jax.vmap(self._pure.load, out_axes=self._pure.lanes)
        return EnvState(load(dict(fields)), seed, ended)

    def _same_step(
        self, rows: Start | None, state: EnvState, last: Frame
    ) -> tuple[EnvState, TimeStep]:
        inner, shown = state.inner, last
        if self._restarts:
            inner = self._restarted(last.terminated, inner, inner)
            shown = self._look(inner)
        state = state._replace(inner=inner)
        state, shown = self._renewed(rows, state, shown, last.terminated, last.truncated)
        frame = last._replace(obs=shown.obs, acting=shown.acting, legal=shown.legal)
        return state, timestep(self._contract, frame, last.obs)

    def _next_step(
        self, rows: Start | None, before: EnvState, inner: Any
    ) -> tuple[EnvState, TimeStep]:
        """Begin the next episode in lanes that ended before this step, instead of playing it."""
        last = self._look(before.inner)
        waited = before.ended
        # A waiting lane of a loaded state does not show how its episode ended: terminated, then.
        terminated, truncated = waited & (last.terminated | ~last.truncated), waited
        truncated = truncated & last.truncated
        if self._restarts:
            inner = self._restarted(terminated, before.inner, inner)
        frame = self._look(inner)
        state = EnvState(inner, before.seed, (frame.terminated | frame.truncated) & ~waited)
        state, frame = self._renewed(rows, state, frame, terminated, truncated)
        frame = frame._replace(
            reward=_choose(waited, jnp.zeros_like(frame.reward), frame.reward),
            terminated=frame.terminated & ~waited,
            truncated=frame.truncated & ~waited,
        )
        return state, timestep(self._contract, frame, frame.obs)

    def _restarted(self, terminated: Array, before: Any, after: Any) -> Any:
        """Restart, in the reference's own way, the episodes that ended in state `before`."""
        at = self._pure.lanes
        assert self._pure.restart is not None
        again = jax.vmap(self._pure.restart, in_axes=at, out_axes=at)(before)
        return _choose(terminated, again, after, at)

    def _renewed(
        self,
        rows: Start | None,
        state: EnvState,
        frame: Frame,
        terminated: Array,
        truncated: Array,
    ) -> tuple[EnvState, Frame]:
        """Begin the next episode where one ended and was not restarted.

        frame: that of state.inner. A reset may be expensive, and few lanes end at once: these are
        gathered and reset together, in several passes if there are many.
        """
        over: Array = truncated & ~terminated if self._restarts else terminated | truncated
        if self._restarts and not self._contract.truncates:
            return state, frame
        seed = jnp.where(over[:, None], next_seeds(state.seed), state.seed)
        lanes = len(over)
        few = min(lanes, max(32, lanes // 32))

        def some(carried: tuple[Array, Any, Any]) -> tuple[Array, Any, Any]:
            left, inner, shown = carried
            which = _First(left, few)
            begun = self._begin(start_of(rows, seed[jnp.minimum(which.place, lanes - 1)], jnp))
            first = self._look(begun)
            inner = jax.tree.map(partial(which.put, at=self._pure.lanes), inner, begun)
            shown = jax.tree.map(which.put, shown, (first.obs, first.acting, first.legal))
            return left & ~which.taken, inner, shown

        init = over, state.inner, (frame.obs, frame.acting, frame.legal)
        _, inner, shown = lax.while_loop(lambda carried: carried[0].any(), some, init)
        obs, acting, legal = shown
        frame = frame._replace(obs=obs, acting=acting, legal=legal)
        return EnvState(inner, seed, state.ended), frame


class _First:
    """The first `few` set lanes of bool[N].

    place: i32[few], their indices, N where there are fewer. taken: bool[N], the lanes as a mask.
    """

    def __init__(self, left: Array, few: int) -> None:
        count = jnp.cumsum(left.astype(jnp.int32))
        self.place = jnp.searchsorted(count, jnp.arange(1, few + 1, dtype=jnp.int32))
        self.taken = left & (count <= few)
        self._rank = jnp.clip(count - 1, 0, few - 1)

    def put(self, old: Array, new: Array, at: int = 0) -> Array:
        """Return old with the values of new [few, ...] in these lanes; at: the lanes' axis."""
        if at == 0 and old.size >= _WIDE * len(old):
            return old.at[self.place].set(new, mode="drop")
        # On a CPU a scatter is a loop over its rows, one for each array: slow where rows are short.
        return _choose(self.taken, jnp.take(new, self._rank, at), old, at)


class CompiledEngine(NamedTuple):
    """An engine with its methods jitted."""

    engine: JaxEngine
    reset: Callable[..., Any]
    step: Callable[..., Any]
    rollout: Callable[..., Any]
    frame: Callable[..., Any]


def compiled_engine(contract: Contract, pure: PureFunctions, auto_reset: str) -> CompiledEngine:
    """Return the engine of these functions, shared by contracts that do not differ for it."""
    seen = (contract.players, contract.observation.shape, contract.reset_mode, contract.truncates)
    key = (auto_reset, *seen)
    if key not in pure.engines:
        engine = JaxEngine(contract, pure, auto_reset)
        methods = (engine.reset, engine.step, engine.rollout, engine.frame)
        pure.engines[key] = CompiledEngine(engine, *map(jax.jit, methods))
    return pure.engines[key]


def _choose(which: Array, yes: Any, no: Any, at: int = 0) -> Any:
    """Choose lane by lane over whole trees; at: the lanes' axis, the first or the last."""

    def pick(a: Array, b: Array) -> Array:
        shape = [1] * jnp.ndim(a)
        shape[at] = -1
        return jnp.where(which.reshape(shape), a, b)

    return jax.tree.map(pick, yes, no)
