"""`twinstep train`: a stopped run resumes as if it never stopped, and nothing is overwritten."""

import dataclasses
import json
import os
import signal
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from tensorboardX.proto.event_pb2 import Event

from twinstep._lib import machine
from twinstep.cli import main
from twinstep.env.make import Env
from twinstep.errors import UserError
from twinstep.oracles.pong import upstream
from twinstep.rl.rollouts import Episodes
from twinstep.rl.training import checkpoints, evaluation
from twinstep.rl.training.settings import TrainingSettings, load, read, settle
from twinstep.tests.support.project_folder import Folder
from twinstep.tests.support.requirements import need
from twinstep.tests.support.small_runs import SMALL, curve, stop_at, train

pytestmark = pytest.mark.e2e


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize(
    ("backend", "halves"),
    [("jax", False), ("rust", False), ("rust", True), ("oracle", False), ("oracle", True)],
)
def test_a_stopped_run_goes_on_to_the_same_curve_and_policies(backend, halves, small, tmp_path):
    if backend == "oracle":
        need(upstream.probe({}))
    line = f"ppo.double_buffer={str(halves).lower()}"
    settings = settle("pong", small, {"backend": backend}, [line])
    assert settings.ppo.double_buffer == halves
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    done = train(whole, settings)
    for batch in (16, 40):
        with pytest.raises(KeyboardInterrupt):
            train(parts, settings, stop_at(batch))
        # Killed between a row and its checkpoint: rows without a checkpoint are cut off.
        with (parts / "metrics.csv").open("a") as file:
            file.write("99,1,0,0,0,0,0,0\n99,1")
        if backend != "jax":
            with (parts / "actions.bin").open("ab") as file:
                file.write(bytes(77))
    again = train(parts, settings)
    assert (whole / "metrics.csv").read_bytes() == (parts / "metrics.csv").read_bytes()
    for name, values in done.params.items():
        np.testing.assert_array_equal(values, again.params[name], err_msg=name)
    assert len(curve(whole)) == 2 * settings.batches
    assert np.abs(done.params["actor_w"]).max() > 0
    # A finished run that is resumed for an evaluation keeps its returns.
    assert np.isfinite(done.returns).all()
    np.testing.assert_allclose(train(whole, settings).returns, done.returns)
    assert f"{done.returns[0]:.9g}" in (whole / "metrics.csv").read_text()


def test_a_killed_command_goes_on_to_the_same_curve(small, tmp_path):
    folder = Folder(tmp_path)
    options = ("--config", small, "--checkpoint", "0")
    done = folder.twinstep("train", "pong", *options, "--out", "whole")
    assert done.returncode == 0, done.stderr
    with folder.start("train", "pong", *options, "--out", "killed") as running:
        while not (tmp_path / "killed" / "checkpoint.npz").exists():
            assert running.poll() is None
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
    done = folder.twinstep("train", "--resume", "killed")
    assert done.returncode == 0, done.stderr
    for name in ("metrics.csv", "policy.npz"):
        held = [(tmp_path / run / name).read_bytes() for run in ("whole", "killed")]
        assert held[0] == held[1], name


def test_more_steps_continue_a_finished_run_as_if_they_had_been_asked_at_once(small, tmp_path):
    settings = settle("pong", small, {})
    folder = tmp_path / "longer"
    train(folder, dataclasses.replace(settings, steps=8000))
    assert main(["train", "--resume", str(folder), "--steps", "16000"]) == 0
    train(tmp_path / "whole", settings)
    assert curve(folder) == curve(tmp_path / "whole")
    assert load(folder).steps == 16000


def test_the_settings_of_a_run_are_written_out_and_read_back(small, tmp_path):
    settings = settle("pong", small, {"seeds": [5]})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "settings.toml").write_text(settings.toml())
    assert load(tmp_path / "run") == settings
    file = tmp_path / "run" / "settings.toml"
    file.write_text(file.read_text().replace("shaping", "# shaping"))
    with pytest.raises(UserError, match="lacks shaping"):
        load(tmp_path / "run")
    assert settings.seeds == (5,)
    assert settings.ppo.memory == 4
    # All other settings are level 4's.
    assert settings.ppo.gamma == settings.subject().contract.transfer.ppo.gamma


