"""Rounding and bugs are told apart; on the toy `glide`, where rounding hides a wall's bug."""

import dataclasses

import numpy as np
import pytest

from twinstep.compare.arrays import Rules, ulps
from twinstep.compare.rounding import largest_differences, rounding_words, tolerant
from twinstep.contract import Field, Module
from twinstep.diagnosis import markdown, report
from twinstep.diagnosis.replay import replay
from twinstep.frames import take_lanes
from twinstep.inputs.batching import chunk_lanes
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys import glide
from twinstep.tests.toys.glide import GLIDE


@pytest.fixture(scope="module")
def lab_of(tmp_path_factory):
    """A function from a candidate's and a variant's name to the lab."""
    with labs(tmp_path_factory.mktemp("glide"), GLIDE, 200) as made:
        yield made


def _record(lab):
    with pytest.raises(Divergence) as failed:
        lab.require_lockstep(lab.traces("random"))
    return failed.value.record


def test_a_bug_comes_before_the_rounding_that_every_episode_begins_with(lab_of):
    record = _record(lab_of("bounces"))
    assert record["diff"][0]["path"] == "state.v"
    assert abs(record["diff"][0]["error"]) > 1e-3
    assert record["step"] > 1
    assert record["one_step"] is True
    text = markdown.markdown(record)
    assert "begin with a difference of rounding's size. This is the shortest case of" in text
    assert "agree: obs.x=" in text, "the wall, which is the cause, is not shown"
    assert "## Rounding" not in text


def test_shrinking_a_bug_does_not_end_in_the_rounding_of_other_episodes(lab_of):
    """Some episodes meet the bug at once, others round before: no case may be a rounding's."""
    record = _record(lab_of("seldom"))
    assert record["diff"][0]["error"] > 1e-3
    diverging = record["context"]["counts"]["diverging"]
    assert 0 < int(record["context"]["note"].partition(" ")[0]) < diverging


def test_where_no_episode_begins_with_rounding_nothing_is_said_of_it(lab_of):
    record = _record(lab_of("onlybounces"))
    assert record["diff"][0]["error"] > 1e-3
    assert record["context"]["note"] == ""
    assert not record["context"]["largest"]
    assert not record["context"]["relaxed"]


def test_a_report_of_what_rounding_hid_is_replayed_byte_for_byte(lab_of):
    record = _record(lab_of("bounces"))
    again = replay(record)
    assert again is not None
    assert report.encode(again) == report.encode(record)


def test_where_rounding_is_all_the_report_says_so_and_proposes_gates_that_hold(lab_of):
    lab = lab_of("rounds")
    record = _record(lab)
    assert "(1 ulp)" in report.headline(record)
    text = markdown.markdown(record)
    assert "Every difference is of rounding's size." in text
    rows = {row["path"]: row for row in record["context"]["largest"]}
    assert set(rows) == {"obs", "reward", "state.x", "state.v"}
    for path, row in rows.items():
        (line,) = [line for line in text.splitlines() if f'fields="{path}")`' in line]
        allowed = float(line.partition("atol=")[2].partition(")")[0])
        assert row["error"] < allowed < 20 * row["error"]


def test_the_largest_difference_is_that_of_all_episodes_beyond_the_first_divergence(lab_of):
    lab = lab_of("bounces")
    traces = lab.traces("random")
    found = {each.path: each for each in largest_differences(lab.runner, traces, lab.rules)}
    plays = [
        (take_lanes(chunk.starts, lane), chunk.actions_of(lane))
        for chunk in traces.chunks()
        for lane in range(chunk.lanes)
    ]
    both = list(zip(lab.oracle.replays(plays), lab.runner.replays(plays), strict=True))
    far = []
    for path in ("state.v", "state.x"):
        worst, steps = (-1.0, 0, 0), 0
        for episode, ((want, _, _), got) in enumerate(both):
            size = abs(want[path] - got[path])
            steps += int((want[path].view("u8") != got[path].view("u8")).sum())
            worst = max(worst, (float(size.max()), -episode, -int(size.argmax())))
        assert (found[path].error, -found[path].episode, -found[path].step) == worst
        assert found[path].steps == steps
        assert found[path].compared == traces.total("steps") + traces.total("episodes")
        far.append(-worst[1])
    assert max(far) >= chunk_lanes(lab.contract), "no largest difference lies beyond one chunk"


@pytest.mark.parametrize(
    ("oracle", "candidate", "says"),
    [
        (-0.04683622173964977, np.float32(-0.046836223), "less than 1 ulp"),
        (-0.3550848615180521, np.float32(-0.3550831), "59 ulp"),
        (0.1727511423378099, np.float32(0.3259854), ""),
        (np.float32(0.25), 0.25000000001, "less than 1 ulp"),
        (0.5, 0.5 + 2**-53, "1 ulp"),
        (0.0, np.float32(-0.0), "zeros of other sign"),
        (np.nan, np.float32(0.0), ""),
    ],
)
def test_rounding_is_that_of_the_coarser_of_two_dtypes(oracle, candidate, says):
    """A port in float32 of a reference in float64 had its bug behind its rounding."""
    assert rounding_words(float(ulps(np.asarray(oracle), np.asarray(candidate)))) == says


def test_a_whole_number_that_differs_is_never_told_as_ulps(lab_of):
    lab = lab_of("lateclock")
    found = largest_differences(lab.runner, lab.traces("random"), lab.rules)
    rows = {each.path: report.to_plain(each) for each in found}
    assert rows["state.clock"]["error"] == 1
    assert report.rounding_of(rows["state.clock"]) == ""
    assert report.rounding_of(rows["state.v"] | {"ulps": 3.0}) == "3 ulp"


def test_zeros_of_other_sign_are_named_and_may_be_declared_one(lab_of):
    record = _record(lab_of("zero"))
    assert "(zeros of other sign)" in report.headline(record)
    assert 'Lockstep(signed_zeros=False), fields="obs")' in markdown.markdown(record)
    for row in record["context"]["largest"]:
        assert [row["episode"], row["step"]] == row["first"]
    lab = lab_of("zero", "zeros")
    lab.require_lockstep(lab.traces("random"))


def test_one_value_for_both_zeros_allows_nothing_else(lab_of):
    record = _record(lab_of("rounds", "zeros"))
    assert "(1 ulp)" in report.headline(record)


def test_a_tolerance_holds_for_floats_alone_in_modules_too():
    outputs = (Field("y", "float64"), Field("n", "int32"))
    module = Module("m", inputs=(Field("x", "float64", low=0.0, high=1.0),), outputs=outputs)
    contract = dataclasses.replace(glide.contract({"zeros": 0}), modules=(module,))
    rules = Rules.of(contract, candidate="fast", dtype="float64", platform="cpu")
    wide = tolerant(rules, contract, 1e-3, 1e-2)
    assert wide.outputs["m", "y"] == wide.gates["obs"] == wide.placed["state.x"]
    assert (wide.gates["obs"].atol, wide.gates["obs"].rtol) == (1e-3, 1e-2)
    for gate in (wide.outputs["m", "n"], wide.gates["state.clock"], wide.placed["terminated"]):
        assert gate.exact
