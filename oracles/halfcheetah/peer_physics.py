"""Engines that only step: the reference's model from the reference's starts.

Five substeps for an action, no observation, reward or end. See peers.PEERS.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from twinstep.bench.targets import Job
from twinstep.contract import Contract
from twinstep.frames import Fields
from twinstep.oracles.halfcheetah import bridge
from twinstep.oracles.halfcheetah.modules import mujoco

SKIP = 5  # substeps of an action
STATE = ("qpos", "qvel", "qacc_warmstart")


def model_of(contract: Contract) -> Any:
    """Return the reference's MjModel."""
    return bridge.inner(bridge.environment(contract)).model


def starts_of(contract: Contract, seeds: np.ndarray) -> Fields:
    """Return the reference's starts of seeds u32[N, 2]: STATE's fields f64[N, 9]."""
    env = bridge.environment(contract)
    data = bridge.inner(env).data
    rows = np.zeros((len(STATE), len(seeds), 9))
    for lane, seed in enumerate(seeds):
        env.reset(seed=bridge.integer(seed))
        rows[:, lane] = [getattr(data, name) for name in STATE]
    return dict(zip(STATE, rows, strict=True))


class _Physics:
    """Common part of peers without rewards. `begin` sets lanes up: unused ones cost nothing."""

    dtype, platform = "float64", "cpu"

    def __init__(self, contract: Contract, job: Job) -> None:
        self._contract, self._threads = contract, job.threads
        self._model = model_of(contract)
        self._control = np.zeros((job.steps, job.played, 6))

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See targets.Target."""
        self._control = np.ascontiguousarray(actions[:, :, 0], np.float64)
        self._put(starts_of(self._contract, seeds))

    def shown(self) -> Fields:
        """Return nothing: there are no observations."""
        return {}

    def _put(self, starts: Fields) -> None:
        raise NotImplementedError


class MjStep(_Physics):
    """mj_step in a Python loop, step by step, each lane with an MjData."""

    _data: list[Any]

    def _put(self, starts: Fields) -> None:
        count = len(starts["qpos"])
        self._data = [mujoco.MjData(self._model) for _ in range(count)]
        for name, rows in starts.items():
            for data, row in zip(self._data, rows, strict=True):
                getattr(data, name)[:] = row
        self._pool = ThreadPoolExecutor(self._threads)
        self._parts = [p for p in np.array_split(np.arange(count), self._threads) if len(p)]

    def play(self) -> None:
        """See targets.Target; threads do not wait for one another."""
        if len(self._parts) == 1:
            self._play(self._parts[0])
        else:
            list(self._pool.map(self._play, self._parts))

    def state(self) -> Fields:
        """Return qpos and qvel f64[N, 9], and elapsed i32[N], the steps by MuJoCo's clock."""
        rows = {name: np.array([getattr(d, name) for d in self._data]) for name in STATE[:2]}
        return rows | {"elapsed": _elapsed(self._model, np.array([d.time for d in self._data]))}

    def _play(self, lanes: np.ndarray) -> None:
        model, step = self._model, mujoco.mj_step
        data = self._data[lanes[0] : lanes[-1] + 1]
        for control in self._control[:, lanes[0] : lanes[-1] + 1]:
            for each, ctrl in zip(data, control, strict=True):
                each.ctrl[:] = ctrl
                step(model, each, nstep=SKIP)


