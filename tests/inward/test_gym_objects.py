"""Objects with Gymnasium's interface: lanes that ended are held, and bad input is one line."""

import gc
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from twinstep import Contract, Discrete, Field, Randomness, Start, UserError
from twinstep.frames import take_lanes
from twinstep.inward import from_gym, from_vector, oracle_from_gym

LANES = 4
STARTS = Start(np.array([[n, 0] for n in range(LANES)], np.uint32))
GO = np.zeros((LANES, 1), np.int32)


class Countdown(gymnasium.Env):
    """As many steps as the seed says; a step after the last one raises."""

    observation_space = spaces.Box(0, 10, (1,), np.float32)
    action_space = spaces.Discrete(2)
    made = 0

    def __init__(self):
        type(self).made += 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(seed or 0) % 5 + 1
        return self._seen(), {"action_mask": np.array([True, self.left > 1])}

    def step(self, action):
        if not self.left:
            raise RuntimeError("the episode has ended")
        self.left -= 1
        over = not self.left
        return self._seen(), float(self.left), over, False, {"action_mask": np.array([1, 0])}

    def _seen(self):
        return np.array([self.left], np.float32)


class SmallSeeds(Countdown):
    """Takes seeds of 32 bits alone, as NumPy's RandomState does."""

    def reset(self, *, seed=None, options=None):
        np.random.RandomState(seed)
        return super().reset(seed=seed, options=options)


def contract(**more):
    return Contract(
        **{
            "version": "countdown-v0",
            "params": {},
            "action": Discrete(2),
            "observation": Field("obs", "float32", (1,)),
            "state": (),
            "randomness": Randomness("the seed"),
            **more,
        }
    )


def test_an_environment_that_raises_after_its_end_is_not_stepped_on():
    candidate = from_gym(Countdown)(contract())
    state, frame = candidate.reset(STARTS)
    assert frame.obs[:, 0, 0].tolist() == [1, 2, 3, 4]
    for step in range(1, 6):
        state, frame = candidate.step(state, GO)
        left = [max(0, n + 1 - step) for n in range(LANES)]
        assert frame.obs[:, 0, 0].tolist() == left
        assert frame.terminated.tolist() == [n == 0 for n in left]
        # The last frame as a whole, its reward too, which is that of the last step.
        assert frame.reward[:, 0].tolist() == left


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_vector_environment_shows_the_last_observation_and_holds_it(mode):
    def make(count):
        return SyncVectorEnv([Countdown] * count, autoreset_mode=mode)

    whole = lambda starts: [int(n) for n in starts.seed[:, 0]]  # noqa: E731
    candidate = from_vector(make, seed=whole)(contract())
    state, frame = candidate.reset(STARTS)
    assert frame.obs[:, 0, 0].tolist() == [1, 2, 3, 4]
    for step in range(1, 6):
        state, frame = candidate.step(state, GO)
        left = [max(0, n + 1 - step) for n in range(LANES)]
        assert frame.obs[:, 0, 0].tolist() == left
        assert frame.terminated.tolist() == [n == 0 for n in left]


def test_an_oracle_and_a_candidate_play_the_seed_that_they_are_given():
    oracle = oracle_from_gym("CartPole-v1")(contract(observation=Field("obs", "float32", (4,))))
    frame = oracle.reset(Start(np.array([5, 3], np.uint32)))
    plain = gymnasium.make("CartPole-v1")
    np.testing.assert_array_equal(frame.obs[0], plain.reset(seed=5 + (3 << 32))[0])
    np.testing.assert_array_equal(oracle.step(np.array([1])).obs[0], plain.step(1)[0])
    assert not hasattr(oracle, "load")
    oracle.close()


def test_two_batches_do_not_disturb_each_other_and_objects_are_used_again():
    Countdown.made = 0
    candidate = from_gym(Countdown)(contract())
    one, _ = candidate.reset(STARTS)
    two, _ = candidate.reset(STARTS)
    one, _ = candidate.step(one, GO)
    two, frame = candidate.step(two, GO)
    assert frame.obs[:, 0, 0].tolist() == [0, 1, 2, 3]
    assert Countdown.made == 2 * LANES
    del one, two
    gc.collect()
    state, frame = candidate.reset(STARTS)
    assert frame.obs[:, 0, 0].tolist() == [1, 2, 3, 4]
    assert Countdown.made == 2 * LANES


