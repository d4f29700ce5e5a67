"""The bridge to PufferLib's Pong returns the real C's results."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from twinstep._lib import paths
from twinstep.contract import Contract
from twinstep.contracts.pong import STOCK_DRAWS, glibc_rand
from twinstep.contracts.pong.declaration import PONG
from twinstep.errors import OracleMissing
from twinstep.frames import Frame, Start, flatten, take_lanes
from twinstep.inputs import sampling
from twinstep.oracles.pong import upstream
from twinstep.oracles.pong.bridge import Library, PongLanes, PongOracle
from twinstep.protocols import NotCallable
from twinstep.rollouts.pong.drivers import tracking

VARIANTS = {variant.name: variant.params for variant in PONG.variants}
HASHED = [name for name in VARIANTS if name != "stock"]


@pytest.fixture(scope="module", autouse=True)
def _reference() -> None:
    try:
        upstream.ensure(False)
    except OracleMissing as missing:
        if os.environ.get("CI", "").lower() in ("true", "1"):
            raise
        pytest.skip(str(missing))


def contract_of(variant: str, **params: object) -> Contract:
    return PONG.contract(PONG.params({**VARIANTS[variant], **params}))


def starts(count: int) -> Start:
    return Start(np.stack([np.arange(count), np.full(count, 7)], -1).astype(np.uint32))


def actions_of(contract: Contract, steps: int, lanes: int, seed: int = 0) -> np.ndarray:
    """Actions [T, N, 1], each held for a while so that paddles reach their limits."""
    rng = np.random.default_rng(seed)
    drawn = sampling.sample_actions(contract, steps * lanes, rng).reshape(steps, lanes, 1)
    hold = rng.integers(0, 6, (steps, lanes, 1)) != 0
    for t in range(1, steps):
        drawn[t] = np.where(hold[t], drawn[t - 1], drawn[t])
    return drawn


def assert_same(a: Frame, b: Frame, but: tuple[str, ...] = (), lanes: object = ...) -> None:
    left, right = flatten(a), flatten(b)
    assert left.keys() == right.keys()
    for path, value in left.items():
        if path not in but:
            one, two = np.asarray(value)[lanes], np.asarray(right[path])[lanes]
            assert one.dtype == two.dtype, path
            assert one.tobytes() == two.tobytes(), path


# ---- the reference as published -----------------------------------------------------------


def test_the_compiled_files_are_the_pinned_ones() -> None:
    folder = upstream.ensure_sources()
    for name, (_, sha256) in upstream.FILES.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
    probe = upstream.probe({})
    assert probe.problem == ""
    assert {sha256 for _, sha256 in upstream.FILES.values()} < set(probe.pins.values())


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache that holds the two files and nothing else."""
    held = upstream.ensure_sources()
    inner = held.relative_to(paths.cache_dir())
    monkeypatch.setenv("TWINSTEP_CACHE", str(tmp_path))
    shutil.copytree(held, tmp_path / inner)
    assert upstream.ensure_sources() == tmp_path / inner
    return tmp_path


def test_a_damaged_library_is_made_again(own_cache: Path) -> None:
    built = upstream.ensure(False)
    good = built.read_bytes()
    built.write_bytes(good[:-1])
    again = upstream.ensure(False)
    assert again.read_bytes() == good
    assert again != upstream.ensure(True)


