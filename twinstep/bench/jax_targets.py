"""Targets for `twinstep.make`: as it is, and compiled to write only the required outputs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.action_mask import legalise
from twinstep.contract import Contract
from twinstep.env.make import Env
from twinstep.env.timestep import StartTable
from twinstep.frames import Fields
from twinstep.jax_candidate import JaxCandidate

_SHOWN = ("obs", "reward", "terminated", "truncated")


def masked_rollout(env: Env, begun: Any, actions: Any) -> tuple[Any, Any]:
    """Play actions [T, N, P] as the legal ones they stand for, from (state, legal mask)."""

    def step(carried: Any, drawn: Any) -> tuple[Any, Any]:
        state, legal = carried
        state, now = env.step(state, legalise(drawn, legal, jnp))
        return (state, now.legal), now

    return jax.lax.scan(step, begun, actions)


def masked_steps(env: Env, begun: Any, actions: Any) -> tuple[Any, Any]:
    """As masked_rollout, step by step, for untraceable environments."""
    (state, legal), rows = begun, []
    for drawn in actions:
        state, now = env.step(state, legalise(drawn, np.asarray(legal)))
        legal = now.legal
        rows.append(jax.tree.map(np.array, now))
    return (state, legal), jax.tree.map(lambda *values: np.stack(values), *rows)


class MadeTarget:
    """`Env.rollout` as a user calls it, or a loop that obeys the mask; see targets.Target."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._masked = env.contract.masked
        self._rollout: Any = env.rollout
        if self._masked:
            traced = jax.jit(lambda begun, actions: masked_rollout(env, begun, actions))
            steps = lambda begun, actions: masked_steps(env, begun, actions)  # noqa: E731
            self._rollout = traced if env.traceable else steps
        self.dtype, self.platform = env.dtype, env.platform
        self._state: Any = None
        self._steps: Any = None
        self._actions: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Target."""
        self._state, first = self._env.reset(seeds)
        if self._masked:
            self._state = (self._state, first.legal)
        with wide(self._env):
            self._actions = jax.device_put(actions) if self._env.traceable else actions

    def play(self) -> None:
        """See Target."""
        self._steps = None
        self._state, self._steps = self._rollout(self._state, self._actions)
        if self._env.traceable:
            jax.block_until_ready((self._state, self._steps))

    def shown(self) -> Fields:
        """See Target."""
        steps, self._steps = self._steps, None
        return {name: np.asarray(getattr(steps, name)) for name in _SHOWN}

    def state(self) -> Fields:
        """See Target."""
        state = self._state[0] if self._masked else self._state
        named = self._env.frame(state).state
        return {name: np.asarray(value) for name, value in named.items()}


class CompiledPlay:
    """A function compiled ahead of time at its first call; its first argument is consumed.

    about: seconds of tracing and compiling, and the size of the optimised module.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: Any = None
        self.about: dict[str, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """Compile if need be, run, and wait for the result."""
        if self._compiled is None:
            begun = time.perf_counter()
            lowered = jax.jit(self._function, donate_argnums=0).lower(*args)
            traced = time.perf_counter()
            self._compiled = lowered.compile()
            done = time.perf_counter()
            text = self._compiled.as_text() or ""
            self.about |= {
                "lower_seconds": traced - begun,
                "compile_seconds": done - traced,
                "hlo_instructions": sum(" = " in line for line in text.splitlines()),
                "hlo_bytes": len(text),
            }
        return jax.block_until_ready(self._compiled(*args))


class CompiledTarget:
    """`Env.rollout` inside a compiled function that returns what the reference writes too.

    Outputs left out (`final_obs`) are then never computed. See targets.Target.
    """

    def __init__(self, env: Env) -> None:
        self._env = env
        self._masked = env.contract.masked
        self.dtype, self.platform = env.dtype, env.platform
        self._compiled = CompiledPlay(self._least)
        self.about = self._compiled.about
        self._state: Any = None
        self._given: Any = None
        self._actions: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Target."""
        self._state, first = self._env.reset(seeds)
        size = sum(leaf.nbytes for leaf in jax.tree.leaves(self._state))
        self.about["facts"] = {"Bytes of a lane's state": size / len(seeds)}
        if self._masked:
            self._state = (self._state, first.legal)
        with wide(self._env):
            self._actions = jax.device_put(actions)

    def play(self) -> None:
        """See Target."""
        self._given = None
        with wide(self._env):
            self._state, self._given = self._compiled(self._state, self._actions)

    def shown(self) -> Fields:
        """See Target."""
        given, self._given = self._given, None
        return {name: np.asarray(value) for name, value in given.items()}

    def state(self) -> Fields:
        """See Target."""
        state = self._state[0] if self._masked else self._state
        named = self._env.frame(state).state
        return {name: np.asarray(value) for name, value in named.items()}

    def _least(self, state: Any, actions: Any) -> tuple[Any, dict[str, Any]]:
        if self._masked:
            state, steps = masked_rollout(self._env, state, actions)
        else:
            state, steps = self._env.rollout(state, actions)
        names = _SHOWN if self._env.contract.truncates else _SHOWN[:-1]
        return state, {name: getattr(steps, name) for name in names}


class UnwrittenJax:
    """Steps of a JAX candidate that give the last state only; see targets.Target.

    Outputs that the state does not need (observations, rewards outside the state) are never
    computed.
    """

    def __init__(self, contract: Contract, candidate: JaxCandidate) -> None:
        self.dtype, self.platform = candidate.dtype, candidate.platform
        self._candidate = candidate
        self._table = StartTable(contract)
        step = jax.vmap(candidate.pure.step)
        self._compiled = CompiledPlay(
            lambda state, actions: jax.lax.scan(lambda s, a: (step(s, a), None), state, actions)[0]
        )
        self.about = self._compiled.about
        self._state: Any = None
        self._actions: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Target."""
        self._state, _ = self._candidate.reset(self._table.of(seeds))
        with wide(self._candidate):
            self._actions = jax.device_put(actions)

    def play(self) -> None:
        """See Target."""
        with wide(self._candidate):
            self._state = self._compiled(self._state, self._actions)

    def shown(self) -> Fields:
        """Return nothing."""
        return {}

    def state(self) -> Fields:
        """See Target."""
        with wide(self._candidate):
            named = jax.vmap(self._candidate.pure.frame)(self._state).state
        return {name: np.asarray(value) for name, value in named.items()}


def wide(env: Env | JaxCandidate) -> contextlib.AbstractContextManager[Any]:
    """Return the context that keeps the 64 bits of an environment's arrays."""
    return jax.enable_x64(True) if env.dtype == "float64" else contextlib.nullcontext()


def device_memory() -> int:
    """Return the peak of memory in use on the first device, 0 if JAX does not report it."""
    stats = jax.devices()[0].memory_stats() or {}
    return int(stats.get("peak_bytes_in_use", 0))
