"""MinAtar's games behind Gymnasium's interface, without its sticky actions."""

from importlib import import_module

import numpy as np

#: The path of a field of the game's own state.
GAME = "game.{}"


class MinAtar:
    """One game. actions: the game's number of each action, the minimal set by default."""

    def __init__(self, name: str) -> None:
        self.game = import_module(f"minatar.environments.{name}").Env()
        self.actions = self.game.minimal_action_set()

    def reset(self, seed=None):
        if seed is not None:
            self.game.random = np.random.RandomState(seed % 2**32)
        self.game.reset()
        return self.game.state(), {}

    def step(self, action):
        reward, terminal = self.game.act(self.actions[int(action)])
        return self.game.state(), reward, terminal, False, {}
