"""Ports in JAX are made candidates: pinned types, placed starts, loaded states, clear refusals."""

import sys
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.experimental.functional import FuncEnv

from twinstep import Contract, Discrete, Field, Randomness, Start, UserError
from twinstep.inward import from_brax, from_functional, from_gymnax, from_jumanji, from_pgx

LANES = 3
STARTS = Start(np.arange(2 * LANES, dtype=np.uint32).reshape(LANES, 2))


class Slope(NamedTuple):
    place: Any
    fallen: Any
    clock: Any
    last: Any


class Ramp(FuncEnv):
    """Down a ramp: begun with Python's numbers, stepped with arrays, some of shape [1], as ports.

    One tenth a step, twice as much for action 1; below -1 it ends.
    """

    observation_space = spaces.Box(-2, 2, (1,))
    action_space = spaces.Box(0, 1, (1,), np.int32)

    def initial(self, rng, params=None):
        return Slope(jax.random.uniform(rng), 0, 0, -1)

    def transition(self, state, action, rng, params=None):
        # An integer times a float: JAX's strict promotion refuses it.
        place = state.place - (1 + action[0]) * 0.1
        fallen = (place < -1)[None]
        return Slope(place, fallen, state.clock + 1, action[0].astype(jnp.int16))

    def observation(self, state, rng, params=None):
        return jnp.stack([state.place])

    def reward(self, state, action, next_state, rng, params=None):
        return next_state.place - state.place

    def terminal(self, state, rng, params=None):
        return state.fallen


FIELDS = {"place": "place", "fallen": "fallen", "clock": "clock"}


def contract(floats="float32", **more):
    return Contract(
        **{
            "version": "ramp-v0",
            "params": {},
            "action": Discrete(2),
            "observation": Field("obs", floats, (1,)),
            "state": (
                Field("place", floats),
                Field("fallen", "bool", (1,)),
                Field("clock", "int32"),
            ),
            "randomness": Randomness("the seed"),
            "reward_dtype": floats,
            **more,
        }
    )


def actions(steps, seed=0):
    drawn = np.random.default_rng(seed).integers(0, 2, (steps, LANES, 1))
    return drawn.astype(np.int32)


def test_a_state_that_changes_its_types_after_the_reset_can_be_scanned():
    candidate = from_functional(Ramp(), fields=FIELDS)(contract())
    state, first = candidate.reset(STARTS)
    types = [leaf.dtype for leaf in jax.tree.leaves(state.inner)]
    assert types == [jnp.float32, jnp.bool_, jnp.int32, jnp.int16]
    assert first.state["fallen"].shape == (LANES, 1)
    state, frames = candidate.rollout(state, actions(25))
    assert [leaf.dtype for leaf in jax.tree.leaves(state.inner)] == types
    ended = np.asarray(frames.terminated)
    assert ended.any()
    np.testing.assert_array_equal(ended, np.asarray(frames.state["place"]) < -1)
    np.testing.assert_array_equal(ended, np.asarray(frames.state["fallen"])[..., 0])


def test_the_environments_own_numbers_are_returned():
    """Against the library's functions called one by one, without the adapter."""
    env = Ramp()
    candidate = from_functional(env, key=lambda start: jax.random.key(start.seed[1]))(contract())
    moves = actions(10)
    state, frame = candidate.reset(STARTS)
    with jax.numpy_dtype_promotion("standard"):
        inner = env.initial(jax.random.split(jax.random.key(STARTS.seed[1, 1]))[1])
        assert frame.obs[1, 0, 0] == inner.place
        assert not np.asarray(frame.reward).any()
        for move in moves:
            before, inner = inner, env.transition(inner, jnp.asarray(move[1]), None)
            state, frame = candidate.step(state, move)
            assert frame.reward.shape == (LANES, 1)
            np.testing.assert_allclose(frame.obs[1, 0], inner.place, atol=1e-6)
            np.testing.assert_allclose(frame.reward[1, 0], inner.place - before.place, atol=1e-6)


class Rounded(Ramp):
    """A whole number after a step."""

    def transition(self, state, action, rng, params=None):
        after = super().transition(state, action, rng)
        return after._replace(place=jnp.round(after.place).astype(jnp.int32))