class Rollout(_Physics):
    """mujoco.rollout, all steps in one call; it writes the state after every substep.

    It does not return qacc_warmstart: each `play` after the first begins without it.
    """

    _warmstart: np.ndarray | None

    def _put(self, starts: Fields) -> None:
        steps, count = self._control.shape[:2]
        pool = self._threads if self._threads > 1 else 0  # 0: the calling thread
        self._rollout = importlib.import_module("mujoco.rollout").Rollout(nthread=pool)
        self._data = [mujoco.MjData(self._model) for _ in range(self._threads)]
        self._repeated = np.ascontiguousarray(self._control.swapaxes(0, 1).repeat(SKIP, 1))
        self._states = np.zeros((count, steps * SKIP, 19))  # time, qpos, qvel
        self._states[:, -1, 1:] = np.concatenate([starts["qpos"], starts["qvel"]], 1)
        self._warmstart = starts["qacc_warmstart"]

    def play(self) -> None:
        """See targets.Target."""
        self._rollout.rollout(
            self._model,
            self._data,
            self._states[:, -1].copy(),
            self._repeated,
            initial_warmstart=self._warmstart,
            state=self._states,
        )
        self._warmstart = None

    def state(self) -> Fields:
        """Return qpos and qvel f64[N, 9], and elapsed i32[N], the steps by MuJoCo's clock."""
        time, qpos, qvel = np.split(self._states[:, -1].copy(), (1, 10), 1)
        return {"qpos": qpos, "qvel": qvel, "elapsed": _elapsed(self._model, time[:, 0])}


def _elapsed(model: Any, time: np.ndarray) -> np.ndarray:
    return np.rint(time / (SKIP * model.opt.timestep)).astype(np.int32)


class MjBatch(_Physics):
    """mjbatch, one call a step."""

    def _put(self, starts: Fields) -> None:
        batch = importlib.import_module("mjbatch").Batch
        self._batch = batch(self._model, len(starts["qpos"]), self._threads)
        self._bound = {name: self._batch.bind(name) for name in (*STATE, "ctrl")}
        for name, rows in starts.items():
            self._bound[name][:] = rows

    def play(self) -> None:
        """See targets.Target."""
        ctrl, step = self._bound["ctrl"], self._batch.step
        for control in self._control:
            ctrl[:] = control
            step(nstep=SKIP)

    def state(self) -> Fields:
        """Return qpos and qvel f64[N, 9]."""
        return {name: self._bound[name].copy() for name in STATE[:2]}


def mjx_step(model: Any, iterations: int, searches: int) -> Callable[[Fields, Any], Fields]:
    """Return MJX's step of one lane: STATE's fields f32[9] and an action f32[6] -> the fields.

    Only fields that the next step reads leave it, so XLA need not write the rest of MJX's data.
    """
    import jax

    mjx = importlib.import_module("mujoco.mjx")
    kept = model.opt.iterations, model.opt.ls_iterations
    model.opt.iterations, model.opt.ls_iterations = iterations, searches
    put = mjx.put_model(model, impl="jax")
    model.opt.iterations, model.opt.ls_iterations = kept
    empty = mjx.make_data(put)

    def step(state: Fields, action: Any) -> Fields:
        data = empty.replace(**state, ctrl=action)
        data = jax.lax.scan(lambda d, _: (mjx.step(put, d), None), data, None, SKIP)[0]
        return {name: getattr(data, name) for name in STATE}

    return step


class Mjx(_Physics):
    """MJX, compiled for all steps of all lanes."""

    def __init__(self, contract: Contract, job: Job, iterations: int, searches: int) -> None:
        import jax

        from twinstep.bench.jax_targets import CompiledPlay

        super().__init__(contract, job)
        self.dtype, self.platform = "float32", jax.default_backend()
        step = jax.vmap(mjx_step(self._model, iterations, searches))
        self._compiled = CompiledPlay(
            lambda state, actions: jax.lax.scan(lambda s, a: (step(s, a), None), state, actions)[0]
        )
        self.about = self._compiled.about
        self._state: Any = None
        self._actions: Any = None

    def play(self) -> None:
        """See targets.Target."""
        self._state = self._compiled(self._state, self._actions)

    def state(self) -> Fields:
        """Return qpos and qvel f32[N, 9]."""
        return {name: np.asarray(self._state[name]) for name in STATE[:2]}

    def _put(self, starts: Fields) -> None:
        import jax

        self._state, self._actions = jax.device_put(
            ({n: v.astype(np.float32) for n, v in starts.items()}, np.float32(self._control))
        )
