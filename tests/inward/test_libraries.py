"""Pairs whose port is another library's own environment: true bugs are found, right ports pass.

The libraries ask for other versions than the ordinary environment holds: `make trainers
ARGS=inward` runs this in an environment of its own, and fails if anything is skipped there.
"""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep import Box, Contract, Discrete, Field, Randomness, Start, UserError
from twinstep.inward import (
    from_brax,
    from_functional,
    from_gymnax,
    from_jumanji,
    from_navix,
    from_pgx,
    oracle_from_gym,
)
from twinstep.testing import frames_differ, some_starts
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs

#: Libraries warn of themselves.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Brax System"),
    pytest.mark.filterwarnings("ignore:Accessing `ncon` directly:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*precision lowered by casting"),
]

WHY = "is not installed: make trainers ARGS=inward"
LANES = 4
STARTS = Start(np.arange(2 * LANES, dtype=np.uint32).reshape(LANES, 2))


@pytest.fixture
def lab_of(tmp_path):
    """A function from the pair's module, its constant, and a candidate's name to the lab."""
    opened = []

    def lab(module, name, candidate, episodes=12):
        env = getattr(importlib.import_module(f"twinstep.tests.inward.{module}"), name)
        opened.append(labs(tmp_path, env, episodes))
        return opened[-1].__enter__()(candidate)

    yield lab
    for each in opened:
        each.__exit__(None, None, None)


def declared(observation, action, **more):
    return Contract("any-v0", {}, action, observation, (), Randomness("the seed"), **more)


def placed_steps_differ(lab, count=64):
    states, actions = lab.reference.states(count, "placed", dtype=lab.runner.dtype)
    want, _ = lab.oracle.steps(states, actions[None], some_starts(lab.contract, count))
    got = lab.runner.play_from(states, actions[None])
    return frames_differ(want, got, lab.rules.from_placed()), states


def test_the_pole_of_phys2d_is_found_too_heavy_in_one_step(lab_of):
    pytest.importorskip("flax", reason=f"flax {WHY}")
    lab = lab_of("phys_cart", "PHYS_CART", "phys2d")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    record = found.value.record
    assert record["one_step"]
    assert record["diff"][0]["path"] == "state.x_dot"
    assert abs(record["diff"][0]["error"]) > 0.05


def test_phys2d_is_equal_with_the_poles_own_mass(lab_of):
    pytest.importorskip("flax", reason=f"flax {WHY}")
    lab = lab_of("phys_cart", "PHYS_CART", "mended")
    lab.require_lockstep(lab.traces("random"))
    assert lab.notes["coverage"]["terminated"] == 12
    assert not placed_steps_differ(lab)[0]


def test_cliff_walking_of_gymnasium_is_equal_though_a_step_changes_its_states_types():
    """`fallen` is False after a reset and bool[1] after a step, for which lax.scan has no mercy."""
    pytest.importorskip("flax", reason=f"flax {WHY}")
    from gymnasium.envs.tabular.cliffwalking import CliffWalkingFunctional

    contract = declared(Field("obs", "int32"), Discrete(4))
    oracle = oracle_from_gym("CliffWalking-v1")(contract)
    candidate = from_functional(CliffWalkingFunctional())(contract)
    actions = np.random.default_rng(1).integers(0, 4, (300, 1, 1)).astype(np.int32)
    state, first = candidate.reset(Start(STARTS.seed[:1]))
    _, frames = candidate.rollout(state, actions)
    want = [oracle.reset(Start(STARTS.seed[0])), *(oracle.step(move[0]) for move in actions)]
    assert first.obs[0] == want[0].obs
    for step, frame in enumerate(want[1:]):
        for name in ("obs", "reward", "terminated"):
            assert np.array_equal(getattr(frames, name)[step, 0], getattr(frame, name)), (
                step,
                name,
            )
    assert (np.asarray(frames.reward) == -100).any(), "nobody fell"


def test_the_wall_of_gymnax_is_found_in_one_step(lab_of):
    pytest.importorskip("gymnax", reason=f"gymnax {WHY}")
    lab = lab_of("car", "CAR", "gymnax")
    found, _ = placed_steps_differ(lab, 512)
    assert "state.velocity" in found
    with pytest.raises(Divergence) as failed:
        lab.require_lockstep(lab.traces("sticky"))
    record = failed.value.record
    assert record["one_step"]
    assert record["diff"][0]["path"] in ("state.velocity", "obs.velocity")
    assert record["diff"][0]["oracle"] == 0