class Grows(Ramp):
    """A longer history with each step."""

    def initial(self, rng, params=None):
        return super().initial(rng)._replace(clock=jnp.zeros(2, jnp.int32))

    def transition(self, state, action, rng, params=None):
        after = super().transition(state, action, rng)
        return after._replace(clock=jnp.append(state.clock, 0))


class Forgets(Ramp):
    """A step that does not return all that reset did."""

    def initial(self, rng, params=None):
        return {"a": super().initial(rng), "b": 0}

    def transition(self, state, action, rng, params=None):
        return {"a": super().transition(state["a"], action, rng)}

    def observation(self, state, rng, params=None):
        return super().observation(state["a"], rng)

    def reward(self, state, action, next_state, rng, params=None):
        return 0.0

    def terminal(self, state, rng, params=None):
        return False


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (Rounded(), "a step changes `place` from float32 to int32, which would lose fractions"),
        (Grows(), r"a step changes `clock` from shape \[2\] to \[3\]: let reset return the same"),
        (Forgets(), r"a step changes the structure of the state at `\['b'\]`: let reset return"),
    ],
)
def test_a_change_that_no_cast_mends_is_one_line_with_the_fields_name(env, says):
    with pytest.raises(UserError, match=f"^from_functional: {says}") as error:
        from_functional(env)(contract())
    assert "\n" not in str(error.value)


def test_a_placed_start_and_a_loaded_state_continue_alike():
    moves = actions(12)
    placed = contract(starts=(Field("at", "float32"),))
    candidate = from_functional(
        Ramp(), place=lambda state, start: state._replace(place=start.fields["at"]), fields=FIELDS
    )(placed)
    at = np.array([0.25, -0.5, 1.5], np.float32)
    state, first = candidate.reset(Start(STARTS.seed, {"at": at}))
    np.testing.assert_array_equal(first.obs[:, 0, 0], at)
    np.testing.assert_array_equal(first.state["place"], at)
    state, frames = candidate.rollout(state, moves[:5])
    here = {name: np.asarray(values)[-1] for name, values in frames.state.items()}
    _, want = candidate.rollout(state, moves[5:])
    _, got = candidate.rollout(candidate.load(here), moves[5:])
    jax.tree.map(np.testing.assert_array_equal, got, want)
    assert np.asarray(want.terminated).any()


def test_float64_is_the_arithmetic_of_placed_values_too():
    """A start's fields in float32 must not make a port in float64 compute in float32."""
    placed = contract("float64", starts=(Field("at", "float32"),))
    candidate = from_functional(
        Ramp(),
        dtype="float64",
        place=lambda state, start: state._replace(place=start.fields["at"]),
        fields=FIELDS,
    )(placed)
    at = np.array([0.3, 0.7, 0.1], np.float32)
    state, _ = candidate.reset(Start(STARTS.seed, {"at": at}))
    _, frame = candidate.step(state, np.zeros((LANES, 1), np.int32))
    place = np.asarray(frame.state["place"])
    assert place.dtype == np.float64
    np.testing.assert_array_equal(place, at.astype(np.float64) - 0.1)


def test_a_contract_in_float64_takes_a_candidate_in_float32():
    """Without JAX's warning of a dtype that it has not, which is an error here."""
    wide = contract("float64", starts=(Field("at", "float64"),))
    candidate = from_functional(
        Ramp(), place=lambda state, start: state._replace(place=start.fields["at"]), fields=FIELDS
    )(wide)
    state, frame = candidate.reset(Start(STARTS.seed, {"at": np.zeros(LANES)}))
    state, frame = candidate.step(state, np.zeros((LANES, 1), np.int32))
    state = candidate.load({name: np.asarray(value) for name, value in frame.state.items()})
    _, frame = candidate.step(state, np.zeros((LANES, 1), np.int32))
    assert {frame.obs.dtype, frame.reward.dtype, frame.state["place"].dtype} == {
        np.dtype("float32")
    }


