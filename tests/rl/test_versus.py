"""Players of a two-player game, one policy against them, and their ratings."""

import dataclasses
import json

import jax
import numpy as np
import pytest

import twinstep
from twinstep.cli import main
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.env.make import Env
from twinstep.errors import UserError
from twinstep.jax_candidate import use_compilation_cache
from twinstep.project import registry
from twinstep.project.registry import variant_of
from twinstep.rl import elo
from twinstep.rl.rollouts import environment_seeds
from twinstep.rl.versus import OpponentWrapper, player_of, win_rates, words
from twinstep.tests.support.requirements import need
from twinstep.transfer.pokejax import features, heuristics, minimax

STEPS, LANES = 40, 16
SEEDS = environment_seeds(6, LANES)


@pytest.fixture(scope="module")
def shown(pokejax_oracle):
    """Observations and masks of the first player in the reference, [T * N, ...]."""
    game = OpponentWrapper(pokejax_oracle, heuristics.mixed)
    state, now = game.reset(SEEDS)
    rows = []
    for t in range(STEPS):
        rows.append((now.obs, now.legal))
        word = words(SEEDS, np.full(LANES, t, np.uint32), 0, np)
        state, now = game.step(state, heuristics.mixed(now.obs, now.legal, word))
    return tuple(np.concatenate(values) for values in zip(*rows, strict=True))


@pytest.fixture(scope="module")
def pokejax_oracle():
    subject = variant_of("pokejax", "randbats")
    need(subject.probe)
    use_compilation_cache()
    env = Env(subject, "oracle", "same-step")
    yield env
    env.close()


def _word(count):
    return np.random.default_rng(0).integers(0, 2**32, count, dtype=np.uint32)


# Minimax compiles long: the engine tries 80 turns for each of its decisions.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "minimax" else ())
        for name in POKEJAX.players
    ],
)
def test_a_player_answers_alike_in_numpy_and_jax_and_legally(shown, name):
    obs, legal = (values[-96:] if name == "minimax" else values for values in shown)
    word, player = _word(len(obs)), player_of(POKEJAX, name)
    one = player(obs, legal, word, np)
    other = jax.jit(lambda *seen: player(*seen, jax.numpy))(obs, legal, word)
    np.testing.assert_array_equal(one, np.asarray(other))
    asked = legal.any(-1)
    assert np.take_along_axis(legal, one[:, None], 1)[asked].all()
    assert (one[~asked] == 0).all()


@pytest.mark.parametrize("function", [features.encode, features.potential])
def test_what_a_policy_is_told_is_alike_in_numpy_and_jax(shown, function):
    obs = shown[0].astype(np.float32)
    made = function(obs, np)
    assert made.dtype == np.float32
    other = jax.jit(lambda seen: function(seen, jax.numpy))(obs)
    np.testing.assert_array_equal(made, np.asarray(other))
    assert np.abs(made).max() < 8


def test_the_potential_is_opposite_where_both_sides_know_all():
    """Equal teams, unhurt: 0; each member that the foe lost counts a sixth of a half or less."""
    obs = np.zeros((1, 263), np.int16)
    names = list(POKEJAX.contract(POKEJAX.params({})).observation.names)

    def put(**values):
        for name, value in values.items():
            obs[0, names.index(name)] = value

    for i in range(1, 7):
        put(**{f"own_{i}_hp": 300, f"own_{i}_max_hp": 300})
    put(left=6, foe_left=6, foe_1_level=50, foe_1_hp_percent=100)
    assert features.potential(obs) == 0
    put(foe_1_hp_percent=40)
    assert features.potential(obs) == np.float32(60) * np.float32(1 / 3600)
    put(foe_1_hp_percent=0, foe_1_fainted=1, foe_left=5)
    assert features.potential(obs) == np.float32(300) * np.float32(1 / 3600)
    put(own_1_hp=150)
    assert features.potential(obs) == np.float32(250) * np.float32(1 / 3600)


def _games(env, potential=None, gamma=1.0):
    """Return a game's observations, rewards and actions, [T, N, ...]."""
    game = OpponentWrapper(env, heuristics.mixed, potential, gamma)
    state, now = game.reset(SEEDS)
    rows = [(now.obs, now.reward, now.terminated, now.legal, np.zeros((LANES, 2), np.int32))]
    for t in range(STEPS):
        word = words(SEEDS, np.full(LANES, t, np.uint32), 0, np)
        mine = heuristics.mixed(np.asarray(now.obs), np.asarray(now.legal), word)
        state, now = game.step(state, mine)
        rows.append((now.obs, now.reward, now.terminated, now.legal, state.played))
    return [np.stack([np.asarray(row[i]) for row in rows]) for i in range(5)]


