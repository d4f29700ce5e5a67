"""A room of MiniGrid's in EnvPool, in the agent's view."""

from functools import partial
from typing import Any

import gymnasium
import minigrid  # noqa: F401  # registers its IDs

from audits.pair import drifting
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym


def room(version: str, name: str, limit: int) -> tuple[Contract, Any, Any]:
    """Return contract, oracle and candidate. limit: of an episode's steps."""
    contract = Contract(
        version=version,
        params={},
        action=Discrete(7, ("left", "right", "forward", "pickup", "drop", "toggle", "done")),
        observation=Field("obs", "uint8", (7, 7, 3)),
        state=(),
        randomness=Randomness("none"),
        # EnvPool computes the reward in float32.
        gates=drifting(1e-6, "reward"),
        horizon=limit,
    )
    make = partial(gymnasium.make, name, disable_env_checker=True)
    oracle = oracle_from_gym(make, observation=_image)
    return contract, oracle, from_envpool(name, observation=_image)


def _image(obs: Any) -> Any:
    return obs["image"]
