"""Find the fewest iterations of MJX's solver and line search that gate B's maxima allow.

`python -m twinstep.oracles.halfcheetah.mjx_tuning`, with the Python of `make trainers ARGS=peers`,
compares MJX in float32 with single steps of the oracle from the oracle's own states. Only gate B's
maxima apply: MJX leaves 1e-3 more often than a candidate may, however many its iterations.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

from twinstep import drivers
from twinstep.compare.arrays import error
from twinstep.contract import Contract
from twinstep.env.timestep import lane_seeds
from twinstep.frames import Fields, Start
from twinstep.gates import Resync
from twinstep.oracles.halfcheetah import bridge
from twinstep.oracles.halfcheetah.peer_physics import SKIP, STATE, mjx_step, model_of
from twinstep.project.registry import variant_of

#: The settings to try: MuJoCo's own, then fewer.
GRID = ((100, 50), (12, 10), *((n, 4) for n in (8, 6, 5, 4, 3, 2, 1)), (6, 3), (6, 2), (6, 1))
_SEED = 1 << 20  # of the first episode to try them in


class _Recorded(NamedTuple):
    """Single steps of the oracle, T x N: start states, actions f32[T, N, 6], results."""

    states: Fields
    actions: np.ndarray
    after: Fields


def _recorded(contract: Contract, episodes: int, steps: int) -> _Recorded:
    """Play random episodes of the oracle; a state's fields are f64[T, N, 9]."""
    start = Start(lane_seeds(_SEED, episodes), {})
    act = drivers.random(contract, start)
    lanes = bridge.HalfCheetahLanes(contract, episodes, 1)
    frames, actions = [lanes.reset(start)], []
    for t in range(steps):
        actions.append(act(frames[-1], t))
        frames.append(lanes.step(actions[-1], np.ones(episodes, bool)))
    fields = {name: np.stack([frame.state[name] for frame in frames]) for name in STATE}
    rewards = np.stack([frame.reward[:, 0] for frame in frames[1:]])
    return _Recorded(
        {name: rows[:-1] for name, rows in fields.items()},
        np.stack(actions)[:, :, 0],
        {f"state.{name}": fields[name][1:] for name in STATE[:2]} | {"reward": rewards},
    )


def _tried(model: Any, setting: tuple[int, int], recorded: _Recorded) -> tuple[Fields, float]:
    """Return each path's worst error of every step, f64[T, N], and MJX's steps per second."""
    import jax

    step = jax.jit(jax.vmap(mjx_step(model, *setting)))
    states = {name: rows.astype(np.float32) for name, rows in recorded.states.items()}
    rows = [{n: v[t] for n, v in states.items()} for t in range(len(recorded.actions))]
    jax.block_until_ready(step(rows[0], recorded.actions[0]))
    begun = time.perf_counter()
    found = jax.device_get([step(*each) for each in zip(rows, recorded.actions, strict=True)])
    rate = recorded.actions[..., 0].size / (time.perf_counter() - begun)
    after = {f"state.{n}": np.stack([row[n] for row in found]) for n in STATE[:2]}
    moved = (after["state.qpos"] - states["qpos"])[..., 0] / np.float32(SKIP * model.opt.timestep)
    after["reward"] = moved - np.float32(0.1) * (recorded.actions**2).sum(-1)
    errors = {path: error(recorded.after[path], values) for path, values in after.items()}
    return {n: e.max(-1) if e.ndim > 2 else e for n, e in errors.items()}, rate


def _passes(contract: Contract, errors: Fields, platform: str) -> bool:
    """Return whether every error is within the contract's maximum for a float32 candidate."""
    for path, seen in errors.items():
        gate = contract.gate(path, candidate="mjx", dtype="float32", platform=platform)
        assert isinstance(gate, Resync)
        if not seen.max() <= gate.max:
            return False
    return True


def main() -> None:
    """Print how MJX with few iterations compares with gate B's maxima."""
    parser = argparse.ArgumentParser(
        prog="python -m twinstep.oracles.halfcheetah.mjx_tuning", description=__doc__
    )
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--steps", type=int, default=250, help="of each episode (default 250)")
    parser.add_argument("--grid", type=_pair, nargs="+", default=GRID, metavar="ITERATIONS/LS")
    args = parser.parse_args()
    import jax

    contract = variant_of("halfcheetah", "").contract
    recorded, platform = _recorded(contract, args.episodes, args.steps), jax.default_backend()
    count = args.episodes * args.steps
    print(f"MJX float32 on {platform}, {count:,} single steps from the oracle's states:\n")
    print(
        "| iterations/line search | qvel max | > 1e-3 | qpos max | reward max | gate B | steps/s |"
    )
    print("|---|---|---|---|---|---|---|")
    for setting in args.grid:
        errors, rate = _tried(model_of(contract), setting, recorded)
        qvel, qpos, reward = (errors[n] for n in ("state.qvel", "state.qpos", "reward"))
        print(
            f"| {setting[0]}/{setting[1]} | {qvel.max():.1e} | {(qvel > 1e-3).mean():.2%} "
            f"| {qpos.max():.1e} | {reward.max():.1e} "
            f"| {'passes' if _passes(contract, errors, platform) else 'fails'} | {rate:,.0f} |",
            flush=True,
        )


def _pair(text: str) -> tuple[int, int]:
    iterations, _, searches = text.partition("/")
    return int(iterations), int(searches)


if __name__ == "__main__":
    main()
