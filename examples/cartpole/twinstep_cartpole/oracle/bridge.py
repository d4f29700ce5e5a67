"""Gymnasium's CartPole-v1 as an oracle: one episode, driven through its public interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from twinstep import Contract, Frame, Start
from twinstep_cartpole.oracle import modules

WORD = 2**32


class CartPoleOracle:
    """One episode; see twinstep.Oracle."""

    def __init__(self, contract: Contract) -> None:
        # Steps after the end are intended; the reference warns of them.
        gymnasium.logger.min_level = gymnasium.logger.ERROR
        # The checker only warns, and doubles the time of a step.
        self._env = gymnasium.make("CartPole-v1", disable_env_checker=True)
        self._env.reset(seed=0)
        self._contract = contract
        self._events = np.zeros(len(contract.events), bool)

    def reset(self, start: Start) -> Frame:
        """Begin the episode of the seed u32[2], the low word first."""
        low, high = (int(word) for word in start.seed)
        obs, _ = self._env.reset(seed=low + high * WORD)
        self._events[:] = False
        return self._frame(obs, 0.0, False, False)

    def step(self, action: Any) -> Frame:
        """Apply an action [1]."""
        before = self._get("state")
        obs, reward, terminated, truncated, _ = self._env.step(int(action[0]))
        self._events[:] = self._happened(before, terminated, truncated)
        return self._frame(obs, float(reward), terminated, truncated)

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from a frame's state."""
        parts = [state[name] for name in ("x", "x_dot", "theta", "theta_dot")]
        beyond = int(state["beyond"])
        self._set("state", np.array(parts, np.float64))
        self._set("steps_beyond_terminated", None if beyond < 0 else beyond)
        self._set("_elapsed_steps", int(state["elapsed"]))
        words = [int(word) for word in state["rng"]]
        numbers = [sum(w << 32 * n for n, w in enumerate(words[i : i + 4])) for i in (0, 4)]
        generator = self._env.unwrapped.np_random.bit_generator
        generator.state = dict(generator.state) | {
            "state": dict(zip(("state", "inc"), numbers, strict=True))
        }

    def call(self, module: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Evaluate one module on inputs with a leading N."""
        return modules.call(self, self._contract, module, inputs)

    def events(self) -> np.ndarray:
        """Return bool[E]: the events of the latest reset or step."""
        return self._events.copy()

    def close(self) -> None:
        """Free the environment."""
        self._env.close()

    def _frame(self, obs: np.ndarray, reward: float, terminated: bool, truncated: bool) -> Frame:
        x, x_dot, theta, theta_dot = (np.float64(part) for part in self._get("state"))
        beyond = self._get("steps_beyond_terminated")
        generator: Any = self._env.unwrapped.np_random.bit_generator.state
        words = [generator["state"][name] >> 32 * n & (WORD - 1) for name in ("state", "inc")
                 for n in range(4)]  # fmt: skip
        return Frame(
            obs=obs[None],
            reward=np.array([reward], np.float32),
            terminated=np.bool_(terminated),
            truncated=np.bool_(truncated),
            acting=np.ones(1, bool),
            legal=None,
            state={
                "x": x,
                "x_dot": x_dot,
                "theta": theta,
                "theta_dot": theta_dot,
                "elapsed": np.int32(self._get("_elapsed_steps")),
                "beyond": np.int32(-1 if beyond is None else beyond),
                "rng": np.array(words, np.uint32),
            },
        )

    def _happened(self, before: Any, terminated: bool, truncated: bool) -> tuple[bool, ...]:
        """Return contract.events in order, by the reference's own limits."""
        after = self._get("state")
        x, _, theta, _ = after
        far, wide = self._get("x_threshold"), self._get("theta_threshold_radians")
        limits = (x < -far, x > far, theta < -wide, theta > wide)
        _, cart_turned, pole_crossed, pole_turned = np.signbit(before) != np.signbit(after)
        ends = (truncated, terminated and truncated)
        return (*limits, *ends, cart_turned, pole_turned, pole_crossed)

    def _get(self, name: str) -> Any:
        return self._env.get_wrapper_attr(name)

    def _set(self, name: str, value: Any) -> None:
        self._env.set_wrapper_attr(name, value)
