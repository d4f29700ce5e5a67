"""An exception of a candidate's step is a divergence: found, shrunk, placed, and replayed."""

import pytest

from twinstep.diagnosis.case import Case, ask
from twinstep.diagnosis.markdown import markdown
from twinstep.diagnosis.report import headline, place_of
from twinstep.errors import CandidateBroken
from twinstep.frames import take_lanes
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys import broken


@pytest.fixture
def lab_of(tmp_path):
    with labs(tmp_path, broken.DUEL, episodes=8) as made:
        yield made


def _record(lab):
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    return found.value.record


def test_an_exception_has_a_minimal_case_with_its_place_in_the_port(lab_of):
    lab = lab_of("raisesinstep")
    record = _record(lab)
    said = headline(record)
    assert "the candidate raises IndexError: round 3 is beyond the table, at `broken.py:" in said
    assert said.endswith("in step`, in step 4 of 4")
    assert record["context"]["minimal"]
    assert record["context"]["counts"]["diverging"] == record["context"]["counts"]["episodes"] == 8
    assert record["context"]["clusters"] == [[["raised IndexError"], 8]]
    assert record["one_step"] is True, "loaded into the fourth round, it raises in one step"
    assert "## Minimal counterexample" in markdown(record)
    answer = ask(Case.from_json(record["case"], lab.contract), lab.oracle, lab.runner, lab.rules)
    assert (answer.step, answer.paths) == (4, ("raised IndexError",))


def test_what_differs_before_an_exception_comes_first(lab_of):
    record = _record(lab_of("wrongthenraises"))
    assert "raised" not in record
    assert record["step"] == 2
    assert {row["path"] for row in record["diff"]} == {"reward"}


def test_an_exception_of_a_rollout_alone_has_no_case(lab_of):
    lab = lab_of("raisesinrollout")
    with pytest.raises(CandidateBroken, match="cannot roll out: NotImplementedError: not yet"):
        lab.require_lockstep(lab.traces("random"))


def test_an_episode_alone_is_played_as_far_as_it_gets(lab_of):
    lab = lab_of("raisesinstep")
    chunks = lab.traces("random").chunks()
    chunk = next(chunks)
    frames, failure = lab.runner.alone(take_lanes(chunk.starts, 0), chunk.actions_of(0))
    assert failure.raised == "IndexError"
    assert len(frames["reward"]) == 4


def test_a_place_is_the_innermost_one_that_is_no_librarys_and_never_an_absolute_path():
    inner = 'File "/somewhere/site-packages/numpy/_core/x.py", line 7, in take'
    port = 'File "/somewhere/site-packages/port/rules.py", line 31, in step'
    assert place_of(f"{port}\n{inner}") == "port/rules.py:31 in step"
    assert place_of('File "/home/jax/runner/port.py", line 3, in f') == "port.py:3 in f"
    assert place_of('File "/elsewhere/port.py", line 3, in f') == "port.py:3 in f"
    assert place_of("") == ""