def test_what_the_command_sets_stands_above_the_file_and_below_its_own_options(small):
    lines = ["ppo.lanes=16", "ppo.hidden=[4]", "steps=3000", "shaping=a:b", "ppo.minibatches=2"]
    settings = settle("pong", small, {"steps": 2000}, lines)
    held = settle("pong", small, {})
    assert (
        (settings.ppo.lanes, settings.ppo.hidden) == (16, (4,)) != (held.ppo.lanes, held.ppo.hidden)
    )
    assert (settings.ppo.minibatches, settings.shaping, settings.steps) == (2, "a:b", 2000)
    assert settings.ppo.steps == held.ppo.steps
    assert settle("pong", small, {}, ["steps=3000"]).steps == 3000 < held.steps
    assert settle("pong", None, {}, ["backend=rust"]).backend == "rust"


def test_without_tensorboardx_the_curve_is_in_the_csv_alone(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    settings = settle("pong", small, {"steps": 2000})
    train(tmp_path / "run", settings)
    assert not (tmp_path / "run" / "tensorboard").exists()
    assert len(curve(tmp_path / "run")) == 2 * settings.batches


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "backend"),
    [("halfcheetah", "jax64"), ("halfcheetah", "rust"), ("emurust", "rust"), ("pokejax", "jax"),
     ("tcgjax", "jax")],
)  # fmt: skip
def test_every_environment_is_trained_and_goes_on_to_the_same_curve(env, backend, small, tmp_path):
    settings = settle(env, small, {"backend": backend, "steps": 4096})
    need(settings.subject().probe)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(whole, settings)
    with pytest.raises(KeyboardInterrupt):
        train(parts, settings, stop_at(8))
    train(parts, settings)
    assert (whole / "metrics.csv").read_bytes() == (parts / "metrics.csv").read_bytes()
    assert len(curve(whole)) == 2 * settings.batches == 32


def test_what_is_known_of_policies_stays_until_they_are_evaluated_again(
    small, tmp_path, monkeypatch
):
    """With its machine and date; a run that was trained further is not evaluated yet."""
    need(upstream.probe({}))
    run = tmp_path / "run"
    words = ["train", "pong", "--config", str(small), "--steps", "2000", "--out", str(run)]
    assert main([*words, "--evaluate", "8"]) == 0
    before = (run / "result.json").read_bytes()

    def cut(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "evaluate", cut)
    monkeypatch.setattr(machine, "made", lambda: {"date": "another"})
    (run / "policy.npz").write_bytes(b"damaged")
    assert main(["train", "--resume", str(run)]) == 0
    again = ["train", "--resume", str(run), "--evaluate", "16"]
    assert main(again) == 130
    assert (run / "result.json").read_bytes() == before
    assert len(json.loads(before)["evaluation"]) == 2
    assert np.load(run / "policy.npz")["actor_b"].shape == (2, 3)
    assert main([*again, "--steps", "8000"]) == 130
    after = json.loads((run / "result.json").read_text())
    assert (after["evaluation"], after["date"]) == ([], "another")


