"""A policy that keeps the pole up for 500 steps, and in other lanes drives into every limit."""

from __future__ import annotations

import numpy as np

from twinstep import Contract, Frame, Start
from twinstep.drivers import Act, Look, noise

#: The cart's target in each kind of lane: two stay, two leave the track.
TARGETS = np.array([0.0, 0.0, 4.0, -4.0])
#: Push for x, x_dot, theta and theta_dot.
GAINS = np.array([0.1, 0.3, 3.0, 0.7])
#: Step from about which the second kind only pushes to one side, and falls near the time limit.
LET_GO = 488


def balancing(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Return act(frame, t) -> actions i32[N, 1]. `look` is not used."""
    seed = np.asarray(starts.seed)
    kind = noise(seed, 0, 41) % 4
    last = LET_GO + noise(seed, 0, 42) % 8
    side = noise(seed, 0, 44) % 2 == 1

    def act(frame: Frame, t: int) -> np.ndarray:
        parts = np.stack([frame.state[name] for name in ("x", "x_dot", "theta", "theta_dot")], -1)
        away = parts[:, 0] - TARGETS[kind]
        parts[:, 0] = np.clip(away, -1.0, 1.0)
        right = parts @ GAINS > 0
        right = np.where((kind == 1) & (t >= last), side, right)
        slips = noise(seed, t, 43)
        right = np.where(slips % 64 == 0, slips >> 8 & 1, right)
        return right.astype(np.int32)[:, None]

    return act
