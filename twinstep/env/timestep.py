"""The result of a step of a shipped environment, and the starts of its next episodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Array, Frame, Start
from twinstep.inputs.seeds import starts_of

#: Default number of starts from which an environment with `Start.fields` draws later episodes.
TABLE = 256


class TimeStep(NamedTuple):
    """One step of N lanes; a rollout has a leading T before N.

    With one player the player's axis is omitted, and `acting` is None.

    obs: [N, ...], the policy's next input. With same-step auto-reset, in lanes that ended, the
        new episode's first observation. reward: [N], of the step.
    terminated, truncated: bool[N], whether the step ended the episode, and how.
    final_obs: [N, ...], the episode's last observation in lanes that ended, `obs` elsewhere. The
        value of a truncated episode is bootstrapped from it.
    acting: bool[N, P], who decides next. legal: bool[N, A], the legal action mask, or None.
    """

    obs: Array
    reward: Array
    terminated: Array
    truncated: Array
    final_obs: Array
    acting: Array | None
    legal: Array | None


def timestep(contract: Contract, frame: Frame, final_obs: Array) -> TimeStep:
    """Return a frame's step, without the player's axis (the last before obs's own) if P is 1."""
    if contract.players > 1:
        return TimeStep(
            frame.obs,
            frame.reward,
            frame.terminated,
            frame.truncated,
            final_obs,
            frame.acting,
            frame.legal,
        )
    inner = (slice(None),) * len(contract.observation.shape)
    one = (..., 0, *inner)
    legal = None if frame.legal is None else frame.legal[..., 0, :]
    return TimeStep(
        frame.obs[one],
        frame.reward[..., 0],
        frame.terminated,
        frame.truncated,
        final_obs[one],
        None,
        legal,
    )


def with_players(contract: Contract, actions: Any, leading: int) -> Any:
    """Insert a missing player's axis into actions, after `leading` batch axes."""
    shape = contract.action.shape
    if actions.ndim == leading + 1 + len(shape):
        return actions
    if contract.players == 1 and actions.ndim == leading + len(shape):
        return actions[(slice(None),) * leading + (None,)]
    raise ValueError(
        f"actions have shape {list(actions.shape)}; expected {leading} batch axes, then "
        f"{[contract.players, *shape] if contract.players > 1 else list(shape)}"
    )


def lane_seeds(seed: int, lanes: int) -> np.ndarray:
    """Return u32[lanes, 2]: (seed + k, 0) for lane k, whose n-th later episode has (., n)."""
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed {seed}: it must be in [0, 2**32)")
    words = (np.arange(lanes, dtype=np.uint64) + np.uint64(seed)).astype(np.uint32)
    return np.stack([words, np.zeros(lanes, np.uint32)], -1)


def next_seeds(seeds: Any) -> Any:
    """Return the seeds [..., 2] of the episodes after these (NumPy or JAX)."""
    one = np.array([0, 1], np.uint32)
    return seeds + one.reshape(*[1] * (seeds.ndim - 1), 2)


class StartTable:
    """Map seeds to starts, including the fields that a seed cannot carry.

    Without `Start.fields` a seed is a start. With them, a seed picks a row of a table, so that
    auto-reset needs no work on the host. The row's seed replaces the seed that picked it, unless
    the contract's seeds are free and the table is the default one: rows.seed is then empty.
    """

    def __init__(self, contract: Contract, table: Start | None = None) -> None:
        self.rows: Start | None = table
        if table is None and contract.starts:
            self.rows = starts_of(contract, lane_seeds(0, TABLE))
            if contract.free_seed:
                self.rows = self.rows._replace(seed=np.zeros((0, 2), np.uint32))

    def of(self, seeds: Any) -> Start:
        """Return the starts of seeds u32[N, 2], NumPy."""
        return start_of(self.rows, seeds, np)


def start_of(rows: Start | None, seeds: Any, arrays: Any) -> Start:
    """Return the starts of seeds u32[N, 2]; arrays: numpy or jax.numpy.

    rows: of a StartTable.
    """
    if rows is None:
        return Start(seeds, {})
    own = len(rows.seed) == 0
    count = len(next(iter(rows.fields.values()))) if own else len(rows.seed)
    # Both words matter: later episodes of a lane go through the table with a large stride.
    mixed = seeds[..., 0] + seeds[..., 1] * np.uint32(0x9E3779B1)
    row = (mixed % np.uint32(count)).astype(np.int32)
    take = lambda values: arrays.asarray(values)[row]  # noqa: E731
    return Start(seeds if own else take(rows.seed), {n: take(v) for n, v in rows.fields.items()})
