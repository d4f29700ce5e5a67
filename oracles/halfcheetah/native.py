"""The reference as a whole environment for `twinstep bench`, in the ways that keep its bits.

mujoco.rollout is not among them: it returns no qacc_warmstart, without which a continued
episode does not keep its bits.
"""

from __future__ import annotations

import gymnasium
import numpy as np

from twinstep.bench.targets import NamedTarget
from twinstep.contract import Contract
from twinstep.env.timestep import next_seeds
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.halfcheetah import bridge


class _Written:
    """A target's output buffers: obs f64[T, N, 17], reward f64[T, N] and truncated bool[T, N]."""

    def __init__(self, lanes: int, steps: int) -> None:
        self._obs = np.zeros((steps, lanes, 17))
        self._reward = np.zeros((steps, lanes))
        self._truncated = np.zeros((steps, lanes), bool)
        self._terminated = np.zeros((steps, lanes), bool)  # never
        self._seeds = np.zeros((lanes, 2), np.uint32)
        self._actions = np.zeros((steps, lanes, 1, 6), np.float32)

    def shown(self) -> Fields:
        """Return the outputs of the latest `play`, [T, N, ...]; the next one overwrites them."""
        return {
            "obs": self._obs,
            "reward": self._reward,
            "terminated": self._terminated,
            "truncated": self._truncated,
        }


class OneAfterAnother(_Written):
    """N environments of `gymnasium.make`, all its wrappers on; see targets.Target."""

    def __init__(self, contract: Contract, lanes: int, steps: int) -> None:
        super().__init__(lanes, steps)
        limit = contract.params["max_episode_steps"]
        gymnasium.logger.min_level = gymnasium.logger.ERROR
        self._envs = [
            gymnasium.make("HalfCheetah-v5", max_episode_steps=limit) for _ in range(lanes)
        ]

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; every `play` uses actions f32[T, N, 1, 6]."""
        self._seeds = seeds.copy()
        self._actions = np.array(actions)
        for env, seed in zip(self._envs, seeds, strict=True):
            env.reset(seed=bridge.integer(seed))

    def play(self) -> None:
        """Play all steps, environment after environment in each."""
        for t, actions in enumerate(self._actions[:, :, 0]):
            for lane, env in enumerate(self._envs):
                obs, reward, _, truncated, _ = env.step(actions[lane])
                if truncated:
                    self._seeds[lane] = next_seeds(self._seeds[lane])
                    obs, _ = env.reset(seed=bridge.integer(self._seeds[lane]))
                self._obs[t, lane] = obs
                self._reward[t, lane] = reward
                self._truncated[t, lane] = truncated

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        data = [bridge.inner(env).data for env in self._envs]
        elapsed = [env.get_wrapper_attr("_elapsed_steps") for env in self._envs]
        return {
            "qpos": np.array([d.qpos for d in data]),
            "qvel": np.array([d.qvel for d in data]),
            "qacc_warmstart": np.array([d.qacc_warmstart for d in data]),
            "elapsed": np.array(elapsed, np.int32),
        }


class InLanes(_Written):
    """The bridge's lanes, which leave Gymnasium's wrappers out; see targets.Target."""

    def __init__(self, contract: Contract, lanes: int, steps: int, threads: int) -> None:
        super().__init__(lanes, steps)
        self._lanes = bridge.HalfCheetahLanes(contract, lanes, threads)
        self._live = np.ones(lanes, bool)
        self._frame: Frame | None = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; every `play` uses actions f32[T, N, 1, 6]."""
        self._seeds = seeds.copy()
        self._actions = np.array(actions)
        self._frame = self._lanes.reset(Start(self._seeds, {}))

    def play(self) -> None:
        """Play all steps, all lanes in each."""
        for t, actions in enumerate(self._actions):
            frame = self._lanes.step(actions, self._live)
            self._reward[t] = frame.reward[:, 0]
            self._truncated[t] = frame.truncated
            # Nothing terminates and all lanes began together, so they end together.
            if frame.truncated[0]:
                self._seeds = next_seeds(self._seeds)
                frame = self._lanes.reset(Start(self._seeds, {}))
            self._obs[t] = frame.obs[:, 0]
            self._frame = frame

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        assert self._frame is not None
        return self._frame.state


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[NamedTarget]:
    """Return the reference's ways to play N lanes for T steps; with one thread the plain first."""
    found = [NamedTarget("mj_step in lanes", InLanes(contract, lanes, steps, threads))]
    if threads == 1:
        plain = OneAfterAnother(contract, lanes, steps)
        found.insert(0, NamedTarget("gymnasium.make, one after another", plain))
    return found