@pytest.mark.parametrize("episodes", [1, 64, 70, 130])
def test_as_many_episodes_are_evaluated_as_were_asked_for_whatever_came_of_them(
    episodes, small, monkeypatch
):
    """Of 64 lanes, all first ones, then all second ones, then the first lanes' third ones."""

    def play(arena, cast, seeds, noise, plan, games):
        lanes = len(seeds) // cast.size
        scores = np.arange(games) * 1000.0 + np.arange(lanes)[:, None]
        whole = np.tile(scores.reshape(1, -1), (cast.size, 1))
        return Episodes(whole, whole < 2000)

    monkeypatch.setattr(evaluation, "play", play)
    settings = settle("pong", small, {})
    params = {"actor_b": np.zeros((2, 3), np.float32)}
    (row,) = evaluation.evaluate(settings, params, ["jax"], [], episodes, lambda text: None)
    expected = [1000.0 * (i // 64) + i % 64 for i in range(episodes)]
    assert row.episodes == episodes
    assert row.means == (np.mean(expected),) * 2
    assert row.unfinished == pytest.approx(np.mean(np.array(expected) >= 2000))


def test_a_run_is_evaluated_in_both_and_the_same_games_are_played(
    small, tmp_path, capsys, monkeypatch
):
    """Pong's two sides are equal bit for bit, so that their scores are."""
    need(upstream.probe({}))
    run, asked = tmp_path / "run", []

    def env(subject, backend, auto_reset):
        asked.append(backend)
        return Env(subject, backend, auto_reset)

    monkeypatch.setattr(evaluation, "Env", env)
    words = ["train", "pong", "--config", str(small), "--steps", "2000", "--out", str(run)]
    assert main([*words, "--evaluate", "8"]) == 0
    assert asked == ["jax", "oracle"]
    lines = capsys.readouterr().out.splitlines()
    shown = [line.partition(": ")[2] for line in lines if line.startswith("score in ")]
    assert len(shown) == 2
    assert shown[0] == shown[1]
    result = json.loads((run / "result.json").read_text())
    assert [row["backend"] for row in result["evaluation"]] == ["jax", "oracle"]
    assert result["steps"] == 2048
    assert set(np.load(run / "policy.npz")) >= {"actor_w", "critic_w", "gru_w"}
    # Evaluated once more from the folder, nothing is trained.
    assert main(["train", "--resume", str(run), "--evaluate", "8"]) == 0
    assert [x for x in capsys.readouterr().out.splitlines() if "score in" in x] == [
        x for x in lines if "score in" in x
    ]


def test_intervals_are_those_of_their_definitions():
    one = np.array([[1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0]])
    np.testing.assert_allclose(evaluation.interval(one, True), (0.3968, 0.8922), atol=1e-4)
    half = 1.959964 * one.std(ddof=1) / np.sqrt(10)
    np.testing.assert_allclose(evaluation.interval(one, False), (0.7 - half, 0.7 + half), rtol=1e-6)
    # Over policies it is Student's, and episodes do not count.
    many = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    half = 4.302653 * 1 / np.sqrt(3)
    np.testing.assert_allclose(evaluation.interval(many, False), (2 - half, 2 + half), rtol=1e-6)


def test_event_files_hold_the_curve_by_steps(small, tmp_path):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    train(folder, settings)
    for seed in settings.seeds:
        (path,) = (folder / "tensorboard" / f"seed{seed}").iterdir()
        found = {}
        for record in _records(path):
            event = Event()
            event.ParseFromString(record)
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = value.simple_value
        rows = [row for row in curve(folder) if row["seed"] == str(seed)]
        assert "train/steps_per_second" in found
        for name in ("reward", "entropy", "value_loss", "ratio_kl"):
            held = {int(row["steps"]): float(row[name]) for row in rows}
            assert found[f"train/{name}"].keys() == held.keys()
            np.testing.assert_allclose(
                list(found[f"train/{name}"].values()), list(held.values()), rtol=1e-6
            )


def _records(path: Path):
    """Return the payloads of a file of records: length u64, its check, bytes, their check."""
    data = path.read_bytes()
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        yield data[at + 12 : at + 12 + size]
        at += size + 16


def test_random_keys_and_arrays_come_back_as_they_were(tmp_path):
    tree = {"key": jax.random.split(jax.random.key(3), 2), "a": np.arange(3.0), "b": np.bool_(True)}
    path = tmp_path / "checkpoint.npz"
    checkpoints.write(path, {"batches": 7}, tree)
    blank = jax.tree.map(lambda x: x, tree) | {"key": jax.random.split(jax.random.key(9), 2)}
    back = checkpoints.read(path, blank)
    assert checkpoints.head_of(path)["batches"] == 7
    words = [jax.random.key_data(each["key"]) for each in (back, tree)]
    np.testing.assert_array_equal(*words)
    np.testing.assert_array_equal(back["a"], tree["a"])
    assert back["b"]
    with pytest.raises(UserError, match="is of another run: float64"):
        checkpoints.read(path, tree | {"a": np.arange(4.0)})


def test_read_says_nothing_of_what_a_file_leaves_out(tmp_path):
    file = tmp_path / "some.toml"
    file.write_text("steps = 5\n[ppo]\ngamma = 0.5\n")
    assert read(file) == {"steps": 5, "ppo": {"gamma": 0.5}}
    assert isinstance(settle("pong", file, {}), TrainingSettings)