def test_the_mask_comes_from_info_or_from_the_hook():
    masked = contract(masked=True)
    _, frame = from_gym(Countdown)(masked).reset(STARTS)
    assert frame.legal[:, 0].tolist() == [[True, n > 0] for n in range(LANES)]
    hook = from_gym(Countdown, legal=lambda env: [False, env.left == 2])(masked)
    _, frame = hook.reset(STARTS)
    assert frame.legal[:, 0].tolist() == [[False, n == 1] for n in range(LANES)]


def test_a_state_by_paths_is_loaded_from_a_fresh_episode():
    """The step limit's clock as well, which belongs to a wrapper."""
    state = (Field("state", "float64", (2,)), Field("clock", "int32"))
    declared = contract(observation=Field("obs", "float32", (2,)), action=Discrete(3), state=state)
    fields = {"state": "unwrapped.state", "clock": "_elapsed_steps"}
    oracle = oracle_from_gym("MountainCar-v0", fields=fields)(declared)
    oracle.reset(take_lanes(STARTS, 1))
    frame = oracle.step(np.array([2]))
    states = {"state": np.array([-0.5, 0.01]), "clock": np.array(199, np.int32)}
    oracle.load(states)
    loaded = oracle.step(np.array([2]))
    assert loaded.truncated
    assert loaded.state["clock"] == 200
    oracle.load(frame.state)
    after = oracle.step(np.array([0]))
    assert not after.truncated
    other = oracle_from_gym("MountainCar-v0", fields=fields)(declared)
    other.reset(take_lanes(STARTS, 1))
    other.step(np.array([2]))
    want = other.step(np.array([0]))
    np.testing.assert_array_equal(after.state["state"], want.state["state"])


def test_a_load_begins_a_fresh_episode_of_what_its_fields_leave_open():
    """Here the step limit's clock: an episode that was cut must not go on where it ended."""
    declared = contract(
        observation=Field("obs", "float32", (2,)),
        action=Discrete(3),
        state=(Field("state", "float64", (2,)),),
    )
    oracle = oracle_from_gym("MountainCar-v0", fields={"state": "unwrapped.state"})(declared)
    frame = oracle.reset(take_lanes(STARTS, 1))
    oracle.env._elapsed_steps = 199
    assert oracle.step(np.array([1])).truncated
    oracle.load(frame.state)
    assert not oracle.step(np.array([1])).truncated


class Old(Countdown):
    """The interface of before Gymnasium."""

    def step(self, action):
        return super().step(action)[:3] + ({},)


def _stepped(make):
    oracle = oracle_from_gym(make)(contract())
    oracle.reset(take_lanes(STARTS, 2))
    oracle.step(np.array([0]))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: from_gym(object)(contract()), "make returned a object without `reset`, `step`"),
        (lambda: oracle_from_gym(Countdown()), "Countdown is no factory: write lambda: "),
        (lambda: from_gym(Countdown, get_state=1), "has no argument 'get_state'"),
        (lambda: _stepped(Old), "step returned 4 values, not obs, reward, terminated"),
        (
            lambda: from_gym(Countdown)(contract(starts=(Field("at", "float32"),))),
            r"nothing puts the starts' fields \(at\) into the environment: add place=",
        ),
        (
            lambda: oracle_from_gym(Countdown, place=lambda env, start: None)(contract()).reset(
                take_lanes(STARTS, 0)
            ),
            "place returned None, not the observation there",
        ),
        (
            lambda: from_gym(Countdown, fields={"left": "rest"})(contract()).reset(STARTS),
            r"'rest' is not there: Countdown has no 'rest' \(it has left\)",
        ),
        (
            lambda: from_vector(lambda n: SyncVectorEnv([Countdown] * 3))(contract()),
            r"make\(1\) returned a SyncVectorEnv of 3 lanes",
        ),
        (
            lambda: from_vector(
                lambda n: SyncVectorEnv([Countdown] * n, autoreset_mode=AutoresetMode.SAME_STEP)
            )(contract(masked=True)),
            "with same-step auto-reset the state and the mask",
        ),
        (lambda: from_gym(Countdown)(contract(players=2)), "Gymnasium's interface one"),
    ],
)
def test_bad_input_is_one_line(build, says):
    with pytest.raises(UserError, match=says) as error:
        build()
    assert str(error.value).startswith(("from_", "oracle_from_gym: ", "fields: "))
    assert "\n" not in str(error.value)


