"""A toy text of Gymnasium's in EnvPool, both with draws of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from twinstep import Contract, Discrete, Distribution, Field, GateRule, Randomness
from twinstep.inward import from_envpool, oracle_from_gym


def drawn(
    version: str,
    names: tuple[str, str],
    actions: int,
    shape: tuple[int, ...] = (),
    seen: Callable[[Any], Any] = np.asarray,
    **more: Any,
) -> tuple[Contract, Any, Any]:
    """Return contract, oracle and candidate. names: Gymnasium's and EnvPool's. shape: of obs.

    seen: what is compared of Gymnasium's observation. more: of the contract.
    """
    contract = Contract(
        version=version,
        params={},
        action=Discrete(actions),
        observation=Field("obs", "int32", shape),
        state=(),
        randomness=Randomness("each side's own"),
        gates=(GateRule(Distribution()),),
        **more,
    )
    make = partial(gymnasium.make, names[0], disable_env_checker=True)
    oracle = oracle_from_gym(make, observation=seen)
    return (
        contract,
        oracle,
        from_envpool(names[1], observation=lambda obs: obs.reshape(len(obs), *shape)),
    )
