"""`twinstep train` with wrong, damaged or missing input: one clear line, nothing lost."""

import dataclasses
import errno
import json
import shutil

import jax
import numpy as np
import pytest

from twinstep._lib import memory
from twinstep.cli import main
from twinstep.env.make import Env
from twinstep.environment import Probe
from twinstep.errors import UserError
from twinstep.project.registry import EnvVariant
from twinstep.rl.ppo import Trainer
from twinstep.rl.training import checkpoints, loop
from twinstep.rl.training.arenas import arena_of
from twinstep.rl.training.settings import load, settle
from twinstep.tests.support.small_runs import SMALL, files, stop_at, train


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stepz = 3", "unknown key 'stepz'; did you mean 'steps'?"),
        ("[ppo]\ngama = 0.9", "unknown key 'ppo.gama'; did you mean 'ppo.gamma'?"),
        ("steps = true", "steps = True is no int"),
        ("[ppo]\nhidden = 64", "ppo.hidden = 64 is no list of whole numbers"),
        ("[ppo]\nminibatches = 3", "ppo.minibatches = 3: do not divide 512 lanes"),
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
        ("[ppo]\nlanes = 0", "ppo.lanes = 0: it lies between 1 and"),
        ("[ppo]\nlanes = -8", "ppo.lanes = -8: it lies between 1 and"),
        ("[ppo]\nlanes = 1000000000000", "ppo.lanes = 1000000000000: it lies between 1 and"),
        ("[ppo]\nsteps = 0", "ppo.steps = 0: it lies"),
        ("[ppo]\nepochs = 0", "ppo.epochs = 0: it lies"),
        ("[ppo]\nmemory = -1", "ppo.memory = -1: it lies"),
        ("[ppo]\nanneal = -1", "ppo.anneal = -1: it lies"),
        ("[ppo]\nhidden = [8, 0]", "ppo.hidden = 0: it lies"),
        ("[ppo]\nlearning_rate = -0.1", "ppo.learning_rate = -0.1: a number above 0 is needed"),
        ("[ppo]\nnorm = inf", "ppo.norm = inf: a number above 0 is needed"),
        ("[ppo]\nnorm = 1e-300", "ppo.norm = 1e-300: a number above 0 is needed, as float32"),
        ("[ppo]\nlearning_rate = 1e300", "ppo.learning_rate = 1e+300: a number above 0"),
        ("[ppo]\nvalue = 1e39", "ppo.value = 1e+39: it lies between 0 and 3.4"),
        ("[ppo]\nclip = nan", "ppo.clip = nan: a number above 0 is needed"),
        ("[ppo]\ngamma = nan", "ppo.gamma = nan: it lies between 0 and 1"),
        ("[ppo]\nlam = 1.5", "ppo.lam = 1.5: it lies between 0 and 1"),
        ("[ppo]\nentropy = inf", "ppo.entropy = inf: it lies between 0 and"),
        ("[ppo]\nvalue = -1", "ppo.value = -1.0: it lies between 0 and"),
        (f"[ppo]\ngamma = 1{'0' * 400}", "ppo.gamma = 1000"),
        (f"steps = 1{'0' * 5000}", "is no TOML"),
        (f"seeds = {'[' * 5000}", "is no TOML"),
        ('[ppo]\nencode = "nonsense"', "ppo.encode 'nonsense' cannot be imported"),
        ('[ppo]\nencode = "os:nonsense"', "ppo.encode 'os:nonsense' cannot be imported"),
        ("[ppo]\nhidden = [1000000, 1000000]", "GB are needed, "),
        ('[ppo]\nencode = "os:sep"', "ppo.encode 'os:sep' is no function"),
        ('[ppo]\nencode = "os:getcwd"', "ppo.encode 'os:getcwd' encodes no observation"),
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
        (["pong", "--set", "backend=\U0001f642"], "unknown backend of pong '\U0001f642'"),
        (["pong", "--set", "backend=\x7f"], "unknown backend of pong '\x7f'"),
        (["pong", "--set", "backend=\udcff"], "backend = '\\udcff' is no text"),
        (["pong", "--set", f"steps={'9' * 5000}"], "--set: steps = '9999"),
        (["pong", "--set", "steps=many", "--steps", "9"], "--set: steps = 'many' is no int"),
        (["pong", "--steps", "0"], "steps = 0: at least 1"),
        (["pong", "--devices", "7"], "--devices 7"),
        (["pong", "--opponent", "random"], "say --evaluate N, too"),
        (["pong", "--opponent", "json:dumps", "--evaluate", "4"], "pong has one player"),
        (["pong", "--evaluate", "1"], "--evaluate 1: between 2"),
        (["pong", "--evaluate", "100000000000000"], "--evaluate 100000000000000: between 2"),
        (["pong", "--checkpoint", "nan"], "--checkpoint nan: seconds"),
        (["pong", "--out", "x" * 300], "File name too long"),
        (["--resume", "x" * 300], "File name too long"),
        (["tcgjax", "--against", "x" * 300], "File name too long"),
        (["tcgjax", "--against", "json:dumps"], "player 'json:dumps' moves nothing: TypeError"),
        (["tcgjax", "--against", "time:time"], "player 'time:time' moves nothing: TypeError"),
        (["tcgjax", "--against", "numpy:shape"], "player 'numpy:shape' moves nothing"),
        (["tcgjax", "--set", "shaping=json:dumps"], "shaping 'json:dumps' is no potential"),
        (["tcgjax", "--set", "shaping=builtins:len"], "shaping 'builtins:len' is no potential"),
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