def test_a_missing_gymnasium_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(UserError, match="gymnasium is not installed: `pip install gymnasium`"):
        from_gym("CartPole-v1")(contract())


def test_no_library_is_imported_before_its_adapter_is_called():
    script = (
        "import sys, twinstep.inward\n"
        "assert not {'numpy', 'jax', 'gymnasium'} & set(sys.modules)\n"
        "twinstep.inward.oracle_from_gym('CartPole-v1')\n"
        "assert not {'jax', 'gymnasium'} & set(sys.modules), 'an oracle without JAX imports it'\n"
        "from twinstep.inward import *\n"
        "from_gymnax('CartPole-v1'), from_pgx('chess'), from_brax('ant'), from_navix('x')\n"
        "from_jumanji('x'), from_envpool('x')\n"
        "libraries = {'gymnasium', 'gymnax', 'pgx', 'brax', 'navix', 'jumanji', 'envpool'}\n"
        "assert not libraries & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_reset_that_refuses_large_seeds_is_one_line_with_the_mend():
    start = Start(np.array([7, 1], np.uint32))
    with pytest.raises(
        UserError, match=r"refuses a seed of 64 bits .* int\(start.seed\[0\]\) >> 1"
    ):
        oracle_from_gym(SmallSeeds)(contract()).reset(start)
    oracle_from_gym(SmallSeeds, seed=lambda start: int(start.seed[0]) >> 1)(contract()).reset(start)


def test_a_vector_that_refuses_large_seeds_is_one_line_with_a_mend_that_works():
    make = lambda count: SyncVectorEnv([SmallSeeds] * count)  # noqa: E731
    starts = Start(np.array([[n, 1] for n in range(LANES)], np.uint32))
    with pytest.raises(UserError, match=r"write seed=lambda start: \(start.seed\[:, 0\] >> 1\)"):
        from_vector(make)(contract()).reset(starts)
    from_vector(make, seed=lambda start: (start.seed[:, 0] >> 1).tolist())(contract()).reset(starts)


class Keeps(Countdown):
    """A reset leaves the level as somebody has put it."""

    level = 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        return np.array([self.level], np.float32), {}


def _put(env, start):
    levels = np.atleast_1d(start.fields["level"])
    for one, level in zip(getattr(env, "envs", [env]), levels, strict=True):
        one.unwrapped.level = int(level)
    return levels.astype(np.float32).reshape(-1, 1) if hasattr(env, "envs") else levels * 1.0


@pytest.mark.parametrize(
    "kind",
    [
        lambda made: from_gym(Keeps, place=_put)(made),
        lambda made: from_vector(lambda n: SyncVectorEnv([Keeps] * n), place=_put)(made),
    ],
    ids=["objects", "vector"],
)
def test_a_start_of_its_own_shows_nothing_that_was_placed(kind):
    field = Field("level", "int32")
    made = contract(starts=(field,), make_start=lambda seed: {"level": np.int32(7)})
    candidate, count = kind(made), 32
    seeds = np.array([[n, 0] for n in range(count)], np.uint32)
    placed = candidate.reset(Start(seeds, {"level": np.full(count, 7, np.int32)}))[1]
    assert (np.asarray(placed.obs) == 7).all()
    assert (np.asarray(candidate.fresh(seeds).obs) == 1).all()


def test_a_references_own_start_shows_nothing_that_was_placed():
    made = contract(starts=(Field("level", "int32"),), make_start=lambda seed: {"level": 7})
    oracle = oracle_from_gym(Keeps, place=_put)(made)
    seed = np.array([1, 0], np.uint32)
    assert oracle.reset(Start(seed, {"level": np.int32(7)})).obs.item() == 7
    assert oracle.fresh(seed).obs.item() == 1
    oracle.close()