def test_gymnax_is_equal_with_the_wall_mended_and_truncates_by_its_clock(lab_of):
    pytest.importorskip("gymnax", reason=f"gymnax {WHY}")
    lab = lab_of("car", "CAR", "mended")
    lab.require_lockstep(lab.traces("sticky"))
    found, states = placed_steps_differ(lab, 512)
    assert not found
    assert (states["time"] == 998).any(), "no clock was placed at the limit"


def test_envpool_is_equal_from_its_own_starts(lab_of):
    pytest.importorskip("envpool", reason=f"envpool {WHY}")
    lab = lab_of("pool_cart", "POOL_CART", "envpool")
    assert not lab.runner.offers("load")
    lab.require_lockstep(lab.traces("random"))
    assert lab.notes["coverage"]["terminated"] == 12


def test_another_force_than_envpools_is_found(lab_of):
    pytest.importorskip("envpool", reason=f"envpool {WHY}")
    lab = lab_of("pool_cart", "WEAK_CART", "envpool")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    assert found.value.record["diff"][0]["path"].startswith("obs")


def test_both_players_of_a_pgx_game_are_equal_whoever_pgx_lets_begin(lab_of):
    pytest.importorskip("pgx", reason=f"pgx {WHY}")
    lab = lab_of("four", "FOUR", "pgx")
    traces = lab.traces("random")
    lab.require_lockstep(traces)
    assert lab.notes["coverage"]["terminated"] == 12
    state, _ = lab.runner.candidate.reset(STARTS)
    assert set(np.asarray(state.first).tolist()) == {0, 1}, "pgx let one player begin everywhere"


def test_a_pgx_game_of_one_player_has_no_mask_after_its_end():
    pytest.importorskip("pgx", reason=f"pgx {WHY}")
    candidate = from_pgx("2048")(
        declared(Field("obs", "bool", (4, 4, 31)), Discrete(4), masked=True)
    )
    state, frame = candidate.reset(STARTS)
    draw, last = np.random.default_rng(0), {}
    for _ in range(400):
        mask = np.asarray(frame.legal)[:, 0]
        scores = np.where(mask, draw.random(mask.shape), -1)
        state, frame = candidate.step(state, scores.argmax(1)[:, None].astype(np.int32))
        for lane in np.flatnonzero(frame.terminated):
            last[lane] = np.asarray(frame.legal)[lane, 0]
            assert not last[lane].any()
        if len(last) == LANES:
            break
    assert len(last) == LANES


def test_jumanji_gives_its_own_numbers_and_needs_to_be_told_what_is_compared():
    jumanji = pytest.importorskip("jumanji", reason=f"jumanji {WHY}")
    contract = declared(Field("obs", "int32", (4, 4)), Discrete(4), masked=True)
    with pytest.raises(UserError, match=r"has parts \(board, action_mask\): say which"):
        from_jumanji("Game2048-v1")(contract)
    with pytest.raises(UserError, match="cannot observe a placed state: add observe="):
        from_jumanji("Game2048-v1", observation=lambda o: o.board, place=lambda s, _: s)(contract)
    candidate = from_jumanji("Game2048-v1", observation=lambda o: o.board)(contract)
    env = jumanji.make("Game2048-v1")
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        inner, now = env.reset(jax.random.split(jnp.asarray(STARTS.seed[1]))[1])
        state, frame = candidate.reset(STARTS)
        for _ in range(6):
            np.testing.assert_array_equal(frame.obs[1, 0], now.observation.board)
            np.testing.assert_array_equal(frame.legal[1, 0], now.observation.action_mask)
            move = np.asarray(frame.legal)[:, 0].argmax(1).astype(np.int32)[:, None]
            state, frame = candidate.step(state, move)
            inner, now = env.step(inner, jnp.asarray(move[1, 0]))
            assert float(frame.reward[1, 0]) == float(now.reward)


def test_navix_goes_on_after_its_limit_and_does_not_begin_anew():
    pytest.importorskip("navix", reason=f"navix {WHY}")
    contract = declared(Field("obs", "uint8", (5, 5, 3)), Discrete(7))
    candidate = from_navix("Navix-Empty-5x5-v0")(contract)
    assert not hasattr(candidate, "load")
    state, frame = candidate.reset(STARTS)
    first, turn = np.asarray(frame.obs), np.zeros((LANES, 1), np.int32)
    for step in range(1, 103):
        state, frame = candidate.step(state, turn)
        assert np.asarray(frame.truncated).all() == (step >= 100), step
        assert not np.asarray(frame.terminated).any()
        assert int(state.inner.t[0]) == step
        assert np.array_equal(frame.obs, first) == (step % 4 == 0), "four turns are a full turn"


