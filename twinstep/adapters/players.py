"""PettingZoo's parallel convention: one game, dictionaries by player, NumPy in and out."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contract import Box
from twinstep.env.make import Env
from twinstep.errors import UserError


class Players:
    """One lane of any backend with auto-reset off; `agents` is empty after the end.

    Players are `player_0`, `player_1`, ... A player who does not decide now has an
    `action_mask` of all False in its info, and its action may be omitted.
    """

    def __init__(self, env: Env) -> None:
        if env.auto_reset != "off":
            raise UserError(f"these games end for good; make it with auto_reset='off': {env!r}")
        self.env = env
        self.possible_agents = [f"player_{p}" for p in range(env.contract.players)]
        self.agents: list[str] = []
        self._state: Any = None

    def reset(
        self, seed: int = 0, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
        """Begin the game of this seed; return observations and infos by player."""
        self._state, now = self.env.reset(seed, 1)
        self.agents = list(self.possible_agents)
        return self._by_player(now.obs), self._infos(now)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Apply the actions of the players who decide; return the five values by player."""
        if not self.agents:
            raise UserError("the game is over, or has not begun: call reset")
        for name in actions:
            if name not in self.possible_agents:
                raise UserError(f"unknown player '{name}' (known: {', '.join(self.agents)})")
        dtype, shape = self.env.contract.action_layout()
        batch = np.zeros((1, *shape), dtype)
        for p, name in enumerate(self.possible_agents):
            if name in actions:
                batch[0, p] = np.asarray(actions[name], dtype).reshape(shape[1:])
        self._state, now = self.env.step(self._state, batch)
        terminated, truncated = bool(now.terminated[0]), bool(now.truncated[0])
        values = (
            self._by_player(now.obs),
            {n: float(r) for n, r in self._by_player(now.reward).items()},
            dict.fromkeys(self.agents, terminated),
            dict.fromkeys(self.agents, truncated),
            self._infos(now),
        )
        if terminated or truncated:
            self.agents = []
        return values

    def num_actions(self, agent: str) -> int:
        """Return the number of a player's discrete actions; UserError for real-valued ones."""
        if isinstance(self.env.action, Box):
            raise UserError(f"{self.env.id} has real-valued actions")
        return self.env.action.n

    def _by_player(self, values: Any) -> dict[str, np.ndarray]:
        rows = np.array(values)[0]
        rows = rows[None] if self.env.contract.players == 1 else rows
        return dict(zip(self.possible_agents, rows, strict=True))

    def _infos(self, now: Any) -> dict[str, dict[str, Any]]:
        if now.legal is None:
            return {name: {} for name in self.possible_agents}
        masks = self._by_player(now.legal)
        return {name: {"action_mask": mask} for name, mask in masks.items()}
