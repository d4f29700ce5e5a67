"""The state of one cheetah."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any  # jax.Array

#: Substeps of the physics in one step of the environment (Gymnasium's frame_skip).
SUBSTEPS = 5
#: Cost of the squared controls (Gymnasium's ctrl_cost_weight).
CONTROL_COST = 0.1


class State(NamedTuple):
    """qpos, qvel, qacc_warmstart [9], float32 or float64; elapsed i32[]: steps played.

    reward is the last step's.
    """

    qpos: Array
    qvel: Array
    qacc_warmstart: Array
    elapsed: Array
    reward: Array
