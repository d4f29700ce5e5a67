"""The spaces of Gymnasium's and gymnax's environments as the contract's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contract import ActionSpace, Box, Discrete
from twinstep.errors import UserError

#: The factor beyond the range at which a reference is asked; see `Box.beyond`.
BEYOND = 1.5
#: Single actions that are asked beyond the range.
_ASKED = 16


def action_of(space: Any, whose: str) -> ActionSpace:
    """Convert an action space of either package to the contract's; UserError if it has none."""
    if hasattr(space, "n") and not space.shape:
        if getattr(space, "start", 0) != 0:
            raise UserError(f"{whose} counts actions from {space.start}, twinstep from 0: wrap it")
        return Discrete(int(space.n))
    ends = [np.unique(np.asarray(getattr(space, end, np.nan))) for end in ("low", "high")]
    if any(len(values) != 1 or not np.isfinite(values).all() for values in ends):
        raise UserError(
            f"{whose} has the actions {space}: twinstep takes Discrete, and Box with one finite "
            "low and high; wrap it"
        )
    low, high = (float(values[0]) for values in ends)
    return Box(low, high, tuple(space.shape), np.dtype(space.dtype).name)


def accepted_beyond(env: Any, space: ActionSpace) -> ActionSpace:
    """Return the space with `beyond` where the environment answers actions outside its range.

    It does if single steps with them raise nothing and give finite numbers: such an environment
    clips, clamps or charges in its own way, which a port has to copy.
    """
    if isinstance(space, Discrete) or np.dtype(space.dtype).kind != "f":
        return space
    middle, half = (space.low + space.high) / 2, (space.high - space.low) / 2
    rng = np.random.default_rng(0)
    for seed in range(_ASKED):
        unit = rng.choice([-BEYOND, BEYOND], space.shape)
        env.reset(seed=seed)
        try:
            obs, reward, *_ = env.step(np.asarray(middle + half * unit, space.dtype))
            finite = np.isfinite(np.asarray(obs, np.float64)).all() and np.isfinite(reward)
        except Exception:  # a refusal, in the environment's own way
            return space
        if not finite:
            return space
    return dataclasses.replace(space, beyond=BEYOND)


def plain(action: ActionSpace) -> str:
    """Return the space in words, for a message."""
    if isinstance(action, Discrete):
        return f"Discrete({action.n})"
    return f"Box({action.low:g}, {action.high:g}, {list(action.shape)}, {action.dtype})"


def code_of(action: ActionSpace) -> str:
    """Return the expression of the space for the contract."""
    if isinstance(action, Discrete):
        return f"Discrete({action.n})"
    more = f", beyond={action.beyond!r}" if action.beyond != 1.0 else ""
    return f'Box({action.low!r}, {action.high!r}, {action.shape!r}, "{action.dtype}"{more})'


def observed(env: Any, title: str) -> tuple[tuple[int, ...], str]:
    """Return the actual shape and dtype of the observations of reset and step."""
    env.action_space.seed(0)
    seen = [env.reset(seed=0)[0], env.step(env.action_space.sample())[0]]
    if any(
        isinstance(obs, tuple | Mapping) or np.asarray(obs).dtype.kind not in "biuf" for obs in seen
    ):
        space = getattr(env, "observation_space", seen[0])
        raise UserError(
            f"{title} observes {type(space).__name__}, which is not one array: wrap it "
            "(gymnasium.wrappers.FlattenObservation)"
        )
    shapes = [np.asarray(obs).shape for obs in seen]
    if shapes[0] != shapes[1]:
        raise UserError(
            f"{title} observes shape {list(shapes[0])} at reset and {list(shapes[1])} after a "
            "step: let both be the same"
        )
    kind = np.result_type(*[np.asarray(obs).dtype for obs in seen])
    # A single integer is Python's or NumPy's widest; JAX's is int32.
    return shapes[0], "int32" if kind.kind == "i" and not shapes[0] else kind.name
