"""Players of the card game: legal, alike in NumPy and JAX, blind to what is hidden, and ranked."""

from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.contracts.tcgjax.declaration import TCGJAX
from twinstep.contracts.tcgjax.layout import DECK, OBSERVATION, Ask
from twinstep.env.make import Env
from twinstep.generated import tcgjax
from twinstep.generated.tcgjax import State
from twinstep.jax_candidate import use_compilation_cache
from twinstep.project.registry import variant_of
from twinstep.properties.tcgjax.test_hidden import hidden_changed
from twinstep.rl.rollouts import environment_seeds
from twinstep.rl.versus import OpponentWrapper, player_of, win_rates, words
from twinstep.transfer.tcgjax import features, heuristics
from twinstep.transfer.tcgjax.imagined import imagined

STEPS, LANES, FEW = 90, 16, 64
SEEDS = environment_seeds(6, LANES)
_LIST = [OBSERVATION.index(f"list {n}") for n in range(DECK)]
_TURN, _ASK, _MINE = (OBSERVATION.index(name) for name in ("turn", "ask", "my turn"))


@pytest.fixture(scope="module")
def env():
    use_compilation_cache()
    env = Env(variant_of("tcgjax", "apex"), "jax", "same-step")
    yield env
    env.close()


def _loose(obs, legal, word, xp=np):
    """Follow the script, but slip in one of four decisions: all kinds of positions come up."""
    slips = (word >> np.uint32(9)) % np.uint32(4) == 0
    other = heuristics.random(obs, legal, word, xp)
    return xp.where(slips, other, heuristics.scripted(obs, legal, word, xp))


@pytest.fixture(scope="module")
def shown(env):
    """States, and observations and masks of the first player, where it acts: [K, ...]."""
    game = OpponentWrapper(env, _loose)
    state, now = game.reset(SEEDS)
    rows = []
    for t in range(STEPS):
        fields = {name: np.asarray(v) for name, v in env.frame(state.inner).state.items()}
        rows.append(SimpleNamespace(obs=now.obs, legal=now.legal, fields=fields))
        word = words(SEEDS, np.full(LANES, t, np.uint32), 0, np)
        state, now = game.step(state, _loose(now.obs, now.legal, word))
    obs, legal = (np.concatenate([getattr(row, n) for row in rows]) for n in ("obs", "legal"))
    fields = {name: np.concatenate([row.fields[name] for row in rows]) for name in rows[0].fields}
    acts = legal.any(-1)
    return obs[acts], legal[acts], {name: values[acts] for name, values in fields.items()}


def _word(count):
    return np.random.default_rng(0).integers(0, 2**32, count, dtype=np.uint32)


def _some(count, name):
    """Return as many rows as a player gets: the engine plays many turns for some."""
    few = FEW if name in ("greedy", "expectimax") else count
    return np.random.default_rng(1).permutation(count)[:few]


# `greedy` compiles long.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "greedy" else ())
        for name in TCGJAX.players
    ],
)
def test_a_player_answers_alike_in_numpy_and_jax_and_legally(shown, name):
    rows = _some(len(shown[0]), name)
    obs, legal = (values[rows] for values in shown[:2])
    word, player = _word(len(obs)), player_of(TCGJAX, name)
    one = player(obs, legal, word, np)
    # It is already one compiled program, and an expensive one: it is not compiled inside another.
    traced = partial(player, xp=jnp)
    traced = traced if name == "expectimax" else jax.jit(traced)
    other = traced(*map(jnp.asarray, (obs, legal, word)))
    np.testing.assert_array_equal(one, np.asarray(other))
    assert np.take_along_axis(legal, one[:, None], 1).all()
    nobody = player(obs, np.zeros_like(legal), word, np)
    assert (nobody == 0).all()


@pytest.mark.parametrize("function", [features.encode, features.potential])
def test_what_a_policy_is_told_is_alike_in_numpy_and_jax(shown, function):
    obs = shown[0].astype(np.float32)
    made = function(obs, np)
    assert made.dtype == np.float32
    assert np.abs(made).max() <= 5
    other = jax.jit(lambda seen: function(seen, jnp))(obs)
    np.testing.assert_array_equal(made, np.asarray(other))


@pytest.fixture(scope="module")
def changed(env, shown):
    """Return the first player's view after everything hidden from it was replaced."""
    obs, legal, fields = shown
    rng = np.random.default_rng(2)
    rows = [{n: v[i] for n, v in fields.items()} for i in range(len(obs))]
    others = [hidden_changed(row, 0, rng) for row in rows]
    stacked = {name: np.stack([row[name] for row in others]) for name in fields}
    seen = jax.jit(jax.vmap(tcgjax.view))(State(**stacked))
    return np.asarray(seen.obs[:, 0]), np.asarray(seen.legal[:, 0]), stacked


@pytest.mark.parametrize("name", TCGJAX.players)
def test_a_choice_stays_where_only_hidden_things_change(shown, changed, name):
    obs, legal, fields = shown
    # The replacement did change something.
    assert (fields["seed"] != changed[2]["seed"]).any(-1).all()
    assert (fields["cards"][:, 1] != changed[2]["cards"][:, 1]).any(-1).mean() > 0.9
    rows = _some(len(obs), name)
    word, player = _word(len(rows)), player_of(TCGJAX, name)
    one = player(obs[rows], legal[rows], word, np)
    other = player(changed[0][rows], changed[1][rows], word, np)
    np.testing.assert_array_equal(one, other)


def test_an_imagined_game_looks_as_the_one_that_was_seen(shown):
    obs, legal, _ = shown
    known = (obs[:, _TURN] > 0) & ~np.isin(obs[:, _ASK], [int(Ask.PAY), int(Ask.PROMOTE)])
    obs, legal = obs[known], legal[known]
    seeds = np.stack([_word(len(obs)), np.arange(len(obs), dtype=np.uint32)], -1)
    look = jax.jit(lambda *given: jax.vmap(tcgjax.view)(jax.vmap(imagined)(*given)))
    seen = look(obs, seeds)
    got = np.array(seen.obs[:, 0])
    # The own list is in another order: nobody sees any more of it.
    got[:, _LIST], want = np.sort(got[:, _LIST], 1), obs.copy()
    want[:, _LIST] = np.sort(want[:, _LIST], 1)
    wrong = np.argwhere(got != want)
    assert not len(wrong), OBSERVATION[wrong[0, 1]]
    np.testing.assert_array_equal(np.asarray(seen.legal[:, 0]), legal)


def test_imagined_games_of_two_seeds_differ_in_what_is_hidden(shown):
    obs = shown[0][shown[0][:, _TURN] > 2][:FEW]
    made = []
    for number in (1, 2):
        seeds = np.full((len(obs), 2), number, np.uint32)
        made.append(jax.jit(jax.vmap(imagined))(obs, seeds))
    one, other = made
    assert (np.asarray(one.cards) != np.asarray(other.cards)).any(-1).mean(0).min() > 0.9


@pytest.mark.parametrize(
    ("better", "worse", "least"),
    [("scripted", "random", 0.85), ("greedy", "random", 0.85)],
)
def test_the_better_player_wins(env, better, worse, least):
    players = player_of(TCGJAX, better), player_of(TCGJAX, worse)
    assert win_rates(env, *players, 128, 64).mean() > least
