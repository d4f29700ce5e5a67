"""Batches of Game Boys in Rust: lanes, threads, auto-reset, copies, states, rewards, memory.

All comparisons are exact to the bit, in every field and at every step.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.memory import Bits, Change, New, Rules, Value
from twinstep.tests.support.game_boys import (
    MEMORY,
    Boys,
    actions_of,
    assert_equal,
    need_the_module,
    place,
    seeds,
)

MODES = ("off", "same-step", "next-step")
#: Few frames, and short episodes: catch ends by itself, and by the limit.
SHORT: dict[str, Any] = {"frame_skip": 60, "max_episode_steps": 10}


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    need_the_module()


def test_a_batch_is_its_lanes_one_by_one() -> None:
    actions = actions_of("catch", 16, 5)
    for mode in MODES:
        whole = Boys.begin("catch", seeds(5), **SHORT).rollout(actions, mode)
        for lane in range(5):
            alone = Boys.begin("catch", seeds(5)[lane : lane + 1], **SHORT)
            one = alone.rollout(actions[:, lane : lane + 1], mode)
            assert_equal(one, {k: v[:, lane : lane + 1] for k, v in whole.items()}, (mode, lane))


@pytest.mark.parametrize("mode", MODES)
def test_a_rollout_is_its_steps(mode: str) -> None:
    actions = actions_of("breakout", 14, 3)
    whole = Boys.begin("breakout", seeds(3), **SHORT).rollout(actions, mode)
    boys = Boys.begin("breakout", seeds(3), **SHORT)
    for t, action in enumerate(actions):
        assert_equal(boys.step(action, mode), {k: v[t] for k, v in whole.items()}, t)


DIGEST = "from twinstep.tests.envs.emurust.test_rust_engine import digest; print(digest())"


def digest() -> str:
    """Hash of rollouts of many lanes."""
    total = hashlib.sha256()
    for mode in MODES:
        played = Boys.begin("catch", seeds(64), **SHORT).rollout(actions_of("catch", 5, 64), mode)
        for name, values in sorted(played.items()):
            total.update(name.encode() + values.tobytes())
    return total.hexdigest()


def test_the_number_of_threads_changes_nothing() -> None:
    said = set()
    for threads in ("1", "2", "5"):
        env = {**os.environ, "RAYON_NUM_THREADS": threads}
        command = [sys.executable, "-c", DIGEST]
        said.add(subprocess.run(command, env=env, check=True, capture_output=True).stdout)
    assert said == {f"{digest()}\n".encode()}


def fresh_frame(lane: Boys) -> dict[str, np.ndarray]:
    """The first frame of an episode as a step gives it."""
    first = lane.look()
    return first | {"final_obs": first["obs"]}


@pytest.mark.parametrize("mode", ["same-step", "next-step"])
def test_auto_reset_is_a_reset_by_hand_of_the_lanes_that_ended(mode: str) -> None:
    actions = actions_of("catch", 50, 4)
    played = Boys.begin("catch", seeds(4), **SHORT).rollout(actions, mode)
    ends = np.zeros(2, int)
    for lane in range(4):
        seed = seeds(4)[lane : lane + 1].copy()
        boys, waits = Boys.begin("catch", seed, **SHORT), False
        for t in range(len(actions)):
            if waits:
                seed[0, 1] += 1
                boys = Boys.begin("catch", seed, **SHORT)
                row, waits = fresh_frame(boys), False
            else:
                row = boys.step(actions[t, lane : lane + 1])
                ends += [row["terminated"][0], row["truncated"][0]]
                if row["terminated"][0] or row["truncated"][0]:
                    waits = mode == "next-step"
                    if mode == "same-step":
                        seed[0, 1] += 1
                        boys = Boys.begin("catch", seed, **SHORT)
                        own = ("reward", "terminated", "truncated", "final_obs")
                        row = fresh_frame(boys) | {name: row[name] for name in own}
            got = {name: values[t, lane : lane + 1] for name, values in played.items()}
            assert_equal(got, row, (lane, t))
    assert all(ends > 0), "episodes of both kinds"
    assert (np.unpackbits(played["seen"], -1).sum(-1) > 3).any(), "something is remembered"


def test_the_present_frame_is_a_first_one_where_a_lane_was_reset() -> None:
    boys, ended = Boys.begin("catch", seeds(4), **SHORT), 0
    for action in actions_of("catch", 15, 4):
        played = boys.step(action, "same-step")
        over = played["terminated"] | played["truncated"]
        del played["final_obs"]
        for name in ("reward", "terminated", "truncated"):
            played[name][over] = 0
        assert_equal(boys.look(), played, "now")
        ended += over.sum()
    assert ended > 3


def test_an_episode_is_cut_after_its_last_step() -> None:
    boys = Boys.begin("explorer", seeds(1), max_episode_steps=3)
    played = boys.rollout(actions_of("explorer", 5, 1))
    assert played["truncated"][:, 0].tolist() == [False, False, True, True, True]
    assert played["elapsed"][:, 0].tolist() == [1, 2, 3, 4, 5]
    assert not played["terminated"].any()


def test_the_next_seed_counts_up_its_second_word() -> None:
    beginning = seeds(2)
    beginning[1, 1] = 2**32 - 1
    boys = Boys.begin("catch", beginning, **SHORT | {"max_episode_steps": 1})
    boys.rollout(actions_of("catch", 3, 2), "same-step")
    assert boys.batch.seed.tolist() == [[0, 6], [1, 2]]


@pytest.mark.parametrize("game", GAMES)
def test_copies_and_loaded_states_go_on_as_the_one_they_come_from(game: str) -> None:
    actions = actions_of(game, 8, 3)
    boys = Boys.begin(game, seeds(3), frame_skip=7)
    for t in range(4):
        boys.step(actions[t])
    copy, state = boys.copy(), boys.look()
    assert_equal(copy.look(), state, "at once")
    expected = boys.rollout(actions[4:])
    assert_equal(copy.rollout(actions[4:]), expected, "copy")
    loaded = boys.load(state, seeds=seeds(3, 7))
    assert loaded.batch.seed.tolist() == seeds(3, 7).tolist()
    again = {k: v for k, v in loaded.look().items() if k not in ("reward", "terminated")}
    assert_equal(again, {name: state[name] for name in again}, "loaded")
    assert_equal(loaded.rollout(actions[4:]), expected, "load")


def test_a_copy_is_not_changed_by_what_comes_after() -> None:
    boys = Boys.begin("catch", seeds(2))
    copy, before = boys.copy(), boys.look()
    boys.step(np.array([1, 2]))
    assert_equal(copy.look(), before, "copy")
    assert boys.look()["cycles"].tolist() != before["cycles"].tolist()


def test_looking_changes_nothing() -> None:
    actions = actions_of("poll_stat", 6, 2)
    boys, other = (Boys.begin("poll_stat", seeds(2), frame_skip=3) for _ in range(2))
    for t, action in enumerate(actions):
        other.look()
        assert_equal(other.step(action), boys.step(action), t)


def test_observations_are_the_screen_half_of_it_or_values() -> None:
    values = tuple(place(value) for value in GAMES["explorer"].rules.observed.values())
    width = sum(size for _, size in values)
    actions = actions_of("explorer", 4, 2)
    full = Boys.begin("explorer", seeds(2)).rollout(actions)
    assert np.array_equal(full["obs"], full["screen"])
    assert len(np.unique(full["obs"])) == 4
    half = Boys.begin("explorer", seeds(2), observe="half", width=(72, 80)).rollout(actions)
    assert np.array_equal(half["obs"], full["screen"][..., ::2, ::2])
    few = Boys.begin("explorer", seeds(2), observe=list(values), width=(width,)).rollout(actions)
    for t, lane in np.ndindex(4, 2):
        memory = full["wram"][t, lane]
        shown = [memory[address - 0xC000 + byte] for address, n in values for byte in range(n)]
        assert few["obs"][t, lane].tolist() == shown


#: Of explorer: the player's place, frames left, cells seen, cells as bits.
X, LEFT, SEEN = Value(0xC103), Value(0xC10A, 2), Value(0xC100, 2)
PARTS = (
    New((X, Value(0xC104)), 0.01),
    New((LEFT,), 0.5),
    Bits(Value(0xC200, 128), 5.0),
    Change(SEEN, 1.0),
    Change(LEFT, 1e-3),
    Change(X, -0.25),
    Change(Value(0xC105, 2), 1e-6),
    Change(Value(0xC400, 8), 1e-9),
)


def has_had(memory: np.ndarray, wram: np.ndarray, values: tuple[Value, ...]) -> bool:
    """Return whether a New's memory u8[4096] has these values; they are in it afterwards."""
    state = 0x811C9DC5
    for value in values:
        for byte in range(value.size):
            state = (state ^ int(wram[value.address - 0xC000 + byte])) * 0x01000193 % 2**32
    bit = (state ^ state >> 16) % (8 * MEMORY)
    had = memory[bit // 8] >> bit % 8 & 1
    memory[bit // 8] |= 1 << bit % 8
    return bool(had)


def number(wram: np.ndarray, value: Value) -> int:
    first = value.address - 0xC000
    return int.from_bytes(wram[first : first + value.size].tobytes(), "little")


def test_rewards_are_made_of_the_memory_before_and_after_a_step() -> None:
    rules = Rules(reward=PARTS, actions=GAMES["explorer"].rules.actions)
    boys = Boys.begin("explorer", seeds(1), rules=rules)
    before, seen = boys.look()["wram"][0], np.zeros((2, MEMORY), np.uint8)
    for memory, each in zip(seen, PARTS, strict=False):
        assert isinstance(each, New)
        has_had(memory, before, each.values)
    said = set()
    for action in actions_of("explorer", 40):
        row = boys.step(np.array([action]))
        after, total, memories = row["wram"][0], 0.0, iter(seen)
        for each in PARTS:
            if isinstance(each, New):
                total += each.weight * (not has_had(next(memories), after, each.values))
            elif isinstance(each, Bits):
                bits = [number(wram, each.value).bit_count() for wram in (before, after)]
                total += each.weight * (bits[1] - bits[0])
            else:
                total += each(number(before, each.value), number(after, each.value))
        assert row["reward"][0] == np.float32(total)
        assert np.array_equal(row["seen"][0], seen)
        said.add(float(row["reward"][0]))
        before = after
    assert len(said) > 10


def test_a_count_to_the_middle_of_its_range_counts_down() -> None:
    """As Python's Change computes it, at every difference of a byte."""
    assert {Change(X)(200, (200 + d) % 256) for d in range(256)} == set(range(-128, 128))


MEMORY_USED = """
import numpy as np
from twinstep.tests.support.game_boys import Boys, seeds
def used():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
few = Boys.begin("catch", seeds(4))
before = used()
many = Boys.begin("catch", seeds(1000))
many.batch.step(np.zeros(1000, np.int32), {})
print((used() - before) / 1000)
"""


def test_a_lane_takes_less_than_64_kb() -> None:
    run = subprocess.run([sys.executable, "-c", MEMORY_USED], check=True, capture_output=True)
    # With 8 KB of cartridge RAM. The ROM exists once.
    assert 40_000 < float(run.stdout) < 65_536