def test_a_damaged_header_is_not_compiled(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = upstream.ensure_sources() / "pong.h"
    header.write_text(header.read_text().replace("+= 1", "+= 2"))
    foreign = tmp_path / "other.tar.gz"
    foreign.write_bytes(b"no archive")
    monkeypatch.setenv(upstream.ARCHIVE_VARIABLE, str(foreign))
    with pytest.raises(OracleMissing, match="sha256"):
        upstream.ensure(False)


def test_what_is_missing_is_said(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "no-such-compiler" in upstream.probe({}).problem
    with pytest.raises(OracleMissing, match="compiler"):
        upstream.ensure(False)
    monkeypatch.delenv("CC")
    shutil.rmtree(upstream.ensure_sources())
    monkeypatch.setenv(upstream.ARCHIVE_VARIABLE, "/no/such/file")
    assert "names no file" in upstream.probe({}).problem
    monkeypatch.delenv(upstream.ARCHIVE_VARIABLE)
    monkeypatch.setattr(upstream.importlib.util, "find_spec", lambda name: None)
    assert "twinstep[pong]" in upstream.probe({}).mend
    with pytest.raises(OracleMissing, match="unearth"):
        upstream.ensure(False)


def test_the_package_index_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://index.invalid/simple")
    assert upstream._index_urls() == ["http://index.invalid/simple"]
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(upstream.sys, "executable", "/bin/false")
    assert upstream._index_urls() == []


# ---- frames, states -----------------------------------------------------------------------


@pytest.mark.parametrize("variant", HASHED)
def test_lanes_equal_scalar_and_keep_to_the_layout(variant: str) -> None:
    contract = contract_of(variant)
    count, steps = 5, 120
    oracle = PongOracle(contract)
    lanes = oracle.lanes(count)
    begin, actions = starts(count), actions_of(contract, steps, count)
    live = np.ones(count, bool)
    side_by_side = [lanes.reset(begin)]
    seen = [lanes.events()]
    for t in range(steps):
        live[1] = t < 50  # a lane that stops does not disturb the others
        side_by_side.append(lanes.step(actions[t], live))
        seen.append(lanes.events())
    for path, (dtype, shape) in contract.layout().items():
        value = flatten(side_by_side[-1])[path]
        assert (value.dtype, value.shape) == (dtype, (count, *shape)), path
    for lane in range(count):
        frame = oracle.reset(take_lanes(begin, lane))
        for t in range(50 if lane == 1 else steps):
            expected = Frame(*[None if h is None else h[lane] for h in side_by_side[t][:-1]], {})
            state = {name: value[lane] for name, value in side_by_side[t].state.items()}
            assert_same(frame, expected._replace(state=state))
            assert (oracle.events() == seen[t][lane]).all()
            frame = oracle.step(actions[t, lane])


def test_events_are_of_the_latest_move_of_each_lane() -> None:
    contract = contract_of("fs8")
    lanes = PongOracle(contract).lanes(40)
    lanes.reset(starts(40))
    assert lanes.events().any()  # flat serves
    lanes.restart(np.arange(40))
    assert not lanes.events().any()
    for action in actions_of(contract, 30, 40):
        lanes.step(action, np.ones(40, bool))
        if lanes.events()[:20].any():
            break
    assert lanes.events()[:20].any()
    lanes.step(action, np.arange(40) >= 20)
    assert not lanes.events()[:20].any()


def test_frames_are_copies() -> None:
    contract = contract_of("fs8")
    oracle = PongOracle(contract)
    first = oracle.reset(take_lanes(starts(1), 0))
    kept = {path: np.array(value) for path, value in flatten(first).items()}
    for action in actions_of(contract, 30, 1):
        oracle.step(action[0])
    for path, value in flatten(first).items():
        assert np.array_equal(value, kept[path]), path


@pytest.mark.parametrize("variant", HASHED)
def test_a_loaded_state_continues_exactly(variant: str) -> None:
    contract = contract_of(variant)
    count, steps = 8, 200
    oracle = PongOracle(contract)
    lanes, other = oracle.lanes(count), oracle.lanes(count)
    frame = lanes.reset(starts(count))
    other.reset(Start(starts(count).seed + np.uint32(99)))
    live = np.ones(count, bool)
    for t, action in enumerate(actions_of(contract, steps, count)):
        if t % 7 == 0:
            back = np.arange(count)[::-1]
            other.load({name: value[back] for name, value in frame.state.items()}, back)
        frame = lanes.step(action, live)
        assert_same(frame, other.step(action, live))
        oracle.load({name: value[3] for name, value in frame.state.items()})
    assert (frame.state["draws"] > 1).any()


def play(lanes: PongLanes, contract: Contract, count: int, steps: int) -> list[Frame]:
    """Play the tracking policy; every lane that ends stays as it is."""
    begin = starts(count)
    act = tracking(contract, begin)
    frames = [lanes.reset(begin)]
    live = np.ones(count, bool)
    for t in range(steps):
        frames.append(lanes.step(act(frames[-1], t), live))
        live &= ~frames[-1].terminated
    return frames


@pytest.mark.parametrize("variant", ["fs1", "fs8", "fs8-cont"])
@pytest.mark.parametrize("score", [1, 3])
def test_the_terminal_frame_is_the_episodes_own(variant: str, score: int) -> None:
    # With one more point to play, the same point is an ordinary one: the reference itself
    # then shows the scores as they stood, the new round and the stale observation.
    short, long = contract_of(variant, max_score=score), contract_of(variant, max_score=score + 9)
    count, steps = 40, 2400 // short.params["frameskip"]
    lanes, further = PongOracle(short).lanes(count), PongOracle(long).lanes(count)
    begin = starts(count)
    actions = actions_of(short, steps, count)
    live = np.ones(count, bool)
    frame, ordinary = lanes.reset(begin), further.reset(begin)
    won = lost = 0
    act = tracking(short, begin)
    for t in range(steps):
        both = np.where(np.arange(count)[:, None] % 2 == 0, act(frame, t), actions[t])
        before = frame
        frame, ordinary = lanes.step(both, live), further.step(both, live)
        assert_same(frame, ordinary, but=("terminated", "state.log"), lanes=live)
        ended = live & frame.terminated
        assert (
            ended
            == (live & ((frame.state["score_l"] == score) | (frame.state["score_r"] == score)))
        ).all()
        if ended.any():
            won += int((frame.reward[ended] == 1).sum())
            lost += int((frame.reward[ended] == -1).sum())
            assert (frame.state["draws"][ended] == before.state["draws"][ended] + 1).all()
            restarted = lanes.restart(np.flatnonzero(ended))
            fresh = restarted.state
            for name in fresh:
                same = fresh[name][ended].tobytes() == frame.state[name][ended].tobytes()
                assert same == (name not in ("score_l", "score_r", "last_obs")) or (
                    name in ("score_l", "score_r") and same and not fresh[name][ended].any()
                ), name
            observed = PongOracle(short).call("observe", fresh)["obs"]
            assert observed[ended].tobytes() == restarted.obs[ended, 0].tobytes()
            assert not restarted.terminated[ended].any()
            assert not restarted.reward[ended].any()
        live &= ~ended
    assert won > 0
    assert lost > 0


def test_a_loaded_terminal_state_restarts_the_same() -> None:
    contract = contract_of("fs8", max_score=1)
    lanes = PongOracle(contract).lanes(30)
    frame = play(lanes, contract, 30, 150)[-1]
    ended = np.flatnonzero(frame.terminated)
    assert len(ended)
    expected = lanes.restart(ended)
    placed = PongOracle(contract).lanes(30)
    placed.load(frame.state, np.arange(30))
    assert_same(placed.restart(ended), expected, lanes=ended)


def test_a_step_of_eight_frames_is_eight_steps_of_one() -> None:
    # Also at points, which end a step early and leave the observation of the frame before.
    long, short = contract_of("fs8", max_score=2), contract_of("fs1", max_score=2)
    count = 30
    eight, one = PongOracle(long).lanes(count), PongOracle(short).lanes(count)
    begin = starts(count)
    act = tracking(long, begin)
    slow, _ = eight.reset(begin), one.reset(begin)
    live = np.ones(count, bool)
    terminal = 0
    for t in range(250):
        action = act(slow, t)
        reward = np.zeros((count, 1), np.float32)
        going = live.copy()
        slow = eight.step(action, live)
        for _ in range(8):
            fast = one.step(action, going)
            reward = np.where(going[:, None] & (fast.reward != 0), fast.reward, reward)
            going &= np.abs(fast.reward[:, 0]) != 1
        but = ("state.tick", "state.log", "reward")
        assert_same(slow, fast, but=but, lanes=live)
        assert (slow.reward == reward)[live].all()
        terminal += int((live & slow.terminated).sum())
        live &= ~slow.terminated
    assert terminal > 5


def test_draws_are_the_contracts_hash() -> None:
    def h32(x: int) -> int:
        x ^= x >> 16
        x = x * 0x7FEB352D & 0xFFFFFFFF
        x ^= x >> 15
        x = x * 0x846CA68B & 0xFFFFFFFF
        return x ^ x >> 16

    contract = contract_of("fs8")
    oracle = PongOracle(contract)
    frame = oracle.reset(Start(np.array([5, 9], np.uint32)))
    key = h32(5 ^ h32(9))
    assert int(frame.state["rng_key"]) == key
    served = {}
    for action in actions_of(contract, 200, 1):
        if frame.state["n_bounces"] == 0 and frame.state["tick"] == 0:
            served[int(frame.state["draws"])] = float(frame.state["ball_vy"])
        frame = oracle.step(action[0])
    assert len(served) > 8
    for draws, vy in served.items():
        draw = h32(key ^ ((draws - 1) * 0x9E3779B9 & 0xFFFFFFFF)) >> 1
        assert vy == draw % 2 - 1


def test_stock_serves_come_from_the_c_librarys_generator() -> None:
    library = ctypes.CDLL(None)
    library.srand(12)
    assert [library.rand() for _ in range(STOCK_DRAWS)] == glibc_rand(12, STOCK_DRAWS).tolist()

    contract = contract_of("stock")
    oracle = PongOracle(contract)
    assert not hasattr(oracle, "load")
    assert not hasattr(oracle, "lanes")
    assert "rng_key" not in contract.layout()
    for seed in (12, 0, 3, 2**32 - 1):
        table = glibc_rand(seed, STOCK_DRAWS)
        frame = oracle.reset(Start(np.array([seed, 1], np.uint32)))
        seen = 0
        point = {name: np.zeros(1) for name in _inputs(contract, "left_side")}
        point |= {"ball_x": np.full(1, -5), "ball_y": np.full(1, 500)}
        assert oracle.call("left_side", point)["point"].all()
        for action in actions_of(contract, 1000, 1, seed % 5):
            oracle.events()  # plays frames again, but draws nothing
            oracle.call("left_side", point)  # a serve follows, of another game
            if seen != int(frame.state["draws"]):
                assert int(frame.state["draws"]) == seen + 1
                assert float(frame.state["ball_vy"]) == int(table[seen]) % 2 - 1
                seen += 1
            if frame.terminated:
                break
            frame = oracle.step(action[0])
        assert frame.terminated
        assert seen > 21
        assert int(oracle.restart().state["draws"]) == seen


def test_stock_differs_from_the_injected_build_in_the_draws_only() -> None:
    # Loaded with each serve of the stock game, the other build continues identically.
    stock, hashed = contract_of("stock"), contract_of("fs8")
    one, two = PongOracle(stock), PongOracle(hashed)
    frame = one.reset(Start(np.array([4, 0], np.uint32)))
    compared = 0
    for action in actions_of(stock, 200, 1):
        two.load({**frame.state, "rng_key": np.uint32(0)})
        frame, other = one.step(action[0]), two.step(action[0])
        state = {name: other.state[name] for name in frame.state}
        served = ("state.ball_vy",) if abs(frame.reward[0]) == 1 else ()
        assert_same(frame, other._replace(state=state), but=served)
        compared += 1
        if frame.terminated:
            break
    assert compared > 100


# ---- events -------------------------------------------------------------------------------


def test_the_events_are_the_contracts() -> None:
    assert Library(False).events == len(contract_of("fs1").events)


@pytest.mark.parametrize("variant", HASHED)
def test_every_event_is_seen(variant: str) -> None:
    contract = contract_of(variant)
    count = 30_000
    lanes = PongOracle(contract).lanes(count)
    rng = np.random.default_rng(1)
    lanes.load(sampling.sample_states(contract, count, rng), np.arange(count))
    assert not lanes.events().any()
    lanes.step(sampling.sample_actions(contract, count, rng), np.ones(count, bool))
    seen = lanes.events().sum(0)
    assert not [name for name, n in zip(contract.events, seen, strict=True) if n == 0]
    assert (seen < count).all()


def test_events_agree_with_what_frames_show() -> None:
    contract = contract_of("fs1")
    count = 20_000
    rng = np.random.default_rng(2)
    before = sampling.sample_states(contract, count, rng)
    actions = sampling.sample_actions(contract, count, rng)
    lanes = PongOracle(contract).lanes(count)
    lanes.load(before, np.arange(count))
    frame = lanes.step(actions, np.ones(count, bool))
    event = dict(zip(contract.events, lanes.events().T, strict=True))
    reward, after = frame.reward[:, 0], frame.state
    moved_y = before["ball_y"] + before["ball_vy"]
    wall = (moved_y < 0) | (moved_y + 32 > 640)
    agent = reward == np.float32(0.1)
    opponent = (np.abs(reward) != 1) & (after["ball_vx"] == -before["ball_vx"]) & ~agent
    direction = np.array([0, 1, -1], np.float32)[actions[:, 0]]
    turned = np.where(wall, -before["ball_vy"], before["ball_vy"]) + 3 * direction
    wanted = before["paddle_yr"] + 8 * direction
    followed = np.clip(before["ball_y"] - before["paddle_yl"] - 35, -8, 8) + before["paddle_yl"]
    expected = {
        "agent_bounce": agent,
        "opponent_bounce": opponent,
        "wall_bounce": wall,
        "corner_bounce": wall & (agent | opponent),
        "point_won": reward == 1,
        "point_lost": reward == -1,
        "game_won": frame.terminated & (reward == 1),
        "game_lost": frame.terminated & (reward == -1),
        "agent_paddle_clipped": (wanted < -35) | (wanted > 605),
        "opponent_paddle_clipped": (followed < -35) | (followed > 605),
        "vy_limited": agent & (np.abs(turned) > 13),
        "flat_ball_lifted": agent & (turned == 0),
        "flat_serve": (np.abs(reward) == 1) & (after["ball_vy"] == 0),
        "ball_clipped_x": agent & (before["ball_x"] + before["ball_vx"] > 468),
        "ball_clipped_y": agent & ((moved_y < 0) | (moved_y > 608)),
    }
    for name in contract.events:
        assert (event[name] == expected[name]).all(), name


# ---- module calls -------------------------------------------------------------------------


def _inputs(contract: Contract, module: str) -> list[str]:
    return [field.name for field in contract.module(module).inputs]


@pytest.mark.parametrize("variant", HASHED)
def test_every_declared_input_can_be_called(variant: str) -> None:
    contract = contract_of(variant)
    oracle = PongOracle(contract)
    rng = np.random.default_rng(3)
    for module in contract.modules:
        outputs = oracle.call(module.name, sampling.sample_module(module, 20_000, rng))
        for field in module.outputs:
            value = outputs[field.name]
            assert (value.dtype, value.shape) == (np.dtype(field.dtype), (20_000, *field.shape))


@pytest.mark.parametrize("variant", ["fs1", "fs1-cont"])
def test_the_modules_in_order_are_the_step(variant: str) -> None:
    contract = contract_of(variant)
    count = 30_000
    rng = np.random.default_rng(4)
    oracle = PongOracle(contract)
    before = sampling.sample_states(contract, count, rng)
    if contract.params["continuous"]:  # where the sides can certainly be called
        for name in ("ball_y", "ball_vy"):
            before[name] = np.round(before[name] * 64) / np.float32(64)
    actions = sampling.sample_actions(contract, count, rng)
    lanes = oracle.lanes(count)
    lanes.load(before, np.arange(count))
    frame = lanes.step(actions, np.ones(count, bool))

    now = {**before, "action": actions[:, 0]}
    now["obs"], now["reward"] = now["last_obs"], np.zeros(count, np.float32)
    now["terminated"] = np.zeros(count, bool)
    now["tick"] = now["tick"] + np.int32(1)
    point = np.zeros(count, bool)
    first = ("agent_paddle", "opponent_paddle", "ball")
    for name in (*first, "left_side", "right_side"):
        # The first three see the ball before its move.
        source = before | {"action": actions[:, 0]} if name in first else now
        outputs = oracle.call(name, {n: source[n] for n in _inputs(contract, name)})
        scored = outputs.pop("point", np.zeros(count, bool))
        if name == "right_side":
            kept = outputs.pop("reward")
            now["reward"] = np.where(kept != 0, kept, now["reward"])
            ended = outputs.pop("terminated")
            now["terminated"] |= ended & ~point
        for path, value in outputs.items():
            now[path] = np.where(point, now[path], value)
        point |= scored
    observed = oracle.call("observe", {n: now[n] for n in _inputs(contract, "observe")})
    now["last_obs"] = np.where(point[:, None], before["last_obs"], observed["obs"])
    served = oracle.call("serve", {n: before[n] for n in _inputs(contract, "serve")})
    for path, value in served.items():
        now[path] = np.where(point, value, now[path])

    assert point.any()
    assert (~point).any()
    for name, value in frame.state.items():
        if name != "log":
            differs = value != now[name]
            assert not differs.any(), (name, np.flatnonzero(differs.reshape(count, -1).any(-1))[:5])
    assert (frame.reward[:, 0] == now["reward"])[~point].all()
    assert (frame.terminated == now["terminated"]).all()


def test_a_bounce_rounds_twice() -> None:
    # A fused multiply-add would round vy + 3 * dir once.
    contract = contract_of("fs1-cont")
    rng = np.random.default_rng(5)
    given = sampling.sample_module(contract.module("right_side"), 50_000, rng)
    outputs = PongOracle(contract).call("right_side", given)
    hit = outputs["reward"] == np.float32(0.1)
    thrice = np.float32(3) * given["paddle_dir"]
    expected = np.clip(given["ball_vy"] + thrice, np.float32(-13), np.float32(13))
    fused = (given["ball_vy"] + 3.0 * given["paddle_dir"].astype(np.float64)).astype(np.float32)
    plain = hit & (np.abs(expected) >= 0.01)
    assert (outputs["ball_vy"][plain] == expected[plain]).all()
    assert (np.clip(fused, -13, 13)[plain] != expected[plain]).any()


def test_inputs_that_no_step_shows_are_refused() -> None:
    contract = contract_of("fs1-cont")
    oracle = PongOracle(contract)
    given = sampling.sample_module(contract.module("right_side"), 10, np.random.default_rng(6))
    # No float32 plus 13 gives this.
    given["ball_y"][3], given["ball_vy"][3] = 0.0010001, 13
    with pytest.raises(NotCallable, match="1 of 10"):
        oracle.call("right_side", given)
    with pytest.raises(KeyError):
        oracle.call("no_module", given)


# ---- the driver ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["fs8", "fs8-cont"])
def test_the_tracking_driver_wins_games_and_gets_the_ball_fast(variant: str) -> None:
    contract = contract_of(variant)
    frames = play(PongOracle(contract).lanes(30), contract, 30, contract.horizon)
    last = frames[-1]
    won = int((last.terminated & (last.state["score_r"] == 21)).sum())
    lost = int((last.terminated & (last.state["score_l"] == 21)).sum())
    assert won > 10
    assert won > 5 * lost
    assert max(np.abs(frame.state["ball_vy"]).max() for frame in frames) == 13


def test_the_tracking_driver_plays_each_lane_alone() -> None:
    contract = contract_of("fs8")
    frames = play(PongOracle(contract).lanes(4), contract, 4, 100)
    begin = starts(4)
    act = tracking(contract, begin)
    alone = tracking(contract, take_lanes(begin, np.array([2])))
    chosen = []
    for t, frame in enumerate(frames):
        heads = [None if head is None else head[2:3] for head in frame[:-1]]
        third = Frame(*heads, {name: value[2:3] for name, value in frame.state.items()})
        chosen.append(act(frame, t))
        assert (alone(third, t) == chosen[-1][2:3]).all()
    assert not (np.stack(chosen)[:, 0] == np.stack(chosen)[:, 1]).all()
