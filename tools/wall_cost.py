"""Measure what a candidate's walls cost: steps/s in this process and in its own, side by side.

`.venv/bin/python tools/wall_cost.py ENV [ROUNDS]` plays rollouts of random actions with each
candidate of an environment's first variant, in turn in this process, in a process of its own
without walls, and behind them. It prints the time until the first frame, and medians with the
least and the most.
"""

import statistics
import sys
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

from twinstep._lib import machine
from twinstep.inputs.batching import WINDOW, chunk_lanes
from twinstep.inputs.sampling import sample_actions, some_starts
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.runner import remote
from twinstep.runner.runner import Runner
from twinstep.walls.standing import Standing, standing


def built(make: Callable[[Pair], Runner], pair: Pair, walls: bool) -> Runner:
    """Return a pair's runner, without walls where none are wanted."""
    found = standing() if walls else Standing(False, "not asked for")
    with mock.patch.object(remote, "standing", return_value=found):
        return make(pair)


def seconds(runner: Runner, lanes: int, actions: np.ndarray) -> float:
    """Return the seconds of one rollout from a reset."""
    state, _ = runner.reset(some_starts(runner.contract, lanes))
    begin = time.perf_counter()
    runner.rollout(state, actions)
    return time.perf_counter() - begin


def main() -> None:
    """Measure and print."""
    name, rounds = sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 7
    env = registry.environment(name)
    print(machine.made())
    print(standing())
    ways = {"in this process": (Runner.of, False), "apart": (Runner.isolated, False),
            "behind walls": (Runner.isolated, True)}  # fmt: skip
    for candidate in env.candidates:
        pair = Pair(EnvVariant(env, env.variants[0]), candidate)
        contract = pair.subject.contract
        lanes = chunk_lanes(contract)
        rng = np.random.default_rng(0)
        actions = np.stack([sample_actions(contract, lanes, rng) for _ in range(WINDOW)])
        runners, starts = {}, {}
        for way, (make, walls) in ways.items():
            begin = time.perf_counter()
            runners[way] = built(make, pair, walls)
            seconds(runners[way], lanes, actions)
            starts[way] = time.perf_counter() - begin
        taken = {way: [] for way in ways}
        for _ in range(rounds):
            for way, runner in runners.items():
                taken[way].append(seconds(runner, lanes, actions))
        for way, times in taken.items():
            speeds = sorted(lanes * WINDOW / t for t in times)
            print(
                f"{pair.label}, {lanes} lanes, {way}: first rollout after {starts[way]:.1f} s, "
                f"{statistics.median(speeds):,.0f} steps/s ({speeds[0]:,.0f} to {speeds[-1]:,.0f})"
            )


if __name__ == "__main__":
    main()
