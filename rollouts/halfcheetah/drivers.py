"""A policy that runs: it reaches speeds and contacts that random play does not reach.

A linear policy trained in the reference by tools/halfcheetah/policy.py. Lanes differ in the noise
added to their actions; without it, all of them would soon run the same way.
"""

from __future__ import annotations

import numpy as np

from twinstep.contract import Contract
from twinstep.drivers import Act, Look, noise
from twinstep.frames import Frame, Start
from twinstep.rollouts.halfcheetah.policy import POLICY

#: Lane by lane, the largest change of a motor's action.
NOISE = np.array([0.0, 0.1, 0.25, 0.5])


def trained(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Return act(frame, t) -> actions [N, 1, 6] for oracle frames. `look` is not used."""
    seed = np.asarray(starts.seed, np.uint32)
    table = np.array(POLICY)
    scale = NOISE[noise(seed, 0, 40) % len(NOISE)]
    dtype, _ = contract.action_layout()

    def act(frame: Frame, t: int) -> np.ndarray:
        obs = np.asarray(frame.obs)[:, 0]
        # One lane's sum must not depend on other lanes, as a matrix product's may.
        wanted = table[:, 0] + (obs[:, None] * table[:, 1:]).sum(-1)
        words = np.stack([noise(seed, t, 41 + motor) for motor in range(len(table))], -1)
        moved = scale[:, None] * (words / 2**31 - 1.0)
        return (np.clip(wanted, -1.0, 1.0) + moved).astype(dtype)[:, None]

    return act