def test_what_is_settled_cannot_be_changed_and_a_folder_in_use_is_not_taken(
    small, tmp_path, capsys
):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    train(folder, settings)
    before = files(folder)
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
    assert files(folder) == before


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
    train(folder, settings)
    path = folder / "checkpoint.npz"
    with np.load(path) as held:
        arrays = dict(held)
    head = json.loads(arrays.pop("head").tobytes()) | changed
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    np.savez(path, head=text, **arrays)
    before = path.read_bytes()
    with pytest.raises(UserError, match=says):
        train(folder, settings)
    assert path.read_bytes() == before


_DAMAGES = (lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"nonsense")


@pytest.mark.parametrize("damage", _DAMAGES, ids=["half", "empty", "other"])
def test_a_damaged_checkpoint_is_one_clear_line(damage, small, tmp_path):
    settings = settle("pong", small, {"steps": 2000})
    train(tmp_path / "run", settings)
    path = tmp_path / "run" / "checkpoint.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match="is no checkpoint"):
        train(tmp_path / "run", settings)


def test_a_run_does_not_go_on_with_other_settings(small, tmp_path, capsys):
    settings = settle("pong", small, {"steps": 2000})
    folder = tmp_path / "run"
    train(folder, settings)
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
        train(folder, settings, stop_at(16))
    before = (folder / "checkpoint.npz").read_bytes()
    advance = Trainer.advance

    def diverging(self, learner, player):
        learner, player, rows = advance(self, learner, player)
        return learner, player, rows | {"value_loss": rows["value_loss"] * np.inf}

    with monkeypatch.context() as patch:
        patch.setattr("twinstep.rl.ppo.Trainer.advance", diverging)
        with pytest.raises(UserError, match="value_loss is no longer finite at batch 24.*stands"):
            train(folder, settings)
    assert (folder / "checkpoint.npz").read_bytes() == before


def test_a_learning_rate_that_diverges_is_said(small, tmp_path):
    settings = settle("pong", small, {})
    wild = dataclasses.replace(settings, ppo=dataclasses.replace(settings.ppo, learning_rate=1e30))
    with pytest.raises(UserError, match=r"no longer finite at batch \d+: lower `learning_rate`"):
        train(tmp_path / "run", wild)