def test_navix_places_and_loads_a_player():
    pytest.importorskip("navix", reason=f"navix {WHY}")
    place = Field("where", "int32", (2,))
    contract = Contract(
        "any-v0",
        {},
        Discrete(7),
        Field("obs", "uint8", (5, 5, 3)),
        (place, Field("way", "int32"), Field("t", "int32")),
        Randomness("the start"),
    )
    candidate = from_navix(
        "Navix-Empty-5x5-v0",
        fields={
            "where": "state.entities.player.position[0]",
            "way": "state.entities.player.direction[0]",
            "t": "t",
        },
    )(contract)
    fields = {
        "where": np.array([[1, 1], [2, 1], [2, 1], [3, 2]], np.int32),
        "way": np.zeros(LANES, np.int32),
        "t": np.array([0, 5, 99, 3], np.int32),
    }
    forward = np.full((LANES, 1), 2, np.int32)
    _, frame = candidate.step(candidate.load(fields), forward)
    assert np.asarray(frame.state["where"]).tolist() == [[1, 2], [2, 2], [2, 2], [3, 3]]
    assert np.asarray(frame.truncated).tolist() == [False, False, True, False]
    assert np.asarray(frame.terminated).tolist() == [False, False, False, True]


def test_navix_loses_a_key_that_is_picked_up_and_one_that_is_dropped():
    """True bugs of 0.7.4, seen through the adapter from a placed start, where play seldom is."""
    pytest.importorskip("navix", reason=f"navix {WHY}")

    def place(now, start):
        entities = now.state.entities
        player = entities["player"].replace(
            position=start.fields["player"][None], direction=jnp.zeros(1, jnp.int32)
        )
        key = entities["key"].replace(position=start.fields["key"][None])
        entities = {**entities, "player": player, "key": key}
        return now.replace(state=now.state.replace(entities=entities))

    contract = Contract(
        "any-v0",
        {},
        Discrete(7),
        Field("obs", "uint8", (6, 6, 3)),
        (Field("key", "int32", (2,)), Field("pocket", "int32")),
        Randomness("the start"),
        starts=(Field("player", "int32", (2,)), Field("key", "int32", (2,))),
    )
    candidate = from_navix(
        "Navix-DoorKey-6x6-v0",
        place=place,
        fields={
            "key": "state.entities.key.position[0]",
            "pocket": "state.entities.player.pocket[0]",
        },
    )(contract)
    fields = {"player": np.array([[1, 1]], np.int32), "key": np.array([[1, 2]], np.int32)}
    state, frame = candidate.reset(Start(STARTS.seed[:1], fields))
    wall, key = np.asarray(frame.obs)[0, 0, 0, 5], np.asarray(frame.obs)[0, 0, 1, 2]
    pickup, drop = (np.array([[action]], np.int32) for action in (3, 4))
    state, frame = candidate.step(state, pickup)
    assert np.asarray(frame.obs)[0, 0, 0, 5].tolist() == key.tolist() != wall.tolist()
    held = int(frame.state["pocket"][0])
    state, frame = candidate.step(state, drop)
    assert np.asarray(frame.state["key"]).tolist() == [[1, 2]]
    assert int(frame.state["pocket"][0]) == held != -1


def test_brax_keeps_both_ends_apart_and_refuses_a_reset_of_its_own():
    envs = pytest.importorskip("brax.envs", reason=f"brax {WHY}")
    contract = declared(Field("obs", "float32", (4,)), Box(-1.0, 1.0, (1,)))
    made = lambda **more: envs.create("inverted_pendulum", backend="spring", **more)  # noqa: E731
    with pytest.raises(UserError, match="AutoResetWrapper begins the next episode by itself"):
        from_brax(made())(contract)
    candidate = from_brax(made(auto_reset=False, episode_length=9))(contract)
    state, frame = candidate.reset(STARTS)
    push = np.array([[[0.0]], [[1.0]], [[0.0]], [[-1.0]]], np.float32)
    ends = []
    for _ in range(9):
        state, frame = candidate.step(state, push)
        ends.append((np.asarray(frame.terminated).tolist(), np.asarray(frame.truncated).tolist()))
    assert ends[6] == ([False, True, False, True], [False] * 4)
    assert ends[8] == ([False, True, False, True], [True, False, True, False])


def test_minatar_of_gymnax_is_scanned_and_named_by_its_id():
    """A state with Python's numbers after the reset, of another shape than CartPole's."""
    pytest.importorskip("gymnax", reason=f"gymnax {WHY}")
    candidate = from_gymnax("Breakout-MinAtar")(
        declared(Field("obs", "float32", (10, 10, 4)), Discrete(3))
    )
    state, _ = candidate.reset(STARTS)
    actions = np.random.default_rng(0).integers(0, 3, (40, LANES, 1)).astype(np.int32)
    _, frames = candidate.rollout(state, actions)
    assert np.asarray(frames.terminated).any()
