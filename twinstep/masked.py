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
    nth = nth_legal(actions, legal, arrays).astype(actions.dtype)
    place = actions[..., None].astype(arrays.int32)
    fits = arrays.take_along_axis(legal, place, -1)[..., 0]
    return arrays.where(fits, actions, nth)


def nth_legal(number: Any, legal: Any, arrays: ModuleType = np) -> Any:
    """Return the (number mod count)-th legal action i32[...], 0 where none is legal.

    number: integers [...], not negative. legal: bool[..., A].
    """
    ones = legal.astype(arrays.int32)
    rank = number % arrays.maximum(ones.sum(-1), 1).astype(number.dtype)
    before = arrays.cumsum(ones, -1, dtype=arrays.int32) <= rank[..., None].astype(arrays.int32)
    nth = before.sum(-1, dtype=arrays.int32)
    return arrays.where(ones.sum(-1) == 0, arrays.zeros_like(nth), nth)
