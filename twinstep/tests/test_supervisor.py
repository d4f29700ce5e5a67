"""An oracle that dies takes nothing with it: what happened, where, and the next one works."""

import numpy as np
import pytest

from twinstep.drivers import CORE
from twinstep.environment import Variant
from twinstep.errors import ContractBroken, OracleFailed
from twinstep.frames import take_lanes
from twinstep.registry import Subject
from twinstep.seeds import seeds, starts_of
from twinstep.supervisor import OracleProcess
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
        made.append(OracleProcess(Subject(FAULTY, Variant("", params))))
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


def test_a_frame_that_breaks_the_contract_is_refused(oracle, tmp_path):
    with pytest.raises(ContractBroken, match=r"the oracle's obs is float64.*the contract says"):
        _record(oracle("dtype"), tmp_path)


def test_a_sound_oracle_is_recorded_whole(oracle, tmp_path):
    (entry,) = _record(oracle("none"), tmp_path)
    assert (entry["episodes"], entry["steps"], entry["truncated"]) == (4, 24, 4)
