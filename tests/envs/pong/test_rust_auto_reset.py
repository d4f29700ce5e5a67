"""Rust Pong under auto-reset: `auto_rollout` against step and restart, and against the reference.

All comparisons are exact to the bit, in every field and at every step.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from twinstep.candidates.pong.rust_pong import PongRust, probe
from twinstep.contract import Contract
from twinstep.contracts.pong.declaration import PONG
from twinstep.errors import OracleMissing
from twinstep.frames import Frame, Start, flatten, unflatten
from twinstep.inputs import sampling

#: Variant -> steps: short games, and enough steps for many to end.
STEPS = {"fs8": 1500, "fs1": 2500, "fs8-cont": 1500, "fs1-cont": 2500}
LANES = 70  # a full block and a part of one
MODES = ("same-step", "next-step")


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if problem := probe({}).problem:
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(problem)
        pytest.skip(problem)


def contract_of(variant: str, **params: object) -> Contract:
    chosen = next(v.params for v in PONG.variants if v.name == variant)
    return PONG.contract(PONG.params({"max_score": 3, **chosen, **params}))


def starts(count: int) -> Start:
    return Start(np.stack([np.arange(count), np.full(count, 7)], -1).astype(np.uint32))


def actions_of(contract: Contract, steps: int, lanes: int) -> np.ndarray:
    """Actions [T, N, 1], each held for a while so that paddles reach their limits."""
    rng = np.random.default_rng(0)
    drawn = sampling.sample_actions(contract, steps * lanes, rng).reshape(steps, lanes, 1)
    hold = rng.integers(0, 6, (steps, lanes, 1)) != 0
    for t in range(1, steps):
        drawn[t] = np.where(hold[t], drawn[t - 1], drawn[t])
    return drawn


def rollout(
    contract: Contract, actions: np.ndarray, mode: str = "same-step"
) -> dict[str, np.ndarray]:
    """Return every array [T, N, ...] of a rollout from `starts`, `final_obs` too."""
    rust = PongRust(contract)
    state, _ = rust.reset(starts(actions.shape[1]))
    _, frame, final = rust.auto_rollout(state, actions, mode)
    assert final is not None
    return {**flatten(frame), "final_obs": final}


def merged(yes: Frame, no: Frame, which: np.ndarray) -> Frame:
    """Return lanes `which` of one frame, the others of another."""
    other = flatten(no)
    return unflatten(
        {
            path: np.where(which.reshape(-1, *[1] * (value.ndim - 1)), value, other[path])
            for path, value in flatten(yes).items()
            if path in other
        }
    )


def row(frame: Frame, final_obs: np.ndarray) -> dict[str, np.ndarray]:
    return {**flatten(frame), "final_obs": final_obs}


def assert_rows_equal(
    got: dict[str, np.ndarray], expected: Iterator[dict[str, np.ndarray]], least: int
) -> None:
    """Require every path of a rollout to equal the rows, and at least `least` ended episodes."""
    steps = len(got["reward"])
    for t, want in zip(range(steps), expected, strict=True):
        assert got.keys() <= want.keys()
        for path, values in got.items():
            assert values.dtype == want[path].dtype, path
            same = values[t].tobytes() == np.ascontiguousarray(want[path]).tobytes()
            assert same, f"{path} differs at step {t}"
    assert got["terminated"].sum() >= least


def by_hand_same_step(contract: Contract, actions: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
    """Return rows made of `step` and a `restart` of exactly the lanes that ended."""
    rust = PongRust(contract)
    state, _ = rust.reset(starts(actions.shape[1]))
    for action in actions:
        state, last = rust.step(state, action)
        _, first = rust.restart(rust.copy(state))
        begun = merged(first, last, last.terminated)
        yield row(begun._replace(reward=last.reward, terminated=last.terminated), last.obs)
        state = rust.load(begun.state)


def by_hand_next_step(contract: Contract, actions: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
    """Return rows made of `step`, and of `restart` in lanes that ended in the step before."""
    rust = PongRust(contract)
    state, frame = rust.reset(starts(actions.shape[1]))
    for action in actions:
        _, first = rust.restart(rust.copy(state))
        _, last = rust.step(state, action)
        frame = merged(first, last, frame.terminated)
        yield row(frame, frame.obs)
        state = rust.load(frame.state)


@pytest.mark.parametrize("variant", STEPS)
def test_a_rollout_is_steps_and_a_restart_of_exactly_the_lanes_that_ended(variant: str) -> None:
    contract = contract_of(variant)
    actions = actions_of(contract, STEPS[variant], LANES)
    expected = by_hand_same_step(contract, actions)
    assert_rows_equal(rollout(contract, actions), expected, least=500)


@pytest.mark.parametrize("variant", ["fs8", "fs1-cont"])
def test_with_next_step_lanes_that_ended_restart_instead_of_playing(variant: str) -> None:
    contract = contract_of(variant)
    actions = actions_of(contract, STEPS[variant], LANES)
    expected = by_hand_next_step(contract, actions)
    assert_rows_equal(rollout(contract, actions, "next-step"), expected, least=500)


def reference(
    contract: Contract, actions: np.ndarray, mode: str
) -> Iterator[dict[str, np.ndarray]]:
    """Return the reference's rows when its ended lanes are restarted."""
    from twinstep.oracles.pong.bridge import PongOracle

    lanes = PongOracle(contract).lanes(actions.shape[1])
    last = lanes.reset(starts(actions.shape[1]))
    for action in actions:
        if mode == "same-step":
            last = lanes.step(action, np.ones(len(action), bool))
            first = lanes.restart(np.flatnonzero(last.terminated))
            yield row(
                first._replace(reward=last.reward, terminated=last.terminated),
                last.obs,
            )
        else:
            waiting = last.terminated
            lanes.step(action, ~waiting)
            last = lanes.restart(np.flatnonzero(waiting))
            yield row(last, last.obs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("variant", STEPS)
def test_a_rollout_is_the_reference_with_its_own_restart(variant: str, mode: str) -> None:
    contract = contract_of(variant)
    actions = actions_of(contract, STEPS[variant], LANES)
    try:
        expected = list(reference(contract, actions, mode))
    except OracleMissing as missing:
        if os.environ.get("CI", "").lower() in ("true", "1"):
            raise
        pytest.skip(str(missing))
    got = rollout(contract, actions, mode)
    assert {path for path in expected[0] if path not in got} == {"state.log"}
    assert_rows_equal(got, iter(expected), least=500)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_a_lane_plays_the_same_in_a_batch_of_any_size(count: int, mode: str) -> None:
    contract = contract_of("fs8")
    actions = actions_of(contract, 400, 200)
    whole = rollout(contract, actions, mode)
    part = rollout(contract, actions[:, :count], mode)
    for path, values in part.items():
        assert values.tobytes() == whole[path][:, :count].tobytes(), path
    assert part["terminated"].sum() >= count


DIGEST = "from twinstep.tests.envs.pong.test_rust_auto_reset import digest; print(digest())"


def digest() -> str:
    """Return a hash of a rollout of many blocks."""
    contract = contract_of("fs8")
    total = hashlib.sha256()
    for mode in MODES:
        for path, values in sorted(rollout(contract, actions_of(contract, 80, 1200), mode).items()):
            total.update(path.encode() + np.ascontiguousarray(values).tobytes())
    return total.hexdigest()


def test_the_number_of_threads_changes_nothing() -> None:
    said = set()
    for threads in ("1", "2", "5"):
        env = {**os.environ, "RAYON_NUM_THREADS": threads}
        command = [sys.executable, "-c", DIGEST]
        said.add(subprocess.run(command, env=env, check=True, capture_output=True).stdout)
    assert said == {f"{digest()}\n".encode()}


@pytest.mark.parametrize("mode", MODES)
def test_a_rollout_is_its_steps(mode: str) -> None:
    contract = contract_of("fs8")
    actions = actions_of(contract, 300, LANES)

    def singly() -> Iterator[dict[str, np.ndarray]]:
        rust = PongRust(contract)
        state, _ = rust.reset(starts(LANES))
        for action in actions:
            state, frame, final = rust.auto_step(state, action, mode)
            assert final is not None
            yield row(frame, final)

    assert_rows_equal(rollout(contract, actions, mode), singly(), least=100)


def test_the_caller_chooses_which_arrays_are_written() -> None:
    contract = contract_of("fs8")
    actions = actions_of(contract, 300, LANES)
    full = rollout(contract, actions)
    rust = PongRust(contract)

    minimal = rust.buffers((300, LANES), minimal=True)
    assert minimal.keys() == {"obs", "reward", "terminated"}
    _, frame, final = rust.auto_rollout(rust.reset(starts(LANES))[0], actions, out=minimal)
    assert final is None
    assert frame.state.keys() == {"last_obs"}
    for path in ("obs", "reward", "terminated"):
        assert np.shares_memory(flatten(frame)[path], minimal[path])
        assert flatten(frame)[path].tobytes() == full[path].tobytes(), path

    out = rust.buffers((300, LANES), minimal=True, final_obs=True) | {
        "draws": np.empty((300, LANES), np.uint32)
    }
    _, frame, final = rust.auto_rollout(rust.reset(starts(LANES))[0], actions, out=out)
    assert final is not None
    assert np.shares_memory(final, out["final_obs"])
    assert final.shape == (300, LANES, 1, 8)
    assert final.tobytes() == full["final_obs"].tobytes() != full["obs"].tobytes()
    assert frame.state["draws"].tobytes() == full["state.draws"].tobytes()

    state, _ = rust.reset(starts(LANES))
    once = rust.buffers((LANES,), minimal=True)
    for t, action in enumerate(actions):
        state, frame, final = rust.auto_step(state, action, out=once)
        assert final is None
        assert np.shares_memory(frame.obs, once["obs"])
        assert frame.obs.tobytes() == full["obs"][t].tobytes()
        assert frame.reward.tobytes() == full["reward"][t].tobytes()


def test_the_present_frame_plays_nothing_and_is_a_first_one_where_a_lane_restarted() -> None:
    contract = contract_of("fs8")
    rust = PongRust(contract)
    state, first = rust.reset(starts(LANES))
    assert_rows_equal(
        {path: value[None] for path, value in flatten(first).items()},
        iter([flatten(rust.frame(state))]),
        least=0,
    )
    ended = 0
    for action in actions_of(contract, 300, LANES):
        state, played, _ = rust.auto_step(state, action)
        over = played.terminated
        expected = played._replace(
            reward=np.where(over[:, None], np.float32(0), played.reward),
            terminated=np.zeros_like(over),
        )
        now = [{p: v[None] for p, v in flatten(rust.frame(state)).items()} for _ in range(2)]
        for got in now:
            assert_rows_equal(got, iter([flatten(expected)]), least=0)
        ended += over.sum()
    assert ended > 100


def test_another_kind_of_auto_reset_is_refused() -> None:
    contract = contract_of("fs8")
    rust = PongRust(contract)
    state, _ = rust.reset(starts(2))
    with pytest.raises(ValueError, match="auto_reset: later"):
        rust.auto_step(state, actions_of(contract, 1, 2)[0], "later")
