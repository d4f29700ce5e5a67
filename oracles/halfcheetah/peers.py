"""Other implementations that `twinstep bench halfcheetah` measures along with the candidates.

Those not installed here run in their own virtual environment (`make trainers ARGS=peers`).
"""

from __future__ import annotations

from functools import partial

from twinstep.bench.baselines import Baseline
from twinstep.oracles.halfcheetah.peer_environments import Brax, EnvPool
from twinstep.oracles.halfcheetah.peer_physics import MjBatch, MjStep, Mjx, Rollout

#: The fewest iterations and line-search iterations within gate B's maxima, as this prints
#: (on a CPU): python -m twinstep.oracles.halfcheetah.mjx_tuning
TUNED = (6, 3)
_MJX = "float32; the reference's XML"
_BRAX = {
    "generalized": "another contact solver; torso and shins pass through the floor",
    "spring": "16 substeps, other gears; torso and shins pass through the floor",
}
_AGAIN = "; every episode of a lane begins as its first"
#: The implementations that `twinstep bench` can measure along with the candidates.
PEERS = (
    Baseline("mj_step", "mujoco", MjStep, "physics", "reference", "a Python loop over lanes"),
    Baseline(
        "mujoco.rollout", "mujoco.rollout", Rollout, "physics", "reference", "all steps in one call"
    ),
    Baseline("mjbatch", "mjbatch", MjBatch, "physics", "same", "one call a step"),
    *(
        Baseline(
            f"MJX, {n}/{ls} iterations",
            "mujoco.mjx",
            partial(Mjx, iterations=n, searches=ls),
            "physics",
            "same",
            f"{_MJX}, {why}",
            work_at_most=1 << 11,
        )
        for (n, ls), why in (
            ((100, 50), "with its iterations"),
            (TUNED, "with the fewest iterations within gate B's maxima"),
        )
    ),
    Baseline(
        "EnvPool HalfCheetah-v4",
        "envpool",
        EnvPool,
        "environment",
        "another",
        "links MuJoCo 3.6.0; float32 rewards; starts of its own; an ended lane resets a step later",
    ),
    *(
        Baseline(
            f"Brax halfcheetah, {backend}",
            "brax.envs",
            partial(Brax, backend=backend),
            "environment",
            "another",
            note + _AGAIN,
            work_at_most=1 << 13,
        )
        for backend, note in _BRAX.items()
    ),
)
