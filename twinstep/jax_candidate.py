"""The candidate protocol over pure JAX functions written for one environment.

An implementation defines `reset`, `step`, `frame` and optional functions, each for a single
environment; this adapter batches (vmap), compiles (jit), scans whole rollouts and gives
the state's buffers back to XLA (donation). The harness runs these programs; `twinstep.make`
compiles its own from the pure functions (`env/jax_engine.py`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep._lib import paths
from twinstep.contract import Contract
from twinstep.frames import Array, Fields, Frame, Start
from twinstep.protocols import ModuleCall


def use_compilation_cache() -> None:
    """Keep compiled programs on disk between runs, unless the user chose a folder."""
    folder = paths.compiled_dir()
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if chosen is None and paths.writable(folder):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.01)


@dataclass(frozen=True)
class PureFunctions:
    """A single environment's functions; they can be traced, vmapped and scanned.

    lanes: the axis of a batched state along which jax_engine.py keeps the lanes, 0 or -1, whichever
        costs nothing for functions with a vmap rule of their own. engines: its engines so far.
    """

    reset: Callable[[Start], Any]
    step: Callable[[Any, Array], Any]
    frame: Callable[[Any], Frame]
    load: Callable[[dict[str, Array]], Any] | None
    restart: Callable[[Any], Any] | None
    lanes: int = 0
    engines: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


class Programs:
    """Pure functions for one environment, and their compiled programs.

    reset(start) -> state; step(state, action[P, ...]) -> state; frame(state) -> Frame without
    batch axis. load(fields) -> state takes `Frame.state`. restart(state) -> state is the
    reference's own auto-reset. fresh(seed u32[2]) -> state is the port's own reset where starts
    are placed. modules maps a module's name to `f(**inputs) -> dict`. lanes: see
    PureFunctions. scanned: whether the candidate has a `rollout`, which compiles the step once
    more, in a scan; False where a step takes long to compile, which is then called repeatedly.
    strict: trace these functions under JAX's strict dtype promotion, and without promotion of
    ranks, whatever the process has set.

    Candidates of several variants may share one object if nothing in these functions depends on
    the variant: a program is then traced, compiled and kept in memory once.
    """

    def __init__(
        self,
        *,
        reset: Callable[[Start], Any],
        step: Callable[[Any, Array], Any],
        frame: Callable[[Any], Frame],
        load: Callable[[dict[str, Array]], Any] | None = None,
        restart: Callable[[Any], Any] | None = None,
        fresh: Callable[[Array], Any] | None = None,
        modules: Mapping[str, Callable[..., dict[str, Array]]] | None = None,
        lanes: int = 0,
        scanned: bool = True,
        strict: bool = False,
    ) -> None:
        if strict:
            reset, step, frame = map(_strict, (reset, step, frame))
            load, restart, fresh = (f and _strict(f) for f in (load, restart, fresh))
            modules = {name: _strict(function) for name, function in (modules or {}).items()}
        # Jitted although every use is inside another program: each is traced only once, not once
        # for every batch, auto-reset and trainer.
        reset, step, frame = map(_traced_once, (reset, step, frame))
        load, restart = (function and _traced_once(function) for function in (load, restart))
        self.pure = PureFunctions(reset, step, frame, load, restart, lanes)

        def after(move: Callable[..., Any]) -> Callable[..., tuple[Any, Frame]]:
            def act(*args: Any) -> tuple[Any, Frame]:
                state = move(*args)
                return state, frame(state)

            return jax.vmap(act)

        def unroll(state: Any, actions: Array) -> tuple[Any, Frame]:
            return jax.lax.scan(after(step), state, actions)

        self.reset = jax.jit(after(reset))
        self.step = jax.jit(after(step), donate_argnums=0)
        self.unroll = jax.jit(unroll, donate_argnums=0) if scanned else None
        self.load = jax.jit(jax.vmap(load)) if load is not None else None
        self.restart = None
        if restart is not None:
            self.restart = jax.jit(after(restart), donate_argnums=0)
        self.fresh = None
        if fresh is not None:
            self.fresh = jax.jit(jax.vmap(lambda seed: frame(fresh(seed))))
        # Batched by vmap with every input mapped: lanes are separate calls.
        self.modules = {
            name: jax.jit(jax.vmap(lambda inputs, f=f: f(**inputs)))
            for name, f in (modules or {}).items()
        }


class JaxCandidate:
    """A batched candidate made of pure functions for one environment.

    functions: the arguments of Programs; or programs, which other candidates may share.
    explain(call, contract, state, action) lists a step's module calls.
    dtype `float64` runs every call under `jax.enable_x64`.
    """

    def __init__(
        self,
        contract: Contract,
        *,
        programs: Programs | None = None,
        explain: Callable[..., list[ModuleCall]] | None = None,
        dtype: str = "float32",
        compiled: bool = True,
        **functions: Any,
    ) -> None:
        use_compilation_cache()
        self.contract = contract
        self.dtype = dtype
        self.platform = jax.default_backend()
        self._compiled = compiled
        self._programs = shared = programs or Programs(**functions)
        self.pure = shared.pure
        # An optional method exists only where its function was given: the harness looks for the
        # attribute.
        load, restart, unroll = shared.load, shared.restart, shared.unroll
        if (fresh := shared.fresh) is not None:
            self.fresh = lambda seeds: self._run(fresh, seeds)
        if load is not None:
            self.load = lambda fields: self._run(load, _arrays(fields))
        if unroll is not None:
            self.rollout = lambda state, actions: self._run(unroll, state, actions)
        if restart is not None:
            self.restart = lambda state: self._run(restart, state)
        if shared.modules:
            self.call = self._call
        if explain is not None and shared.modules:
            self.explain = lambda state, action: explain(self._call, contract, state, action)
        if compiled:
            self.eager = lambda: JaxCandidate(
                contract, programs=shared, explain=explain, dtype=dtype, compiled=False
            )

    def reset(self, starts: Start) -> tuple[Any, Frame]:
        """Begin one episode per lane of the batched start."""
        return self._run(
            self._programs.reset, Start(jnp.asarray(starts.seed), _arrays(starts.fields))
        )

    def step(self, state: Any, actions: Array) -> tuple[Any, Frame]:
        """Apply actions [N, P, ...]; the step consumes the state."""
        return self._run(self._programs.step, state, actions)

    def copy(self, state: Any) -> Any:
        """Return a state that a later step does not consume."""
        return jax.tree.map(jnp.copy, state)

    def _call(self, module: str, inputs: Fields) -> dict[str, Array]:
        wanted = [given.name for given in self.contract.module(module).inputs]
        out = self._run(
            self._programs.modules[module], _arrays({name: inputs[name] for name in wanted})
        )
        return {name: np.asarray(value) for name, value in out.items()}

    def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        with contextlib.ExitStack() as scope:
            if self.dtype == "float64":
                scope.enter_context(jax.enable_x64(True))
            if not self._compiled:
                scope.enter_context(jax.disable_jit())
            return function(*jax.tree.map(jnp.asarray, args))


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is traced under JAX's strict promotion rules."""

    @functools.wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
            return function(*args, **named)

    return checked


def _traced_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Jit a function for one candidate.

    JAX shares traces by the function object. Several candidates may have one in common while its
    global names have different meanings, and an object need not have a hash.
    """
    return jax.jit(lambda *args: function(*args))


def _arrays(fields: Fields) -> dict[str, Array]:
    return {name: np.asarray(value) for name, value in fields.items()}
