"""Random play where not every action is legal: what a drawn action stands for."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


def legalise(actions: Any, legal: Any, arrays: ModuleType = np) -> Any:
    """Map each action [..., P] to a legal one: itself, else the (action mod count)-th legal.

    legal: bool[..., P, A], None if all are; arrays is the module (numpy or jax.numpy). Players
    without a legal action (who do not decide now) get 0. The mapping keeps shrunk action lists
    playable: dropping a step never makes the rest illegal.
    """
    if legal is None:
        return actions
    count = legal.astype(arrays.int32).sum(-1)
    rank = actions % arrays.maximum(count, 1).astype(actions.dtype)
    before = arrays.cumsum(legal.astype(arrays.int32), -1) <= rank[..., None]
    nth = before.astype(arrays.int32).sum(-1)
    place = actions[..., None].astype(arrays.int32)
    fits = arrays.take_along_axis(legal, place, -1)[..., 0]
    chosen = arrays.where(fits, actions, nth.astype(actions.dtype))
    return arrays.where(count == 0, arrays.zeros_like(actions), chosen)
