"""Divergence of the reference from itself: `python -m twinstep.oracles.halfcheetah.twins`.

Two copies of MuJoCo play the same actions from starts that differ invisibly little. The printed
table shows why no tolerance is claimed for whole episodes: the copies part, too.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Any

import numpy as np

from twinstep.oracles.halfcheetah import upstream

#: Differences of the copy: added to the start, or applied to its state at each substep.
TWINS = {
    "started 1e-15 off": 1e-15,
    "started 1e-12 off": 1e-12,
    "started 1e-7 off": 1e-7,
    "rounded to float32 at each substep": 0.0,
}
FRAME_SKIP = 5


def horizons(episodes: int, steps: int, eps: float, twin: str) -> np.ndarray:
    """Return each episode's steps until its copy is more than eps away, at most `steps`."""
    import gymnasium

    # Compiled, without types.
    mujoco: Any = importlib.import_module("mujoco")
    env: Any = gymnasium.make("HalfCheetah-v5", disable_env_checker=True).unwrapped
    one, other = mujoco.MjData(env.model), mujoco.MjData(env.model)
    found = np.full(episodes, steps)
    for episode in range(episodes):
        rng = np.random.default_rng(episode)
        env.reset(seed=episode)
        for data in (one, other):
            mujoco.mj_resetData(env.model, data)
            data.qpos[:], data.qvel[:] = env.data.qpos, env.data.qvel
        other.qpos[:] += TWINS[twin]
        for step in range(steps):
            action = rng.uniform(-1, 1, 6)
            for data in (one, other):
                data.ctrl[:] = action
                for _ in range(FRAME_SKIP):
                    if data is other and not TWINS[twin]:
                        data.qpos[:] = data.qpos.astype(np.float32)
                        data.qvel[:] = data.qvel.astype(np.float32)
                    mujoco.mj_step(env.model, data)
            apart = np.abs(one.qpos - other.qpos).max(), np.abs(one.qvel - other.qvel).max()
            if max(apart) > eps:
                found[episode] = step
                break
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m twinstep.oracles.halfcheetah.twins")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--eps", type=float, default=1e-3)
    args = parser.parse_args()
    probe = upstream.probe({})
    if probe.problem:
        parser.exit(4, f"twinstep: {probe.problem}: {probe.mend}\n")
    version = upstream.VERSIONS["mujoco"]
    print(f"MuJoCo {version} against itself, {args.episodes} episodes, random actions:")
    print(f"steps of 1,000 within {args.eps:g} in every position and velocity\n")
    print("| the copy | least | median | most |")
    print("|---|---|---|---|")
    for twin in TWINS:
        steps = horizons(args.episodes, 1000, args.eps, twin)
        print(f"| {twin} | {steps.min()} | {np.median(steps):g} | {steps.max()} |")


if __name__ == "__main__":
    main()
