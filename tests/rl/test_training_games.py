"""`twinstep train` in two-player games: the opponents, and trained policies as players."""

import dataclasses
import json
import shutil
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.cli import main
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.contracts.tcgjax.declaration import TCGJAX
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import variant_of
from twinstep.rl.selfplay import SelfPlay
from twinstep.rl.training import evaluation
from twinstep.rl.training.arenas import arena_of, player_named
from twinstep.rl.training.policy_player import gumbel, trained_player
from twinstep.rl.training.settings import load, settle
from twinstep.rl.versus import OpponentWrapper

GAME = variant_of("tcgjax", TCGJAX.variants[0].name)

#: The reference in Python needs no compilation, and few steps.
TINY = """
backend = "oracle"
against = "random"
shaping = ""
steps = 512
[ppo]
lanes = 8
steps = 8
minibatches = 2
hidden = [8]
encode = ""
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="module")
def run(tiny):
    """The folder of a run by self-play."""
    folder = tiny.parent / "run"
    words = ["train", "tcgjax", "--config", str(tiny), "--against", "self", "--out", str(folder)]
    assert main(words) == 0
    return folder


@pytest.mark.parametrize(("against", "kind"), [("self", SelfPlay), ("scripted", OpponentWrapper)])
def test_a_game_is_trained_against_whom_the_settings_name(against, kind, tiny):
    settings = settle("tcgjax", tiny, {"against": against})
    assert evaluation.opponents_of(settings, []) == (
        list(TCGJAX.players) if against == "self" else ["scripted"]
    )
    assert evaluation.opponents_of(settings, ["random"]) == ["random"]
    arena = arena_of(settings)
    try:
        assert type(arena) is kind
        assert arena.backend == "oracle"
        if kind is OpponentWrapper:
            assert arena._other is player_named(GAME, "scripted")
    finally:
        arena.close()


def test_level_4s_opponent_and_shaping_are_the_default():
    settings = settle("tcgjax", None, {})
    plan = settings.subject().contract.transfer
    assert (settings.against, settings.shaping) == (plan.opponent, plan.shaping)
    assert settings.shaping
    assert (settings.ppo, settings.steps) == (plan.ppo, plan.steps)


def test_a_policy_that_played_itself_is_evaluated_against_players(run, capsys, monkeypatch):
    met = []

    def versus(env, other):
        met.append(other)
        return OpponentWrapper(env, other)

    monkeypatch.setattr(evaluation, "OpponentWrapper", versus)
    words = ["train", "--resume", str(run), "--evaluate", "6", "--opponent", "random"]
    assert main([*words, "--opponent", "scripted"]) == 0
    said = capsys.readouterr().out
    assert "win rate against random in oracle: " in said
    rows = json.loads((run / "result.json").read_text())["evaluation"]
    assert [(row["backend"], row["against"]) for row in rows] == [
        ("oracle", "random"), ("oracle", "scripted"),
    ]  # fmt: skip
    assert met == [player_named(GAME, name) for name in ("random", "scripted")]
    assert all(0 <= row["low"] <= row["means"][0] <= row["high"] <= 1 for row in rows)


def test_a_trained_policy_is_a_player_of_a_round_robin(run, capsys, monkeypatch, tmp_path):
    few = {name: TCGJAX.players[name] for name in ("random", "scripted")}
    declared = dataclasses.replace(TCGJAX, players=few)
    monkeypatch.setattr(registry, "environment", lambda name: declared)
    words = ["elo", "tcgjax", "--backend", "oracle", "--games", "6", "--lanes", "6"]
    path = tmp_path / "elo.json"
    assert main([*words, "--policy", str(run), "--json", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"| {run} | " in said
    assert "18 games in the reference" in said
    found = json.loads(path.read_text())
    steps = json.loads((run / "result.json").read_text())["steps"]
    settings = load(run)
    about = {"backend": settings.backend, "against": settings.against, "steps": steps}
    assert found["policies"] == {str(run): about}
    assert found["names"] == ["random", "scripted", str(run)]


@pytest.mark.parametrize("held", ["{", "[" * 10000, '{"steps": Infinity}'])
def test_a_policy_of_unknown_training_is_one_clear_line_before_any_game(
    held, run, capsys, tmp_path
):
    half = tmp_path / "half"
    shutil.copytree(run, half)
    (half / "result.json").write_text(held)
    words = ["elo", "tcgjax", "--policy", str(half), "--json", str(tmp_path / "elo.json")]
    assert main(words) == 4
    said = capsys.readouterr()
    assert f"{half / 'result.json'} is not as a run writes it" in said.err
    assert not said.out


def test_a_trained_player_draws_legal_actions_as_its_policy_does(run):
    player = trained_player(run, GAME)
    rng = np.random.default_rng(0)
    width, size = player._policy.width, player._policy.inputs
    obs = np.tile(rng.normal(size=(1, size)).astype(np.float32), (40_000, 1))
    legal = np.tile(rng.random((1, width)) < 0.2, (40_000, 1))
    word = rng.integers(0, 2**32, 40_000, dtype=np.uint32)
    drawn = player(obs, legal, word, np)
    assert legal[0, drawn].all()
    share = np.bincount(drawn, minlength=width) / 40_000
    blank = np.zeros((1, 0), np.float32)
    _, out, _ = player._policy.apply(player._params, blank, obs[:1], np.ones(1, bool), np)
    weights = np.where(legal[0], np.exp(out[0]), 0)
    np.testing.assert_allclose(share, weights / weights.sum(), atol=0.02)
    assert (player(obs, legal, word, np) == drawn).all()


def test_noise_of_a_word_is_gumbels_finite_and_alike_in_numpy_and_jax():
    word = np.random.default_rng(1).integers(0, 2**32, 100_000, dtype=np.uint32)
    noise = gumbel(word, 3, np)
    assert noise.dtype == np.float32
    np.testing.assert_allclose(noise.mean(0), 0.5772, atol=0.02)
    np.testing.assert_allclose(noise.std(0), np.pi / np.sqrt(6), atol=0.02)
    np.testing.assert_allclose(np.corrcoef(noise.T), np.eye(3), atol=0.02)
    np.testing.assert_allclose(noise, gumbel(jnp.asarray(word), 3, jnp), rtol=1e-4, atol=1e-5)
    # The largest of all words: its noise is finite, or an illegal action could win.
    every = np.arange(2**22, dtype=np.uint32) * np.uint32(1024)
    assert np.isfinite(np.asarray(jax.jit(lambda w: gumbel(w, 8, jnp))(every))).all()


def test_a_run_that_cannot_be_a_player_is_one_clear_line(run, tiny, tmp_path):
    with pytest.raises(UserError, match="was trained in tcgjax, not in pokejax"):
        trained_player(run, variant_of("pokejax", POKEJAX.variants[0].name))
    with pytest.raises(UserError, match="holds no training run"):
        trained_player(tmp_path, GAME)
    folder = tmp_path / "memory"
    config = tmp_path / "memory.toml"
    config.write_text(TINY.replace("hidden", "memory = 2\nhidden"))
    assert main(["train", "tcgjax", "--config", str(config), "--out", str(folder)]) == 0
    with pytest.raises(UserError, match="a policy with a memory is no player"):
        trained_player(folder, GAME)
    assert player_named(GAME, str(run))
    (folder / "policy.npz").write_bytes(b"half")
    config.write_text((folder / "settings.toml").read_text().replace("memory = 2", "memory = 0"))
    (folder / "settings.toml").write_text(config.read_text())
    with pytest.raises(UserError, match="holds no policy"):
        trained_player(folder, GAME)
    with np.load(run / "policy.npz") as held:
        np.savez(folder / "policy.npz", **{n: held[n] for n in held if n != "critic_b"})
    with pytest.raises(UserError, match="holds no policy of its settings"):
        trained_player(folder, GAME)


@pytest.mark.parametrize("changed", ["policy", "module", "encode"])
def test_a_run_against_a_player_that_has_changed_does_not_go_on(
    changed, run, tiny, tmp_path, capsys, monkeypatch
):
    other = tmp_path / "other"
    shutil.copytree(run, other)
    module = tmp_path / "my_players.py"
    source = "def first(obs, legal, word, xp):\n    return legal.argmax(-1).astype('int32')\n"
    module.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    against = "my_players:first" if changed == "module" else str(other)
    if changed == "encode":
        source = "def same(obs, xp):\n    return obs\n"
        module = tmp_path / "my_encoders.py"
        module.write_text(source)
        settings = other / "settings.toml"
        held = settings.read_text()
        settings.write_text(held.replace('encode = ""', 'encode = "my_encoders:same"'))
    folder = tmp_path / "run"
    words = ["train", "tcgjax", "--config", str(tiny), "--against", against, "--out", str(folder)]
    assert main(words) == 0
    more = ["train", "--resume", str(folder), "--steps", "1024"]
    with np.load(other / "policy.npz") as held:
        policy = {name: held[name] + 1 for name in held}
    if changed == "policy":
        np.savez(other / "policy.npz", **policy)
    else:
        module.write_text(source + "# another\n")
    assert main(more) == 4
    assert "its code is" in capsys.readouterr().err
    if changed == "policy":
        shutil.copy(run / "policy.npz", other / "policy.npz")
    else:
        module.write_text(source)
    assert main(more) == 0


def test_a_policy_named_like_a_player_does_not_take_its_place(run, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run, tmp_path / "random")
    assert main(["elo", "tcgjax", "--policy", "random", "--games", "2"]) == 4
    assert "--policy random: there is a player of this name" in capsys.readouterr().err


def test_a_policy_that_sees_and_does_other_things_is_no_player(run, monkeypatch):
    seen = dataclasses.replace(GAME.contract.observation, shape=(7,), names=())
    other = dataclasses.replace(GAME.contract, observation=seen)
    subject = variant_of("tcgjax", GAME.variant.name)
    monkeypatch.setitem(subject.__dict__, "contract", other)
    with pytest.raises(UserError, match="where other things are seen and done than in"):
        trained_player(run, subject)


def test_an_opponent_whose_encode_is_gone_is_one_clear_line(run, tiny, tmp_path, capsys):
    other = tmp_path / "other"
    shutil.copytree(run, other)
    file = other / "settings.toml"
    file.write_text(file.read_text().replace('encode = ""', 'encode = "gone:away"'))
    words = ["train", "tcgjax", "--config", str(tiny), "--against", str(other)]
    assert main([*words, "--out", str(tmp_path / "run")]) == 4
    assert "ppo.encode 'gone:away' encodes no observation" in capsys.readouterr().err
    assert main(["elo", "tcgjax", "--policy", str(other), "--games", "2"]) == 4
    assert "ppo.encode 'gone:away' encodes no observation" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_players_answers_must_be_whole_numbers_one_each(tmp_path, monkeypatch):
    module = tmp_path / "their_players.py"
    module.write_text("def half(obs, legal, word, xp):\n    return legal.mean(-1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"answers float64\[2\], not int\[2\]"):
        player_named(GAME, "their_players:half")


def test_a_player_must_move_legally(tmp_path, monkeypatch):
    module = tmp_path / "their_cheats.py"
    module.write_text(
        "def last(obs, legal, word, xp):\n    return xp.array([legal.shape[1] - 1] * 2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"illegally: \[(\d+), \1\] where only \[0, \1\] are"):
        player_named(GAME, "their_cheats:last")


def test_a_potential_must_be_float32_one_each(tiny, tmp_path, capsys, monkeypatch):
    module = tmp_path / "their_shapings.py"
    module.write_text("def sums(obs, xp):\n    return obs.astype('float64').sum(-1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["train", "tcgjax", "--config", str(tiny), "--out", str(tmp_path / "run")]
    assert main([*words, "--set", "shaping=their_shapings:sums"]) == 4
    assert "'their_shapings:sums' answers float64[2], not float32[2]" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_with_a_potential_of_no_file_goes_on(tiny, tmp_path, monkeypatch):
    """As a notebook's own functions have none."""
    module = types.ModuleType("of_a_notebook")
    module.__dict__["even"] = lambda obs, xp: xp.zeros(len(obs), "float32")
    monkeypatch.setitem(sys.modules, "of_a_notebook", module)
    words = ["train", "tcgjax", "--config", str(tiny), "--out", str(tmp_path / "run")]
    assert main([*words, "--set", "shaping=of_a_notebook:even"]) == 0
    assert main(["train", "--resume", str(tmp_path / "run")]) == 0
