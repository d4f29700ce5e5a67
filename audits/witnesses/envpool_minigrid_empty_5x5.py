"""The goal reached in the last step: MiniGrid terminates and truncates, EnvPool truncates alone."""

import envpool
import gymnasium
import minigrid  # noqa: F401  # registers its IDs
import numpy as np

RIGHT, FORWARD, DONE = 1, 2, 6  # "done" does nothing
ACTIONS = [DONE] * 95 + [FORWARD, FORWARD, RIGHT, FORWARD, FORWARD]
port = envpool.make("MiniGrid-Empty-5x5-v0", "gymnasium", num_envs=1)
reference = gymnasium.make("MiniGrid-Empty-5x5-v0")
port.reset()
reference.reset(seed=0)
for action in ACTIONS:
    theirs = tuple(bool(end) for end in reference.step(action)[2:4])
    ours = tuple(bool(end[0]) for end in port.step(np.array([action], np.int32))[2:4])
assert theirs == ours, f"terminated, truncated: MiniGrid {theirs}, EnvPool {ours}"