@pytest.mark.slow
def test_a_game_is_the_same_in_the_reference_and_in_a_candidate(pokejax_oracle):
    subject = pokejax_oracle._subject
    for one, other in zip(
        _games(pokejax_oracle, features.potential, 0.9),
        _games(Env(subject, "jax", "same-step"), features.potential, 0.9),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_a_game_pays_the_win_rate_and_shaping_adds_up_to_nothing_but_its_start(pokejax_oracle):
    _, plain, ended, _, _ = _games(pokejax_oracle)
    assert set(np.unique(plain[ended])) <= {0.0, 0.5, 1.0}
    assert {0.0, 1.0} <= set(np.unique(plain[ended]))
    assert (plain[~ended] == 0).all()
    # One more everywhere: where battles begin a potential is 0, whatever is paid for it.
    one_more = lambda obs, xp: features.potential(obs, xp) + np.float32(1)  # noqa: E731
    obs, paid, _, _, _ = _games(pokejax_oracle, one_more)
    extra, first = paid - plain, one_more(obs[0], np)
    assert np.abs(extra).max() > 0
    for lane in np.flatnonzero(ended.any(0)):
        end = ended[:, lane].argmax() + 1
        assert extra[:end, lane].sum() == pytest.approx(-first[lane], abs=1e-5)


def test_who_is_not_asked_plays_0(pokejax_oracle):
    game = OpponentWrapper(pokejax_oracle, heuristics.max_damage)
    state, now = game.reset(SEEDS)
    waited = 0
    for _ in range(STEPS):
        waits = ~now.legal.any(-1)
        state, now = game.step(state, np.where(waits, 7, now.legal.argmax(-1)))
        assert (state.played[waits, 0] == 0).all()
        waited += waits.sum()
    assert waited > 0


@pytest.mark.slow
def test_max_damage_beats_random_and_minimax_is_no_worse():
    env = Env(variant_of("pokejax", "randbats"), "jax", "same-step")
    assert win_rates(env, heuristics.max_damage, heuristics.random, 128, 64).mean() > 0.95
    assert win_rates(env, minimax.minimax, heuristics.max_damage, 256, 64).mean() > 0.45


def test_only_games_of_two_have_another_side():
    with pytest.raises(UserError, match="pong-v0 is no game of two players"):
        OpponentWrapper(twinstep.make("pong-v0"), heuristics.random)


@pytest.fixture(scope="module")
def fixed():
    """Games drawn from known ratings."""
    truth, rng = np.array([1000.0, 1100.0, 1400.0]), np.random.default_rng(1)
    names, found = ["a", "b", "c"], {}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rate = 1 / (1 + 10 ** ((truth[j] - truth[i]) / 400))
        found[names[i], names[j]] = (rng.random(4000) < rate).astype(float)
    return truth, names, found


def test_ratings_are_those_that_the_games_were_drawn_from(fixed):
    truth, names, found = fixed
    table = elo.rated(names, found)
    assert table.elo[0] == 1000
    assert (np.abs(table.elo - truth) < 4 * table.spread + 1e-9).all()
    assert 2 < table.spread[1] < 15
    assert "| c | 1" in elo.lines(table)[2]


def test_the_rate_of_a_pair_is_said_for_both(fixed):
    _, names, found = fixed
    rates = elo.rated(names, found).rates
    np.testing.assert_allclose(rates[0, 1], found["a", "b"].mean())
    np.testing.assert_allclose(rates + rates.T, np.where(np.eye(3) > 0, np.nan, 1.0))


def test_players_that_are_not_there_are_one_clear_line(capsys):
    assert main(["elo", "pong"]) == 4
    assert "pong declares no players" in capsys.readouterr().err
    assert main(["elo", "pokejax", "--games", "0"]) == 4
    with pytest.raises(UserError, match="max-damage"):
        player_of(registry.environment("pokejax"), "max_damage")


@pytest.mark.slow
def test_a_round_robin_is_told_as_a_table_and_written(capsys, monkeypatch, tmp_path):
    few = {name: POKEJAX.players[name] for name in ("random", "max-damage")}
    declared = dataclasses.replace(POKEJAX, players=few)
    monkeypatch.setattr(registry, "environment", lambda name: declared)
    path = tmp_path / "new" / "pokejax.json"
    words = ["elo", "pokejax", "--games", "64", "--lanes", "64"]
    assert main([*words, "--json", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "| player | Elo | against max-damage | against random |"
    assert said[2].startswith("| max-damage | 1")
    assert said[-2].startswith("64 games in candidate jax")
    found = json.loads(path.read_text())
    assert found["names"] == ["random", "max-damage"]
    (_, lost), (won, _) = found["rates"]
    assert lost + won == 1
    assert said[2].split(" | ")[1:3] == [
        f"{found['elo'][1]:.0f} ± {found['spread'][1]:.0f}", ""
    ]  # fmt: skip
    assert f" | {won:.3f} |" in said[2]
    assert found["rates"][0][0] is None
    assert (found["environment"], found["backend"], found["games"]) == ("pokejax-v0", "jax", 64)
    assert found["command"].startswith("twinstep elo pokejax --variant ")
    assert found["command"].endswith(" --backend jax --games 64 --lanes 64")
    assert found["policies"] == {}
    assert {"machine", "versions", "date", "variant"} <= found.keys()


def test_a_table_that_cannot_be_written_is_one_clear_line_before_any_game(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "elo.json"
    assert main(["elo", "pokejax", "--json", str(path)]) == 4
    assert capsys.readouterr().err == f"twinstep: --json {path}: it cannot be written there\n"


def test_every_start_of_a_round_robin_is_played_in_either_seat(monkeypatch):
    """Who wins by their seat alone is worth as much as the other."""
    asked = []

    def seated(env, first, other, games, lanes):
        asked.append((first, other, games, lanes))
        return np.ones(games)

    monkeypatch.setattr("twinstep.rl.versus.win_rates", seated)
    found = elo.round_robin(None, {"a": "A", "b": "B", "c": "C"}, 5, 256)
    assert asked[:2] == [("A", "B", 3, 3), ("B", "A", 3, 3)]
    assert len(asked) == 6
    assert {pair: (len(worth), worth.mean()) for pair, worth in found.items()} == dict.fromkeys(
        (("a", "b"), ("a", "c"), ("b", "c")), (6, 0.5)
    )
