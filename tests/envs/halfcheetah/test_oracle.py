"""The bridge to Gymnasium's HalfCheetah-v5 returns the real environment's results."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from typing import Any

import numpy as np
import pytest

from twinstep.contract import Contract
from twinstep.contracts.halfcheetah import EDGES
from twinstep.contracts.halfcheetah import contract as make_contract
from twinstep.env.host_engine import OracleEngine, OracleState
from twinstep.env.timestep import StartTable
from twinstep.frames import Frame, Start, flatten, take_lanes, unflatten
from twinstep.oracles.halfcheetah import upstream
from twinstep.tests.support.requirements import need

STATE = ("qpos", "qvel", "qacc_warmstart")


@pytest.fixture(scope="module", autouse=True)
def _reference() -> None:
    need(upstream.probe({}))


# The bridge imports the reference, so it can be imported only where the reference is present.


def contract_of(steps: int = 1000) -> Contract:
    return make_contract({"max_episode_steps": steps})


def oracle_of(contract: Contract) -> Any:
    from twinstep.oracles.halfcheetah.bridge import HalfCheetahOracle

    return HalfCheetahOracle(contract)


def lanes_of(contract: Contract, count: int, threads: int = 2) -> Any:
    from twinstep.oracles.halfcheetah.bridge import HalfCheetahLanes

    return HalfCheetahLanes(contract, count, threads)


def real(steps: int = 1000) -> Any:
    """Return the reference as a user would make it, with all its wrappers."""
    import gymnasium

    return gymnasium.make("HalfCheetah-v5", max_episode_steps=steps)


def starts(count: int) -> Start:
    return Start(np.stack([np.arange(count), np.full(count, 7)], -1).astype(np.uint32))


def actions_of(steps: int, lanes: int, seed: int = 0) -> np.ndarray:
    """Actions f32[T, N, 1, 6], each lane holding its own for another while; some beyond 1."""
    rng = np.random.default_rng(seed)
    drawn = rng.uniform(-1.2, 1.2, (steps, lanes, 1, 6)).astype(np.float32)
    for t in range(1, steps):
        keep = t % (1 + np.arange(lanes) % 7) != 0
        drawn[t, keep] = drawn[t - 1, keep]
    return drawn


def assert_same(a: Frame, b: Frame, lanes: object = ...) -> None:
    left, right = flatten(a), flatten(b)
    assert left.keys() == right.keys()
    for path, value in left.items():
        one, two = np.asarray(value)[lanes], np.asarray(right[path])[lanes]
        assert one.dtype == two.dtype, path
        assert one.tobytes() == two.tobytes(), path


def inputs(contract: Contract, module: str, values: dict[str, Any]) -> dict[str, Any]:
    """Pick a module's inputs; a module's action has no axis of players."""
    chosen = {field.name: values[field.name] for field in contract.module(module).inputs}
    if "action" in chosen:
        chosen["action"] = chosen["action"].reshape(-1, 6)
    return chosen


@pytest.fixture(scope="module")
def placed() -> dict[str, np.ndarray]:
    return oracle_of(contract_of()).places(1500, 3)


# ---- the reference as published -----------------------------------------------------------


def test_it_is_found_without_being_imported() -> None:
    code = (
        "import sys; from twinstep.oracles.halfcheetah import upstream\n"
        "assert not upstream.probe({}).problem\n"
        "assert not {'mujoco', 'gymnasium', 'imageio', 'jax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    good = upstream.probe({})
    assert good.problem == ""
    files = {*upstream.FILES, upstream.LIBRARY}
    assert set(good.pins) == {*upstream.VERSIONS, *files, "numpy", "C library"}

    def missing(name: str) -> Any:
        raise PackageNotFoundError(name)

    with monkeypatch.context() as patch:
        patch.setattr(upstream.importlib.util, "find_spec", lambda name: None)
        assert "imageio is not installed" in upstream.probe({}).problem
    with monkeypatch.context() as patch:
        patch.setattr(upstream, "VERSIONS", {"mujoco": "3.17.0"})
        assert "mujoco is 3.14.0" in upstream.probe({}).problem
        assert upstream.probe({}).mend == 'pip install "twinstep[halfcheetah]"'
    for table, key in ((upstream.FILES, "gymnasium/utils/seeding.py"),
                       (upstream.LIBRARY_SHA256, "x86_64")):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setitem(table, key, "0")
            probe = upstream.probe({})
            assert "is not as published" in probe.problem
            assert probe.mend.startswith("pip install --force-reinstall ")
    with monkeypatch.context() as patch:
        patch.setattr(upstream.platform, "machine", lambda: "s390x")
        assert "s390x" in upstream.probe({}).problem
    with monkeypatch.context() as patch:
        kept = upstream.distribution
        patch.setattr(upstream, "distribution", lambda n: missing(n) if n == "mujoco" else kept(n))
        assert "mujoco is not installed" in upstream.probe({}).problem


# ---- frames and states --------------------------------------------------------------------


def test_a_reset_is_gymnasiums() -> None:
    oracle, env = oracle_of(contract_of()), real()
    for words in ([0, 0], [5, 0], [2**32 - 1, 0], [0, 1], [77, 2**32 - 1]):
        frame = oracle.reset(Start(np.array(words, np.uint32)))
        obs, _ = env.reset(seed=words[0] | words[1] << 32)
        assert frame.obs.tobytes() == obs[None].tobytes()
        data = env.unwrapped.data
        for name in STATE:
            assert frame.state[name].tobytes() == getattr(data, name).tobytes()
        # mj_forward leaves the solver's starting point to the step that follows.
        assert not frame.state["qacc_warmstart"].any()


def test_lanes_equal_the_one_episode_and_gymnasiums_own_step() -> None:
    count, steps, limit = 7, 220, 200
    contract = contract_of(limit)
    lanes, oracle, env = lanes_of(contract, count), oracle_of(contract), real(limit)
    begin, actions = starts(count), actions_of(steps, count)
    live = np.ones(count, bool)
    side_by_side, seen = [lanes.reset(begin)], [lanes.events()]
    for t in range(steps):
        live[1] = t < 50  # a lane that stops does not disturb the others
        side_by_side.append(lanes.step(actions[t], live))
        seen.append(lanes.events())
    for path, (dtype, shape) in contract.layout().items():
        value = flatten(side_by_side[-1])[path]
        assert (value.dtype, value.shape) == (dtype, (count, *shape)), path
    for lane in range(count):
        frame = oracle.reset(take_lanes(begin, lane))
        obs, reward, truncated = env.reset(seed=lane | 7 << 32)[0], 0.0, False
        for t in range(50 if lane == 1 else steps):
            together = {path: v[lane] for path, v in flatten(side_by_side[t]).items()}
            alone = flatten(frame)
            assert together.keys() == alone.keys()
            for path, value in alone.items():
                assert np.asarray(value).tobytes() == together[path].tobytes(), (lane, t, path)
            assert (oracle.events() == seen[t][lane]).all()
            assert alone["obs"].tobytes() == obs.tobytes()
            assert alone["reward"].tobytes() == np.float64(reward).tobytes()
            assert bool(alone["truncated"]) == truncated == (t >= limit)
            frame = oracle.step(actions[t, lane])
            obs, reward, _, truncated, _ = env.step(actions[t, lane, 0])


def test_whole_episodes_of_lanes_are_gymnasiums() -> None:
    count = 4
    lanes, env = lanes_of(contract_of(), count), real()
    begin, actions = starts(count), actions_of(1000, count, 1)
    frames = [lanes.reset(begin)]
    frames += [lanes.step(action, np.ones(count, bool)) for action in actions]
    assert frames[-1].truncated.all()
    assert not frames[-2].truncated.any()
    for lane in range(count):
        env.reset(seed=lane | 7 << 32)
        for t, action in enumerate(actions[:, lane, 0]):
            obs, reward, *_ = env.step(action)
            assert frames[t + 1].obs[lane].tobytes() == obs.tobytes()
            assert frames[t + 1].reward[lane, 0] == reward
        data = env.unwrapped.data
        for name in STATE:
            assert frames[-1].state[name][lane].tobytes() == getattr(data, name).tobytes()


def test_the_number_of_threads_changes_nothing() -> None:
    one, two = (lanes_of(contract_of(), 12, threads) for threads in (1, 2))
    begin = starts(12)
    assert_same(one.reset(begin), two.reset(begin))
    for action in actions_of(60, 12):
        assert_same(one.step(action, np.ones(12, bool)), two.step(action, np.ones(12, bool)))
    assert (one.events() == two.events()).all()


def test_fewer_starts_than_lanes() -> None:
    lanes, others = lanes_of(contract_of(), 5), lanes_of(contract_of(), 3)
    lanes.reset(starts(5))
    lanes.step(actions_of(1, 5)[0], np.ones(5, bool))
    assert_same(lanes.reset(starts(3)), others.reset(starts(3)))
    assert lanes.events().shape[0] == 3


@pytest.mark.parametrize("mode", ["same-step", "next-step"])
def test_lanes_begin_their_next_episodes_as_single_environments_do(mode: str) -> None:
    """Through the end of several episodes, lanes that wait for each other in next-step mode too."""
    contract = contract_of(4)

    class Single:
        """The reference without its lanes."""

        def __init__(self) -> None:
            oracle = oracle_of(contract)
            self.reset, self.step, self.close = oracle.reset, oracle.step, oracle.close

    table = StartTable(contract)
    fast = OracleEngine(contract, lambda: oracle_of(contract), mode, table)
    slow = OracleEngine(contract, Single, mode, table)
    (one, first), (two, begun) = (engine.reset(starts(5).seed) for engine in (fast, slow))
    assert type(one.lanes) is not type(two.lanes)
    assert np.asarray(first.obs).tobytes() == np.asarray(begun.obs).tobytes()
    for t, action in enumerate(actions_of(30, 5, 2)):
        if t == 6:  # from here on the lanes' episodes end at different steps
            for state in (one, two):
                _begin_again(state, t)
        one, now = fast.step(one, action)
        two, then = slow.step(two, action)
        for name, value in now._asdict().items():
            if value is not None:
                assert value.tobytes() == getattr(then, name).tobytes(), (name, t)
        assert (one.seeds == two.seeds).all()


def _begin_again(state: OracleState, seed: int) -> None:
    """Begin new episodes in two of the five lanes, whatever the others do."""
    which = np.array([1, 3])
    begun = Start(np.full((2, 2), seed, np.uint32), {})
    state.frame = unflatten(
        {path: np.array(value) for path, value in flatten(state.lanes.begin(begun, which)).items()}
    )


def test_the_same_seed_is_the_same_episode() -> None:
    oracle = oracle_of(contract_of())
    actions = actions_of(120, 1)[:, 0]
    start = Start(np.array([11, 0], np.uint32))
    runs = []
    for _ in range(2):
        frames = [oracle.reset(start)] + [oracle.step(action) for action in actions]
        runs.append(frames)
    for a, b in zip(*runs, strict=True):
        assert_same(a, b)


def test_a_loaded_state_continues_bit_for_bit() -> None:
    contract, count, steps = contract_of(120), 6, 130
    lanes, further = lanes_of(contract, count), lanes_of(contract, count)
    oracle = oracle_of(contract)
    oracle.reset(starts(1)._replace(seed=np.array([99, 0], np.uint32)))
    further.reset(Start(starts(count).seed[::-1]))
    frame = lanes.reset(starts(count))
    actions = actions_of(steps, count, 2)
    everyone = np.ones(count, bool)
    order = np.random.default_rng(0).permutation(count)
    for t in range(steps):
        further.load({name: value[order] for name, value in frame.state.items()}, order)
        assert not further.events().any()
        lane = t % count
        oracle.load({name: value[lane] for name, value in frame.state.items()})
        frame = lanes.step(actions[t], everyone)
        assert_same(further.step(actions[t], everyone), frame)
        assert (further.events() == lanes.events()).all()
        alone = oracle.step(actions[t, lane])
        for path, value in flatten(alone).items():
            assert np.asarray(value).tobytes() == flatten(frame)[path][lane].tobytes(), path


def test_mujocos_rollout_gives_the_same_but_for_the_solvers_start() -> None:
    # Many states in one call would be faster, but qacc_warmstart does not come back.
    import mujoco
    from mujoco import rollout

    env, count = real().unwrapped, 200
    given = oracle_of(contract_of()).places(count, 5)
    lanes = lanes_of(contract_of(), count)
    lanes.reset(starts(count))
    lanes.load(given, np.arange(count))
    after = lanes.step(given["action"], np.ones(count, bool)).state
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros((count, mujoco.mj_stateSize(env.model, kind)))
    state[:, 1:] = np.concatenate([given["qpos"], given["qvel"]], 1)  # after the time
    control = np.repeat(given["action"], 5, 1).astype(np.float64)
    states, _ = rollout.rollout(
        env.model,
        mujoco.MjData(env.model),
        initial_state=state,
        control=control,
        initial_warmstart=given["qacc_warmstart"],
    )
    assert states[:, -1, 1:10].tobytes() == after["qpos"].tobytes()
    assert states[:, -1, 10:19].tobytes() == after["qvel"].tobytes()
    assert states.shape[-1] == 19


def test_bad_numbers_do_what_they_do_in_mujoco(placed: dict[str, np.ndarray]) -> None:
    count = 9
    state = {name: placed[name][:count].copy() for name in (*STATE, "elapsed")}
    action = np.full((count, 1, 6), 0.5, np.float32)
    action[0, 0, 2], action[1, 0, 2], action[2, 0, 2] = np.nan, np.inf, 3e10
    state["qpos"][3, 2], state["qpos"][4, 2] = np.nan, 1.1e10
    state["qvel"][5, 4], state["qvel"][6, 4] = np.inf, -1.1e10
    state["qpos"][7, 0] = 1e10  # the largest number that is not bad
    lanes = lanes_of(contract_of(), 2 * count)
    lanes.reset(starts(2 * count))
    # The other half states in plain numbers the effect of the first one.
    plain = {name: value.copy() for name, value in state.items()}
    instead = np.full_like(action, 0.5)
    instead[0] = 0  # one NaN: no motor works
    instead[1, 0, 2] = instead[2, 0, 2] = 1  # too large is no error, it is clamped
    for lane in range(3, 7):  # a bad state restarts at zero, without control
        for name in STATE:
            plain[name][lane] = 0
        instead[lane] = 0
    both = {name: np.concatenate([state[name], plain[name]]) for name in state}
    lanes.load(both, np.arange(2 * count))
    frame = lanes.step(np.concatenate([action, instead]), np.ones(2 * count, bool))
    for name in STATE:
        value = frame.state[name]
        assert value[:count].tobytes() == value[count:].tobytes(), name
        assert np.isfinite(value).all()
    # The speed is from its old place, the cost is the action's own.
    assert np.isnan(frame.reward[[0, 3], 0]).tolist() == [True, False]
    assert frame.reward[1, 0] == -np.inf
    # The single episode does the same.
    oracle = oracle_of(contract_of())
    for lane in range(count):
        oracle.load({name: value[lane] for name, value in state.items()})
        alone = oracle.step(action[lane])
        for name in STATE:
            assert alone.state[name].tobytes() == frame.state[name][lane].tobytes()
        assert alone.reward.tobytes() == frame.reward[lane].tobytes()
    # A bad state is reset within its step; the next step's control works.
    again = lanes.step(np.full((2 * count, 1, 6), 0.5, np.float32), np.ones(2 * count, bool))
    assert np.isfinite(again.reward[2:]).all()


# ---- events -------------------------------------------------------------------------------


def test_every_event_is_seen(placed: dict[str, np.ndarray]) -> None:
    contract, count = contract_of(), len(placed["elapsed"])
    lanes = lanes_of(contract, count)
    lanes.reset(starts(count))
    lanes.load(placed, np.arange(count))
    assert not lanes.events().any()
    lanes.step(placed["action"], np.ones(count, bool))
    seen = lanes.events().sum(0)
    assert not [name for name, n in zip(contract.events, seen, strict=True) if n == 0]
    assert (seen < count).all()


def test_events_are_those_of_the_last_substep(placed: dict[str, np.ndarray]) -> None:
    contract, count = contract_of(), 400
    oracle = oracle_of(contract)
    lanes = lanes_of(contract, count)
    lanes.reset(starts(count))
    some = {name: value[:count] for name, value in placed.items()}
    lanes.load(some, np.arange(count))
    frame = lanes.step(some["action"], np.ones(count, bool))
    event = dict(zip(contract.events, lanes.events().T, strict=True))
    for _ in range(4):
        out = oracle.call("substep", inputs(contract, "substep", some))
        some |= {"qpos": out["next_qpos"], "qvel": out["next_qvel"]}
        some |= {"qacc_warmstart": out["next_warmstart"]}
    touches = oracle.call("contacts", inputs(contract, "contacts", some))["depth"] > 0
    limits = oracle.call("rows", inputs(contract, "rows", some))["limit_weight"] > 0
    parts = ("torso", "head", "back_thigh", "back_shin", "back_foot", "front_thigh")
    for geom, name in enumerate((*parts, "front_shin", "front_foot")):
        assert (event[name] == touches[:, 2 * geom : 2 * geom + 2].any(1)).all(), name
    assert (event["three_contacts"] == (touches.sum(1) >= 3)).all()
    assert (event["limit"] == limits.any(1)).all()
    assert (event["two_limits"] == (limits.sum(1) >= 2)).all()
    turned = (frame.state["qpos"][:, 2] + np.pi) % (2 * np.pi) - np.pi
    assert (event["upside_down"] == (np.abs(turned) > np.pi / 2)).all()
    assert (event["truncated"] == frame.truncated).all()


# ---- module calls -------------------------------------------------------------------------


def test_every_module_can_be_called_everywhere(placed: dict[str, np.ndarray]) -> None:
    contract = contract_of()
    oracle, count = oracle_of(contract), len(placed["elapsed"])
    rng = np.random.default_rng(0)
    given = placed | {
        "acceleration": 100 * rng.normal(size=(count, 9)),
        "x_velocity": rng.normal(size=count),
        "seed": rng.integers(0, 2**32, (count, 2), dtype=np.uint32),
    }
    for module in contract.modules:
        outputs = oracle.call(module.name, inputs(contract, module.name, given))
        for field in module.outputs:
            value = outputs[field.name]
            assert (value.dtype, value.shape) == (np.dtype(field.dtype), (count, *field.shape))
            assert np.isfinite(value).all(), (module.name, field.name)
    with pytest.raises(KeyError):
        oracle.call("no_module", given)


def test_the_modules_are_parts_of_the_step(placed: dict[str, np.ndarray]) -> None:
    contract = contract_of()
    oracle, count = oracle_of(contract), len(placed["elapsed"])
    call = lambda name, values: oracle.call(name, inputs(contract, name, values))  # noqa: E731
    now = dict(placed)
    for _ in range(5):
        out = call("substep", now)
        now |= {"qpos": out["next_qpos"], "qvel": out["next_qvel"]}
        now |= {"qacc_warmstart": out["next_warmstart"]}
    lanes = lanes_of(contract, count)
    lanes.reset(starts(count))
    lanes.load(placed, np.arange(count))
    frame = lanes.step(placed["action"], np.ones(count, bool))
    for name in STATE:
        assert frame.state[name].tobytes() == now[name].tobytes()
    speed = (now["qpos"][:, 0] - placed["qpos"][:, 0]) / 0.05
    reward = call("reward", {"x_velocity": speed, "action": placed["action"]})["reward"]
    assert reward.tobytes() == frame.reward[:, 0].tobytes()

    solved, after = call("newton", placed), call("substep", placed)
    assert solved["qacc"].tobytes() == after["next_warmstart"].tobytes()
    # MuJoCo's solver stops a little before its forces and its acceleration agree.
    moved = call("euler", placed | {"acceleration": solved["qacc"]})
    for name in ("next_qpos", "next_qvel"):
        apart = np.abs(moved[name] - after[name]) / (1 + np.abs(after[name]))
        assert np.median(apart) < 1e-14
        assert apart.max() < 1e-4
    forces = call("forces", placed)
    force = forces["qfrc_passive"] + forces["qfrc_actuator"] + solved["qfrc_constraint"]
    force -= call("bias", placed)["qfrc_bias"]
    mass = call("mass_matrix", placed)["mass_matrix"]
    assert (mass == mass.transpose(0, 2, 1)).all()
    need = np.einsum("nij,nj->ni", mass, solved["qacc"])
    assert np.median(np.abs(force - need)) < 1e-12

    # The rows push as the solver says.
    rows = call("rows", placed)
    jacobian, weight = rows["contact_jacobian"], rows["contact_weight"]
    speed = np.einsum("npri,ni->npr", jacobian, solved["qacc"])
    push = np.maximum(rows["contact_target"] - speed, 0) * weight[:, :, None] * [1, 1, 2]
    found = np.einsum("npri,npr->ni", jacobian, push)
    side = rows["limit_side"]
    slack = rows["limit_target"] - side * solved["qacc"][:, 3:]
    found[:, 3:] += side * rows["limit_weight"] * np.maximum(slack, 0)
    scale = 1 + np.abs(solved["qfrc_constraint"])
    assert np.quantile(np.abs(found - solved["qfrc_constraint"]) / scale, 0.99) < 1e-9

    # A point touches where it has rows, below the end in kinematics.
    contacts, ends = call("contacts", placed), call("kinematics", placed)["end_at"]
    touches = contacts["depth"] > 0
    assert (touches == (weight > 0)).all()
    at = contacts["contact_at"][touches]
    np.testing.assert_allclose(at[:, 0], ends[touches][:, 0], rtol=1e-12)
    depth = contacts["depth"][touches]
    np.testing.assert_allclose(ends[touches][:, 1] - 0.046, -depth, rtol=0, atol=1e-12)
    np.testing.assert_allclose(at[:, 1], -depth / 2, rtol=0, atol=1e-12)
    forward, backward, upward = np.moveaxis(jacobian[touches], 1, 0)
    np.testing.assert_allclose(forward[:, :2], [[0.4, 1]] * len(forward), atol=1e-12)
    np.testing.assert_allclose(backward[:, :2], [[-0.4, 1]] * len(forward), atol=1e-12)
    np.testing.assert_allclose(upward, (forward + backward) / 2, atol=1e-12)


def test_a_call_leaves_the_episode_alone(placed: dict[str, np.ndarray]) -> None:
    contract = contract_of()
    one, two = oracle_of(contract), oracle_of(contract)
    start = Start(np.array([3, 0], np.uint32))
    assert_same(one.reset(start), two.reset(start))
    for action in actions_of(5, 1)[:, 0]:
        one.call("substep", inputs(contract, "substep", placed))
        one.call("reset", {"seed": np.zeros((1, 2), np.uint32)})
        one.places(10, 0)
        assert_same(one.step(action), two.step(action))


# ---- places -------------------------------------------------------------------------------


def test_places_show_what_play_does_not(placed: dict[str, np.ndarray]) -> None:
    contract = contract_of()
    oracle = oracle_of(contract)
    played = len(placed["elapsed"]) // 3
    depth = oracle.call("contacts", inputs(contract, "contacts", placed))["depth"]
    rows = oracle.call("rows", inputs(contract, "rows", placed))
    touches, limits = depth > 0, (rows["limit_weight"] > 0).sum(1)
    assert touches.any(0).all()
    # These ends lie within the capsule of the next body: the far ones of head and thighs.
    hidden = {3, 5, 10, 11}
    alone = touches[touches.sum(1) == 1].sum(0)
    assert {point for point in range(16) if alone[point] < 5} <= hidden
    count = np.bincount(touches.sum(1), minlength=7)
    assert (count[4:7] > 5).all()
    assert (np.bincount(limits, minlength=4)[2:4] > 20).all()
    deepest = depth[played:].max(1)
    assert deepest.max() <= 0.02
    assert (deepest > 0.0055).mean() < 0.12
    assert ((depth > 0) & (depth <= 1.1e-12)).any()
    assert (np.cos(placed["qpos"][:, 2]) < 0).mean() > 0.2
    assert (np.abs(placed["qpos"][:, 0]) > 100).sum() > 50
    assert np.abs(placed["qvel"]).max() > 50
    assert np.abs(placed["qvel"][:, 0]).max() > 20
    assert (placed["elapsed"] == 999).any()
    assert np.abs(placed["action"]).max() > 1
    ends = oracle.call("kinematics", inputs(contract, "kinematics", placed))["end_at"]
    gap = ends[:, :, 1].min(1) - 0.046
    assert ((gap > 0) & (gap < 1.1e-12)).any()


def test_places_are_as_near_to_an_edge_as_a_dtype_tells_and_no_nearer() -> None:
    contract = contract_of()
    oracle = oracle_of(contract)
    low, high = real().unwrapped.model.jnt_range[3:].T
    made = {}
    for dtype, (nearest, farthest) in EDGES.items():
        made[dtype] = oracle.places(1500, 3, dtype)
        qpos = made[dtype]["qpos"]
        ends = oracle.call("kinematics", {"qpos": qpos})["end_at"]
        above = ends[:, :, 1] - 0.046
        beyond = np.stack([qpos[:, 3:] - high, low - qpos[:, 3:]])
        # A height of 1 m is held to 1e-16 m.
        assert np.abs(above).min() > nearest - 2e-16
        assert np.abs(beyond[beyond != 0]).min() > nearest - 2e-16
        for apart in (above, beyond):
            assert ((apart > 0) & (apart < farthest)).sum() > 5
            assert ((apart < 0) & (apart > -farthest)).sum() > 5
        assert (beyond == 0).any()
    # Apart from that, the states of a seed are the same ones.
    one, other = made["float64"], made["float32"]
    moved = np.abs(one["qpos"] - other["qpos"]).max(1)
    assert moved.max() < 5e-5
    assert 0 < (moved > 0).mean() < 0.1
    assert one["qvel"].tobytes() == other["qvel"].tobytes()


def test_places_follow_from_their_seed() -> None:
    oracle = oracle_of(contract_of())
    a, b, other = (oracle.places(100, seed) for seed in (1, 1, 2))
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)
    assert a["qpos"].tobytes() != other["qpos"].tobytes()
    for name, (dtype, shape) in contract_of().layout().items():
        if name.startswith("state."):
            value = a[name.removeprefix("state.")]
            assert (value.dtype, value.shape) == (dtype, (100, *shape))
    dtype, shape = contract_of().action_layout()
    assert (a["action"].dtype, a["action"].shape) == (dtype, (100, *shape))


def test_the_reference_leaves_itself_long_before_an_episode_ends():
    """Why no tolerance is claimed for whole episodes; the nearer the copy, the longer it stays."""
    from twinstep.oracles.halfcheetah import twins

    middle = [np.median(twins.horizons(6, 1000, 1e-3, twin)) for twin in list(twins.TWINS)[:3]]
    assert 1 < middle[2] < middle[1] < middle[0] < 300
