"""`twinstep train`: a stopped run goes on as if it had not been, and nothing is overwritten."""

import csv
import dataclasses
import errno
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

from twinstep.cli import main
from twinstep.env import Env
from twinstep.environment import Probe
from twinstep.errors import UserError
from twinstep.oracles.pong import upstream
from twinstep.ppo import Trainer
from twinstep.registry import Subject
from twinstep.tests.need import need
from twinstep.tests.scratch import Folder
from twinstep.training import checkpoints, evaluating, loop
from twinstep.training.settings import Settings, load, read, settle

SMALL = """
steps = 16000
seeds = [0, 3]
[ppo]
lanes = 32
steps = 8
minibatches = 4
hidden = [8]
memory = 4
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def _train(folder, settings, progress=lambda text: None, every=0.0):
    if not folder.exists():
        loop.begin(folder, settings)
    return loop.go_on(folder, settings, progress, every)


def _stop_at(batch):
    def progress(text):
        if text.startswith(f"batch {batch} "):
            raise KeyboardInterrupt

    return progress


def _curve(folder):
    return list(csv.DictReader((folder / "metrics.csv").read_text().splitlines()))


def _files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
    done = _train(whole, settings)
    for batch in (16, 40):
        with pytest.raises(KeyboardInterrupt):
            _train(parts, settings, _stop_at(batch))
        # Killed between a row and its checkpoint: what no checkpoint has is cut off.
        with (parts / "metrics.csv").open("a") as file:
            file.write("99,1,0,0,0,0,0,0\n99,1")
        if backend != "jax":
            with (parts / "actions.bin").open("ab") as file:
                file.write(bytes(77))
    again = _train(parts, settings)
    assert (whole / "metrics.csv").read_bytes() == (parts / "metrics.csv").read_bytes()
    for name, values in done.params.items():
        np.testing.assert_array_equal(values, again.params[name], err_msg=name)
    assert len(_curve(whole)) == 2 * settings.batches
    assert np.abs(done.params["actor_w"]).max() > 0
    # A finished run that is asked again, to be evaluated, still knows what it scored.
    assert np.isfinite(done.score).all()
    np.testing.assert_allclose(_train(whole, settings).score, done.score)
    assert f"{done.score[0]:.9g}" in (whole / "metrics.csv").read_text()


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
    _train(folder, dataclasses.replace(settings, steps=8000))
    assert main(["train", "--resume", str(folder), "--steps", "16000"]) == 0
    _train(tmp_path / "whole", settings)
    assert _curve(folder) == _curve(tmp_path / "whole")
    assert load(folder).steps == 16000


def test_the_settings_of_a_run_are_written_out_and_read_back(small, tmp_path):
    settings = settle("pong", small, {"seeds": [5]})
    loop.begin(tmp_path / "run", settings)
    assert load(tmp_path / "run") == settings
    file = tmp_path / "run" / "settings.toml"
    file.write_text(file.read_text().replace("shaping", "# shaping"))
    with pytest.raises(UserError, match="lacks shaping"):
        load(tmp_path / "run")
    assert settings.seeds == (5,)
    assert settings.ppo.memory == 4
    # What neither says is level 4's.
    assert settings.ppo.gamma == settings.subject().contract.transfer.ppo.gamma


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stepz = 3", "unknown key 'stepz'; did you mean 'steps'?"),
        ("[ppo]\ngama = 0.9", "unknown key 'ppo.gama'; did you mean 'ppo.gamma'?"),
        ("steps = true", "steps = True is no int"),
        ("[ppo]\nhidden = 64", "ppo.hidden = 64 is no list of whole numbers"),
        ("[ppo]\nminibatches = 3", "3 minibatches do not divide 512 lanes"),
        ("steps = 0", "at least 1"),
        ("seeds = [1, 1]", "each once"),
        ("seeds = [-1]", "lies in"),
        ("ppo = 3", "`ppo` is a table"),
        ("steps = ", "is no TOML"),
        ('env = "tcgjax"', "the command says pong"),
        ('backend = "rustt"', "unknown backend of pong 'rustt'; did you mean 'rust'?"),
        ('variant = "fs9"', "unknown variant of pong 'fs9'"),
        ('against = "random"', "pong has one player"),
        ('shaping = "a:b"', "shaping = 'a:b': pong has one player"),
    ],
)
def test_a_wrong_setting_is_one_clear_line_and_no_run(text, says, tmp_path, capsys):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    run = tmp_path / "run"
    assert main(["train", "pong", "--config", str(file), "--out", str(run)]) == 4
    problem = capsys.readouterr().err
    assert says in problem
    assert problem.count("\n") == 1
    assert not run.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "say which environment"),
        (["pong", "--evaluate", "-1"], "--evaluate -1"),
        (["pong", "--config", "missing.toml"], "missing.toml cannot be read"),
        (["--resume", "nowhere"], "nowhere holds no training run"),
        (["pong", "--set", "ppo.lane=64"], "unknown key 'ppo.lane'; did you mean 'ppo.lanes'?"),
        (["pong", "--set", "ppo.lanes"], "write NAME=VALUE"),
        (["pong", "--set", "ppo.lanes=many"], "--set: ppo.lanes = 'many' is no int"),
        (["pong", "--set", "ppo=3"], "--set: `ppo` is a table"),
        (["pong", "--set", "env=tcgjax"], "the command says pong"),
        (["tcgjax", "--against", "nobody"], "unknown player of tcgjax 'nobody'"),
        (["tcgjax", "--against", "no.module:thing"], "'no.module:thing' cannot be imported"),
    ],
)
def test_a_wrong_word_is_one_clear_line_and_no_run(words, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", *words]) == 4
    problem = capsys.readouterr().err
    assert says in problem
    assert problem.count("\n") == 1
    assert not list(tmp_path.iterdir())


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


def test_what_is_settled_cannot_be_changed_and_a_folder_in_use_is_not_taken(
    small, tmp_path, capsys
):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    _train(folder, settings)
    before = _files(folder)
    for words, says in (
        (["pong", "--out", folder], "is not empty"),
        (["--resume", folder, "--seed", "1"], "--seed is settled"),
        (["--resume", folder, "--set", "ppo.lanes=8"], "--set is settled"),
        (["--resume", folder, "--steps", "1000"], "was begun for 2000"),
        (["tcgjax", "--resume", folder], "is a run of pong, not of tcgjax"),
    ):
        assert main(["train", *map(str, words)]) == 4
        assert says in capsys.readouterr().err
    with loop._alone(folder):
        assert main(["train", "--resume", str(folder)]) == 4
    assert "another process trains in" in capsys.readouterr().err
    assert _files(folder) == before


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"sources": "0"}, "its sources is 0"),
        ({"environment": "pong-v9"}, "its environment is pong-v9"),
        ({"jax": "0.0.1"}, "its jax is 0.0.1"),
        ({"schema": 0}, "has schema 0"),
    ],
)
def test_a_checkpoint_of_another_version_is_refused_and_kept(changed, says, small, tmp_path):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    _train(folder, settings)
    path = folder / "checkpoint.npz"
    with np.load(path) as held:
        arrays = dict(held)
    head = json.loads(arrays.pop("head").tobytes()) | changed
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    np.savez(path, head=text, **arrays)
    before = path.read_bytes()
    with pytest.raises(UserError, match=says):
        _train(folder, settings)
    assert path.read_bytes() == before


_DAMAGES = (lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"nonsense")


@pytest.mark.parametrize("damage", _DAMAGES, ids=["half", "empty", "other"])
def test_a_damaged_checkpoint_is_one_clear_line(damage, small, tmp_path):
    settings = settle("pong", small, {"steps": 2000})
    _train(tmp_path / "run", settings)
    path = tmp_path / "run" / "checkpoint.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match="is no checkpoint"):
        _train(tmp_path / "run", settings)


def test_a_run_does_not_go_on_with_other_settings(small, tmp_path, capsys):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    _train(folder, settings)
    path = folder / "settings.toml"
    path.write_text(path.read_text().replace("gamma = 0.97", "gamma = 0.5"))
    assert main(["train", "--resume", str(folder), "--steps", "4000"]) == 4
    assert "were changed after" in capsys.readouterr().err


def test_numbers_that_are_not_finite_end_a_run_and_leave_its_checkpoint(
    small, tmp_path, monkeypatch
):
    settings = settle("pong", small, {})
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        _train(folder, settings, _stop_at(16))
    before = (folder / "checkpoint.npz").read_bytes()
    advance = Trainer.advance

    def diverging(self, learner, player):
        learner, player, rows = advance(self, learner, player)
        return learner, player, rows | {"value_loss": rows["value_loss"] * np.inf}

    with monkeypatch.context() as patch:
        patch.setattr("twinstep.ppo.Trainer.advance", diverging)
        with pytest.raises(UserError, match="value_loss is no longer finite at batch 24.*stands"):
            _train(folder, settings)
    assert (folder / "checkpoint.npz").read_bytes() == before


def test_a_learning_rate_that_diverges_is_said(small, tmp_path):
    settings = settle("pong", small, {})
    wild = dataclasses.replace(settings, ppo=dataclasses.replace(settings.ppo, learning_rate=1e30))
    with pytest.raises(UserError, match=r"no longer finite at batch \d+: lower `learning_rate`"):
        _train(tmp_path / "run", wild)


@pytest.mark.parametrize(
    "problem",
    [MemoryError("no room"), jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory\nmore")],
)
def test_too_little_memory_is_one_clear_line(problem, small, tmp_path, monkeypatch):
    def advance(*args):
        raise problem

    monkeypatch.setattr("twinstep.ppo.Trainer.advance", advance)
    with pytest.raises(UserError, match="memory does not suffice for 2 seeds x 32 lanes") as found:
        _train(tmp_path / "run", settle("pong", small, {}))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["checkpoint.npz", "policy.npz"])
def test_a_full_disk_is_one_clear_line_and_the_run_goes_on_later(
    name, small, tmp_path, monkeypatch, capsys
):
    settings = settle("pong", small, {})
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        _train(folder, settings, _stop_at(16))
    before = (folder / "checkpoint.npz").read_bytes()

    def full(path, data):
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_bytes(data)

    with monkeypatch.context() as patch:
        patch.setattr("twinstep.paths.write_atomically", full)
        assert main(["train", "--resume", str(folder)]) == 4
    problem = capsys.readouterr().err
    assert f"{folder} cannot be written to (No space left on device)" in problem
    assert problem.count("\n") == 1
    assert ((folder / "checkpoint.npz").read_bytes() == before) == (name == "checkpoint.npz")
    assert main(["train", "--resume", str(folder)]) == 0


def test_a_missing_reference_is_said_before_anything_is_trained(
    small, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(Subject, "probe", Probe({}, "gcc is missing", "install gcc"))
    words = ["train", "pong", "--config", str(small), "--out", str(tmp_path / "run")]
    assert main([*words, "--evaluate", "8"]) == 4
    assert capsys.readouterr().err == "twinstep: gcc is missing: install gcc\n"
    assert not (tmp_path / "run").exists()


def test_without_tensorboardx_the_curve_is_in_the_csv_alone(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    settings = settle("pong", small, {"steps": 2000})
    _train(tmp_path / "run", settings)
    assert not (tmp_path / "run" / "tensorboard").exists()
    assert len(_curve(tmp_path / "run")) == 2 * settings.batches


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
    _train(whole, settings)
    with pytest.raises(KeyboardInterrupt):
        _train(parts, settings, _stop_at(8))
    _train(parts, settings)
    assert (whole / "metrics.csv").read_bytes() == (parts / "metrics.csv").read_bytes()
    assert len(_curve(whole)) == 2 * settings.batches == 32


def test_an_evaluation_that_is_cut_off_leaves_the_one_before(small, tmp_path, monkeypatch):
    """It is of the same policies; what was trained on has none yet."""
    need(upstream.probe({}))
    run = tmp_path / "run"
    words = ["train", "pong", "--config", str(small), "--steps", "2000", "--out", str(run)]
    assert main([*words, "--evaluate", "8"]) == 0
    before = json.loads((run / "result.json").read_text())["evaluation"]

    def cut(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluating, "evaluate", cut)
    again = ["train", "--resume", str(run), "--evaluate", "16"]
    for more, kept in (([], before), (["--steps", "8000"], [])):
        assert main([*again, *more]) == 130
        assert json.loads((run / "result.json").read_text())["evaluation"] == kept
    assert len(before) == 2


def test_a_run_is_evaluated_in_both_and_the_same_games_are_played(
    small, tmp_path, capsys, monkeypatch
):
    """Pong's two sides are equal bit for bit, so that their scores are."""
    need(upstream.probe({}))
    run, asked = tmp_path / "run", []

    def env(subject, backend, auto_reset):
        asked.append(backend)
        return Env(subject, backend, auto_reset)

    monkeypatch.setattr(evaluating, "Env", env)
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
    np.testing.assert_allclose(evaluating.interval(one, True), (0.3968, 0.8922), atol=1e-4)
    half = 1.959964 * one.std(ddof=1) / np.sqrt(10)
    np.testing.assert_allclose(evaluating.interval(one, False), (0.7 - half, 0.7 + half), rtol=1e-6)
    # Over policies it is Student's, and episodes do not count.
    many = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    half = 4.302653 * 1 / np.sqrt(3)
    np.testing.assert_allclose(evaluating.interval(many, False), (2 - half, 2 + half), rtol=1e-6)


def test_event_files_hold_the_curve_by_steps(small, tmp_path):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    _train(folder, settings)
    for seed in settings.seeds:
        (path,) = (folder / "tensorboard" / f"seed{seed}").iterdir()
        found = {}
        for record in _records(path):
            event = Event()
            event.ParseFromString(record)
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = value.simple_value
        rows = [row for row in _curve(folder) if row["seed"] == str(seed)]
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
    assert isinstance(settle("pong", file, {}), Settings)
