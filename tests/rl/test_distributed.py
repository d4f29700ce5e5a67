"""`twinstep train --hosts`: several processes learn the same as a single process.

Here they meet on this machine; between machines only the address is another.
"""

import csv
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

from twinstep.cli import main
from twinstep.errors import UserError
from twinstep.rl.training.distributed import Hosts, hosts_of, own_folder
from twinstep.tests.support.project_folder import HANGS

CONFIG = """
seeds = [{}]
steps = 4096
[ppo]
lanes = 16
steps = 8
minibatches = 2
hidden = [8]
learning_rate = 1e-4
"""
#: Two processes with a device each, or one with two: as many either way.
DEVICES = "--xla_force_host_platform_device_count"


def _start(folder, devices, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "twinstep.cli", "train", *map(str, words)],
        env=os.environ | {"XLA_FLAGS": f"{DEVICES}={devices}"},
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def _ended(*processes):
    said = [process.communicate(timeout=HANGS) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return [out for out, _ in said]


def _port():
    with socket.socket() as held:
        held.bind(("localhost", 0))
        return held.getsockname()[1]


def _together(folder, *words):
    where = f"localhost:{_port()}"
    return _ended(*(_start(folder, 1, *words, "--hosts", f"{where},2,{index}") for index in (1, 0)))


def _config(folder, *seeds):
    path = folder / f"{len(seeds)}.toml"
    path.write_text(CONFIG.format(", ".join(map(str, seeds))))
    return ("pong", "--config", path)


@pytest.mark.slow
def test_processes_that_share_the_seeds_learn_what_one_learns_and_go_on_with_it(tmp_path):
    """Byte for byte; the checkpoint between is one that all of them wrote and read."""
    words = _config(tmp_path, 0, 3)
    _ended(_start(tmp_path, 2, *words, "--steps", 6144, "--devices", 2, "--out", "one"))
    other, first = _together(tmp_path, *words, "--out", "two")
    assert "written: two" in first
    assert "written" not in other
    _together(tmp_path, "--resume", "two", "--steps", 6144)
    for name in ("metrics.csv", "policy.npz", "checkpoint.npz", "settings.toml"):
        one, two = ((tmp_path / run / name).read_bytes() for run in ("one", "two"))
        assert one == two, name
    # The other process kept nothing.
    assert {path.name for path in tmp_path.iterdir()} == {"2.toml", "one", "two"}


@pytest.mark.slow
def test_processes_that_share_the_lanes_learn_what_one_learns_but_for_the_order_of_sums(tmp_path):
    words = _config(tmp_path, 0)
    _ended(_start(tmp_path, 2, *words, "--devices", 2, "--out", "one"))
    _together(tmp_path, *words, "--out", "two")
    curves = []
    for run in ("one", "two"):
        with (tmp_path / run / "metrics.csv").open() as file:
            curves.append(list(csv.DictReader(file)))
    assert len(curves[0]) == len(curves[1]) == 32
    for one, two in zip(*curves, strict=True):
        for name in ("reward", "entropy", "value_loss"):
            np.testing.assert_allclose(float(two[name]), float(one[name]), rtol=1e-3, atol=1e-5)
    assert float(curves[0][0]["entropy"]) != float(curves[0][-1]["entropy"])


MEETS = """
from twinstep.rl.training.distributed import Hosts, together
with together(Hosts("localhost:{}", 2, {}), 1.0):
    print("met")
"""


@pytest.mark.parametrize("index", [0, 1])
def test_a_process_that_nobody_meets_ends_with_one_line(index):
    """JAX alone would abort it with a stack trace."""
    done = subprocess.run(
        [sys.executable, "-c", MEETS.format(_port(), index)],
        capture_output=True, text=True, timeout=HANGS,
    )  # fmt: skip
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert f"process {index} of 2 met no others" in line
    assert not done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--hosts", "here"], "--hosts here: the first process's address"),
        (["--hosts", "here:1,2"], "as in 10.0.0.1:1234,4,0"),
        (["--hosts", "here:1,1,0"], "at least 2 processes"),
        (["--hosts", "here:1,2,2"], "counted from 0"),
        (["--hosts", "here:1,2,0", "--devices", "2"], "with --hosts all devices take part"),
        (["--hosts", "here:1,2,0"], "--out FOLDER"),
    ],
)
def test_what_a_user_can_mistake_is_one_line(words, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "pong", *words]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not list(tmp_path.iterdir())


def test_an_address_is_read_as_it_is_written():
    assert hosts_of("10.0.0.1:1234,4,3") == Hosts("10.0.0.1:1234", 4, 3)
    assert hosts_of("[::1]:80,2,0") == Hosts("[::1]:80", 2, 0)
    with pytest.raises(UserError):
        hosts_of("10.0.0.1,4,3")


def test_only_the_first_process_is_given_the_runs_folder(tmp_path):
    for name in ("checkpoint.npz", "metrics.csv", "policy.npz"):
        (tmp_path / name).write_text(name)
    for hosts in (None, Hosts("x:1", 2, 0)):
        with own_folder(tmp_path, hosts) as folder:
            assert folder == tmp_path
    with own_folder(tmp_path, Hosts("x:1", 2, 1)) as folder:
        assert folder != tmp_path
        assert {path.name for path in folder.iterdir()} == {"checkpoint.npz", "metrics.csv"}
    assert not folder.exists()
