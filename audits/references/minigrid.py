"""MiniGrid's environments, observed as a whole: tag, colour and state of every cell."""

import gymnasium
import minigrid  # noqa: F401  # registers its IDs
from minigrid.wrappers import FullyObsWrapper


def make(name: str):
    """Return one environment; its observation's `image` is uint8[W, H, 3]."""
    return FullyObsWrapper(gymnasium.make(name, disable_env_checker=True))


def cells(obs):
    """Return the observation as rows from top to bottom, uint8[H, W, 3]."""
    return obs["image"].transpose(1, 0, 2)


#: Where the agent is, and how long the episode is.
AGENT = {
    "row": "unwrapped.agent_pos[1]",
    "column": "unwrapped.agent_pos[0]",
    "direction": "unwrapped.agent_dir",
    "time": "unwrapped.step_count",
}