def test_functions_of_the_state_are_shown_and_give_no_load():
    fields = {"place": lambda state: state.place * 2, "fallen": "fallen", "clock": "clock"}
    for given in (fields, lambda state: {n: getattr(state, n) for n in FIELDS}):
        candidate = from_functional(Ramp(), fields=given)(contract())
        assert not hasattr(candidate, "load")
    candidate = from_functional(Ramp(), fields=fields)(contract())
    _, frame = candidate.reset(STARTS)
    np.testing.assert_array_equal(frame.state["place"], 2 * frame.obs[:, 0, 0])
    loads = from_functional(
        Ramp(),
        fields=fields,
        load=lambda state, given: state._replace(place=given["place"] / 2, clock=given["clock"]),
    )(contract())
    state = loads.load({name: np.asarray(values) for name, values in frame.state.items()})
    _, after = loads.step(state, np.zeros((LANES, 1), np.int32))
    np.testing.assert_array_equal(after.state["clock"], 1)
    lower = np.asarray(frame.state["place"]) - np.float32(0.2)
    np.testing.assert_allclose(after.state["place"], lower, atol=1e-6)


def test_the_mask_is_the_hooks_or_refused():
    masked = contract(masked=True)
    with pytest.raises(UserError, match="the contract is masked and the library gives no mask"):
        from_functional(Ramp(), fields=FIELDS)(masked)
    legal = lambda state: jnp.stack([state.clock >= 0, state.clock > 0])  # noqa: E731
    candidate = from_functional(Ramp(), fields=FIELDS, legal=legal)(masked)
    state, frame = candidate.reset(STARTS)
    assert np.asarray(frame.legal).tolist() == [[[True, False]]] * LANES
    _, frame = candidate.step(state, np.zeros((LANES, 1), np.int32))
    assert np.asarray(frame.legal).all()


def _functional(**hooks):
    return lambda: from_functional(Ramp(), **hooks)(contract(**hooks.pop("declared", {})))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (_functional(fields={"place": "plaice"}), "'plaice' is not there: Slope has no 'plaice'"),
        (
            _functional(fields={"place": "place[0]"}),
            r"'place\[0\]' is not there: .* takes no index",
        ),
        (_functional(fields={"place": "a..b"}), "'a..b' is no path: write names and indices"),
        (_functional(feilds=FIELDS), r"has no argument 'feilds' \(it has place, fields, load"),
        (_functional(dtype="double"), "dtype='double': write 'float32' or 'float64'"),
        (
            _functional(observation=lambda seen: seen * 1.0, fields={"fallen": "place"}),
            "`fallen` is",
        ),
        (_functional(observation=lambda seen: {"a": seen, "b": seen}), r"has parts \(\['a'\], "),
        (_functional(fields={"place": "place", "fallen": ""}), "`fallen` is no array but a Slope"),
        (
            lambda: from_functional(Ramp(), fields=FIELDS)(
                contract(state=(Field("place", "float32", (2,)), *contract().state[1:]))
            ),
            r"field `place` is \[2\] in the contract and \[\] in the library's state",
        ),
        (_functional(fields={"pace": "place"}), "the contract's state has no field `pace`"),
        (lambda: from_functional(Ramp)(contract()), "Ramp is a class: give an object"),
        (lambda: from_functional(object())(contract()), "object has no `initial`, `transition`"),
        (lambda: from_gymnax(Ramp())(contract()), "Ramp has no `reset_env`, `step_env`: give what"),
        (lambda: from_pgx(3)(contract()), "int has no `init`, `step`, `_observe`: give what"),
        (lambda: from_jumanji(Ramp())(contract()), "Ramp has no `reset`, `step`: give what"),
        (
            lambda: from_functional(Ramp())(contract(starts=(Field("at", "float32"),))),
            r"nothing puts the starts' fields \(at\) into the environment: add place=",
        ),
        (lambda: from_functional(Ramp())(contract(players=2)), "has 1 players, the contract 2"),
    ],
)
def test_bad_input_is_one_line(build, says):
    with pytest.raises(UserError, match=says) as error:
        build()
    assert str(error.value).startswith(("from_", "fields: "))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("function", "package"), [(from_gymnax, "gymnax"), (from_pgx, "pgx"), (from_brax, "brax")]
)
def test_a_missing_library_is_one_line(monkeypatch, function, package):
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=f"{package} is not installed: `pip install {package}`"):
        function("anything")(contract())
