"""bsuite's environments behind Gymnasium's interface. Their last step is always a termination."""

import numpy as np


class Bsuite:
    """One environment."""

    def __init__(self, env) -> None:
        self.env = env

    def reset(self, seed=None):
        if seed is not None and hasattr(self.env, "_rng"):
            self.env._rng = np.random.RandomState(seed % 2**32)
        return self.env.reset().observation, {}

    def step(self, action):
        now = self.env.step(int(action))
        return now.observation, now.reward, now.last(), False, {}
