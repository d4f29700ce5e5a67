"""An oracle that dies takes nothing with it: what happened, where, and the next one works."""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import twinstep
from twinstep.drivers import CORE
from twinstep.environment import Variant
from twinstep.errors import ContractBroken, OracleFailed, UserError
from twinstep.frames import take_lanes
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.project.registry import EnvVariant
from twinstep.reference import process as process_module
from twinstep.reference.process import OracleProcess
from twinstep.tests.support.project_folder import HANGS
from twinstep.tests.toys.faulty import FAULTY


@pytest.fixture
def oracle(tmp_path, monkeypatch):
    """Return a function that starts the toy with a fault, declared in a project of its own."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.twinstep.envs]\nfaulty = "twinstep.tests.toys.faulty:FAULTY"\n'
    )
    monkeypatch.chdir(tmp_path)
    made = []

    def start(fault):
        params = FAULTY.params({"fault": fault})
        made.append(OracleProcess(EnvVariant(FAULTY, Variant("", params))))
        return made[-1]

    yield start
    for process in made:
        process.close()


def _record(process, folder, count=4):
    starts = starts_of(process.subject.contract, seeds("public", count, "faulty"))
    return process.record(CORE["random"], starts, 6, 128, str(folder))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("crash", "crashed (SIGSEGV)"),
        ("exit", "ended with exit code 7"),
        ("hang", "hung: no sign of life for 1 s"),
        ("raise", "raised ZeroDivisionError: in the reference"),
    ],
)
def test_a_dead_oracle_is_reported_with_start_and_step(oracle, fault, says, tmp_path):
    process = oracle(fault)
    with pytest.raises(OracleFailed) as failed:
        _record(process, tmp_path)
    assert says in str(failed.value)
    assert failed.value.where == "start 0, step 3"


@pytest.mark.parametrize("fault", ["crash", "hang", "raise"])
def test_the_request_after_a_failure_is_answered(oracle, fault, tmp_path):
    process = oracle(fault)
    with pytest.raises(OracleFailed):
        _record(process, tmp_path)
    start = starts_of(process.subject.contract, seeds("public", 1, "faulty"))
    first = process.reset(take_lanes(start, 0))
    assert first.state["n"] == 0
    assert process.step(np.zeros(1, np.int32)).state["n"] == 1


def test_what_raises_at_a_placed_state_is_named_with_the_state_and_its_actions(oracle):
    process = oracle("raise")
    states = {"n": np.array([4, 5, 3, 2, 4], np.int32)}
    actions = np.array([[[1], [0], [1], [0], [1]]], np.int32)
    begin = starts_of(process.subject.contract, seeds("public", 5, "faulty"))
    with pytest.raises(OracleFailed) as failed:
        process.steps(states, actions, begin)
    expected = "ZeroDivisionError: in the reference from a placed state (n 2; actions [[0]])"
    assert expected in str(failed.value)


def test_what_no_state_alone_raises_is_said_as_it_was(oracle, monkeypatch):
    process = oracle("none")
    raised = process_module._Raised("the oracle raised KeyError: 1", "start 0, step 0")
    asked = []

    def ask(method, states, *rest):
        asked.append(len(states["n"]))
        if len(asked) == 1:
            raise raised

    monkeypatch.setattr(process, "_ask", ask)
    begin = starts_of(process.subject.contract, seeds("public", 3, "faulty"))
    with pytest.raises(OracleFailed, match="KeyError: 1 at start 0, step 0$"):
        process.steps({"n": np.zeros(3, np.int32)}, np.zeros((1, 3, 1), np.int32), begin)
    assert asked == [3, 2, 1]


def test_a_crash_says_where_python_was(oracle, tmp_path):
    with pytest.raises(OracleFailed, match=r'\[File "faulty.py", line \d+ in step\]'):
        _record(oracle("crash"), tmp_path)


def test_a_crash_that_does_not_repeat_is_told_and_takes_no_answer(oracle, tmp_path):
    process = oracle("once")
    (entry,) = _record(process, tmp_path)
    assert (entry["episodes"], entry["steps"]) == (4, 24)
    (told,) = process.crashes
    assert "SIGSEGV" in told
    assert "start 0, step 3" in told
    assert "answered `record`" in told


def test_a_crash_amid_an_episode_is_not_asked_for_again(oracle):
    process = oracle("once")
    process.reset(take_lanes(starts_of(process.subject.contract, np.zeros((1, 2), np.uint32)), 0))
    for _ in range(2):
        process.step(np.zeros(1, np.int32))
    with pytest.raises(OracleFailed):
        process.step(np.zeros(1, np.int32))
    assert not process.crashes


def test_a_frame_that_breaks_the_contract_is_refused(oracle, tmp_path):
    with pytest.raises(ContractBroken, match=r"the oracle's obs is float64.*the contract says"):
        _record(oracle("dtype"), tmp_path)


def test_a_sound_oracle_is_recorded_whole(oracle, tmp_path):
    (entry,) = _record(oracle("none"), tmp_path)
    assert (entry["episodes"], entry["steps"], entry["truncated"]) == (4, 24, 4)


SHADOW = "raise RuntimeError('another checkout')\n"


@pytest.mark.parametrize("place", ["the current folder", "sys.path", "PYTHONPATH"])
def test_another_checkouts_twinstep_does_not_answer(oracle, tmp_path, monkeypatch, place):
    shadow = tmp_path if place == "the current folder" else tmp_path / "other"
    (shadow / "twinstep").mkdir(parents=True)
    (shadow / "twinstep" / "__init__.py").write_text(SHADOW)
    if place == "sys.path":
        monkeypatch.syspath_prepend(str(shadow))
    if place == "PYTHONPATH":
        monkeypatch.setenv("PYTHONPATH", str(shadow))
    (entry,) = _record(oracle("none"), tmp_path)
    assert entry["steps"] == 24


def test_another_twinstep_that_gets_in_all_the_same_is_refused(oracle, tmp_path, monkeypatch):
    """The other one is imported when Python starts, before anything here runs."""
    other = tmp_path / "other" / "twinstep"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text(f"__path__ = {list(twinstep.__path__)!r}\n")
    begin = f"import sys\nsys.path.insert(0, {str(other.parent)!r})\nimport twinstep\n"
    (other.parent / "sitecustomize.py").write_text(begin)
    monkeypatch.setenv("PYTHONPATH", str(other.parent))
    with pytest.raises(UserError, match=r"runs another twinstep \(.*other/twinstep/__init__.py\)"):
        _record(oracle("none"), tmp_path)


ASKS = """
import sys
from twinstep.drivers import CORE
from twinstep.environment import Variant
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.project.registry import EnvVariant
from twinstep.reference.process import OracleProcess
from twinstep.tests.toys.faulty import FAULTY

oracle = OracleProcess(EnvVariant(FAULTY, Variant("", FAULTY.params({"fault": "slow"}))))
oracle.offers("load")
print(oracle._child.pid, flush=True)
starts = starts_of(oracle.subject.contract, seeds("public", 999, "faulty"))
oracle.record(CORE["random"], starts, 6, 1, sys.argv[1])
"""


def test_a_recording_ends_when_the_process_that_asked_for_it_is_killed(oracle, tmp_path):
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKS, str(tmp_path)],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with contextlib.closing(asking.stdout):
        worker = int(asking.stdout.readline())
    _wait_until(lambda: (tmp_path / "00000.chunk").is_file())
    assert _runs(worker)
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    _wait_until(lambda: not _runs(worker))


def _wait_until(happened):
    deadline = time.monotonic() + HANGS
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def _runs(pid):
    """Whether a process is there and no zombie, which nobody may have reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