@pytest.mark.parametrize(
    "problem",
    [MemoryError("no room"), jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory\nmore")],
)
def test_too_little_memory_is_one_clear_line(problem, small, tmp_path, monkeypatch):
    def advance(*args):
        raise problem

    monkeypatch.setattr("twinstep.rl.ppo.Trainer.advance", advance)
    with pytest.raises(UserError, match="memory does not suffice for 2 seeds x 32 lanes") as found:
        train(tmp_path / "run", settle("pong", small, {}))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("backend", ["jax", "rust"])
def test_a_batch_that_cannot_be_held_is_refused_before_a_folder_is_made(backend, tmp_path, capsys):
    sizes = ("ppo.lanes=1048576", "ppo.minibatches=1", "ppo.steps=100000", f"backend={backend}")
    words = [word for size in sizes for word in ("--set", size)]
    assert main(["train", "pong", *words, "--out", str(tmp_path / "run")]) == 4
    problem = capsys.readouterr().err
    assert "memory does not suffice for 1 seeds x 1048576 lanes x 100000 steps (" in problem
    assert "GB are needed, " in problem
    assert not (tmp_path / "run").exists()


def test_training_takes_what_rows_and_policies_take(small):
    """Observations three times, 4 numbers of hidden state, 5 more words and 3 flags.

    And four of each parameter: of a layer of 8, a GRU of 4, an actor of 3 and a critic.
    """
    settings = settle("pong", small, {})
    env = arena_of(settings)
    try:
        size = Trainer(env, settings.ppo).least_bytes(2)
    finally:
        env.close()
    seen = env.contract.observation.shape[0]
    parameters = (seen + 1) * 8 + 12 * (8 + 1) + 12 * (4 + 1) + 3 * 5 + 5
    assert size == 2 * (32 * 8 * (4 * (3 * seen + 4 + 5) + 3) + 16 * parameters)


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:   5 kB\n"}, 5120),
        ({"proc/meminfo": "MemAvailable: 5 kB\n", "sys/fs/cgroup/memory.max": "4000\n",
          "sys/fs/cgroup/memory.current": "1500\n"}, 2500),
        ({"proc/meminfo": "MemAvailable: 5 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, 5120),
        ({"proc/meminfo": "MemAvailable: none\n"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_free_memory_is_what_linux_and_a_container_leave(files, free, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory.available(tmp_path) == free


@pytest.mark.parametrize("name", ["checkpoint.npz", "policy.npz"])
def test_a_full_disk_is_one_clear_line_and_the_run_goes_on_later(
    name, small, tmp_path, monkeypatch, capsys
):
    settings = settle("pong", small, {})
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(folder, settings, stop_at(16))
    before = (folder / "checkpoint.npz").read_bytes()

    def full(path, data):
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_bytes(data)

    with monkeypatch.context() as patch:
        patch.setattr("twinstep._lib.paths.write_atomically", full)
        assert main(["train", "--resume", str(folder)]) == 4
    problem = capsys.readouterr().err
    assert f"{folder} cannot be written to (No space left on device)" in problem
    assert problem.count("\n") == 1
    assert ((folder / "checkpoint.npz").read_bytes() == before) == (name == "checkpoint.npz")
    assert main(["train", "--resume", str(folder)]) == 0


def test_a_disk_that_is_full_from_the_first_is_one_clear_line(small, tmp_path, monkeypatch, capsys):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("twinstep._lib.paths.write_atomically", full)
    folder = tmp_path / "run"
    assert main(["train", "pong", "--config", str(small), "--out", str(folder)]) == 4
    problem = capsys.readouterr().err
    assert problem == f"twinstep: {folder} cannot be written to (No space left on device)\n"


def test_a_missing_reference_is_said_before_anything_is_trained(
    small, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(EnvVariant, "probe", Probe({}, "gcc is missing", "install gcc"))
    words = ["train", "pong", "--config", str(small), "--out", str(tmp_path / "run")]
    assert main([*words, "--evaluate", "8"]) == 4
    assert capsys.readouterr().err == "twinstep: gcc is missing: install gcc\n"
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The folder of a run outside JAX that was stopped at a checkpoint."""
    base = tmp_path_factory.mktemp("stopped")
    (base / "small.toml").write_text(SMALL)
    settings = settle("pong", base / "small.toml", {"backend": "rust"})
    with pytest.raises(KeyboardInterrupt):
        train(base / "run", settings, stop_at(16))
    return base / "run"


def _flipped(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def _replaced(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))


def _listed(path):
    with np.load(path) as held:
        np.savez(path, **{**held, "head": np.frombuffer(b"[1]", np.uint8)})


def _without(name):
    def damage(path):
        with np.load(path) as held:
            arrays = dict(held)
        told = json.loads(arrays.pop("head").tobytes())
        del told[name]
        np.savez(path, head=np.frombuffer(json.dumps(told).encode(), np.uint8), **arrays)

    return damage


def _renamed(path):
    with np.load(path) as held:
        arrays = dict(held)
    arrays["leafx"] = arrays.pop("leaf0")
    np.savez(path, **arrays)


def _folder(path):
    path.unlink(missing_ok=True)
    path.mkdir()


@pytest.mark.parametrize(
    ("name", "damage", "says"),
    [
        ("actions.bin", lambda path: _flipped(path, 1000), "holds others than the actions that"),
        ("actions.bin", lambda path: path.write_bytes(path.read_bytes()[:99]), "lacks the actions"),
        ("actions.bin", lambda path: path.unlink(), "actions.bin cannot be read"),
        ("metrics.csv", lambda path: path.unlink(), "metrics.csv cannot be read (No such file"),
        ("metrics.csv", lambda path: path.write_bytes(b"\xff"), "metrics.csv cannot be read (no t"),
        ("metrics.csv", lambda path: _replaced(path, "\n2,", "\nx,y\n2,"), "is not the curve"),
        ("metrics.csv", lambda path: _replaced(path, "\n3,768,0,", "\n3,768,0,1"), "not the curve"),
        ("metrics.csv", lambda path: path.write_text("batch\n"), "metrics.csv lacks batches"),
        ("checkpoint.npz", _listed, "its head is no object"),
        ("checkpoint.npz", _without("batches"), "checkpoint.npz is not as a run writes it"),
        ("checkpoint.npz", _without("curve"), "checkpoint.npz is not as a run writes it"),
        ("checkpoint.npz", _without("actions"), "checkpoint.npz is not as a run writes it"),
        ("checkpoint.npz", _renamed, "arrays and this run has"),
        ("checkpoint.npz", _folder, "is no checkpoint (Is a directory)"),
        (".lock", _folder, ".lock cannot be opened (Is a directory)"),
        ("settings.toml", lambda path: _replaced(path, "gamma = 0.97\n", ""),
         "settings.toml lacks ppo.gamma"),
        ("settings.toml", lambda path: _replaced(path, "gamma = 0.97", "# mine\ngamma = 0.9"),
         "ppo.gamma was 0.97, and is 0.9"),
    ],
)  # fmt: skip
def test_what_is_damaged_in_a_runs_folder_is_one_clear_line(
    name, damage, says, stopped, tmp_path, capsys
):
    run = tmp_path / "run"
    shutil.copytree(stopped, run)
    damage(run / name)
    before = files(run)
    assert main(["train", "--resume", str(run), "--steps", "99999"]) == 4
    problem = capsys.readouterr().err
    assert says in problem
    assert problem.count("\n") == 1
    assert {path: data for path, data in files(run).items() if path in before} == before


def test_a_folder_in_the_place_of_a_file_is_one_clear_line(stopped, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(stopped, run)
    (run / "policy.npz").mkdir()
    assert main(["train", "--resume", str(run)]) == 4
    problem = capsys.readouterr().err
    assert "run cannot be written to (Is a directory)" in problem
    assert problem.count("\n") == 1


def test_a_checkpoint_with_any_flipped_bit_is_one_clear_line(stopped, tmp_path):
    """Neither zipfile's nor NumPy's errors are of one kind."""
    whole = (stopped / "checkpoint.npz").read_bytes()
    path = tmp_path / "checkpoint.npz"
    rng = np.random.default_rng(0)
    # The local headers and the central directory, and some of the bytes between.
    places = [*range(120), *range(len(whole) - 400, len(whole)), *rng.integers(len(whole), size=99)]
    said = []
    for at in places:
        path.write_bytes(whole)
        _flipped(path, at)
        try:
            checkpoints.head_of(path)
        except UserError as error:
            said.append(str(error))
    assert len(said) > len(places) / 3
    assert not [text for text in said if "\n" in text]


def test_a_run_whose_environment_behaves_otherwise_does_not_go_on(stopped, tmp_path, monkeypatch):
    run = tmp_path / "run"
    shutil.copytree(stopped, run)
    step = Env.step

    def other(self, state, actions):
        state, now = step(self, state, actions)
        return state, now._replace(obs=now.obs + 1)

    monkeypatch.setattr(Env, "step", other)
    with pytest.raises(UserError, match="no longer lead to what"):
        train(run, load(run))


def test_a_finished_run_is_not_played_again_to_be_evaluated(small, tmp_path, monkeypatch):
    settings = settle("pong", small, {"backend": "rust", "steps": 2000})
    train(tmp_path / "run", settings)
    monkeypatch.setattr(Env, "step", lambda *_: pytest.fail("played again"))
    assert train(tmp_path / "run", settings).steps == 2048


def test_a_checkpoint_from_before_a_setting_existed_is_of_another_version(stopped, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(stopped, run)
    path = run / "checkpoint.npz"
    with np.load(path) as held:
        arrays = dict(held)
    told = json.loads(arrays.pop("head").tobytes())
    del told["settings"]["ppo"]["double_buffer"]
    np.savez(path, head=np.frombuffer(json.dumps(told).encode(), np.uint8), **arrays)
    with pytest.raises(UserError, match="is of another version: its settings"):
        train(run, load(run))


def test_only_one_of_two_runs_begins_in_a_folder(small, tmp_path, monkeypatch):
    """Both found it empty; the other one was there first."""
    settings = settle("pong", small, {"steps": 2000})
    run = tmp_path / "run"
    train(run, settings)
    before = files(run)
    monkeypatch.setattr(loop, "require_new", lambda folder: None)
    with pytest.raises(UserError, match="another run was begun in"):
        loop.train(run, settings, lambda text: None, 0.0, new=True)
    assert files(run) == before


@pytest.mark.parametrize("text", ["\U0001f642", "\x7f", '\t"\\', "\u2028\x00"])
def test_any_text_in_the_settings_is_read_back(text, tmp_path):
    settings = dataclasses.replace(settle("pong", None, {}), against=text)
    (tmp_path / "settings.toml").write_text(settings.toml())
    assert load(tmp_path) == settings


def test_a_finished_run_that_lost_its_checkpoint_is_not_trained_anew(small, tmp_path, capsys):
    settings = settle("pong", small, {"steps": 2000})
    run = tmp_path / "run"
    train(run, settings)
    assert main(["train", "--resume", str(run)]) == 0
    (run / "checkpoint.npz").unlink()
    before = files(run)
    assert main(["train", "--resume", str(run), "--steps", "4000"]) == 4
    assert "holds a policy and no checkpoint to go on from" in capsys.readouterr().err
    assert files(run) == before


def test_a_policy_that_is_not_finite_is_in_no_checkpoint(small, tmp_path, monkeypatch):
    """A batch's statistics were computed before its last update."""
    settings = settle("pong", small, {})
    advance = Trainer.advance

    def diverging(self, learner, player):
        learner, player, rows = advance(self, learner, player)
        params = {n: v * np.float32(np.nan) for n, v in learner.params.items()}
        return learner._replace(params=params), player, rows

    monkeypatch.setattr("twinstep.rl.ppo.Trainer.advance", diverging)
    with pytest.raises(UserError, match="policy is no longer finite at batch 8.*nothing was kept"):
        train(tmp_path / "run", settings)
    assert not (tmp_path / "run" / "checkpoint.npz").exists()


def test_a_folder_in_which_nothing_began_is_new(small, tmp_path):
    settings = settle("pong", small, {"steps": 2000})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").touch()
    loop.require_new(tmp_path / "run")
    loop.train(tmp_path / "run", settings, lambda text: None, 0.0, new=True)
    with pytest.raises(UserError, match="is not empty"):
        loop.require_new(tmp_path / "run")
