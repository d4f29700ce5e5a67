"""What a verdict says of the state's declared ranges and of the episodes' lengths."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from twinstep import Field, Start
from twinstep.reference.ranges_seen import left_out, ranges_seen
from twinstep.reference.trace_file import Chunk
from twinstep.testing import reporting
from twinstep.tests.support.project_folder import Project
from twinstep.tests.toys.duel import DUEL

STATE = (
    Field("speed", "float32", low=-1.0, high=1.0),
    Field("lives", "int32", (2,), low=0, high=3),
    Field("key", "uint32", low=0, high=2**32 - 1),
    Field("free", "float32"),
    Field("ram", "uint8", (4,), low=0, high=255, large=True),
)


@pytest.fixture
def contract():
    return dataclasses.replace(DUEL.contract({}), state=STATE)


def _traces(**state):
    """Two episodes: of two steps, and of one whose lane is filled beyond it."""
    frames = {f"state.{name}": np.array(rows) for name, rows in state.items()}
    chunk = Chunk(
        starts=Start(np.zeros((2, 2), np.uint32)),
        frames=frames,
        actions=np.zeros((2, 2, 1), np.int32),
        lengths=np.array([2, 1], np.int32),
        ended=np.ones(2, bool),
    )
    return SimpleNamespace(chunks=lambda: iter([chunk]))


def test_ranges_and_lengths_are_those_of_the_steps_that_were_played(contract):
    traces = _traces(
        speed=[[0, np.nan], [0.5, -0.25], [0.125, 9]],
        lives=[[[3, 3], [2, 2]], [[1, 3], [2, 2]], [[2, 2], [0, 0]]],
        key=[[2**31, 5], [1, 2**32 - 1], [7, 0]],
        free=np.zeros((3, 2)),
        ram=np.zeros((3, 2, 4)),
    )
    seen, lengths = ranges_seen(contract, traces)
    assert seen == {"speed": [-0.25, 0.5], "lives": [1, 3], "key": [1, 2**32 - 1]}
    assert lengths == [1, 1.5, 2]
    assert left_out(contract, seen) == [
        "speed -0.25 to 0.5 (of -1 to 1)",
        "lives 1 to 3 (of 0 to 3)",
    ]


def test_a_range_reached_in_whole_is_not_named(contract):
    assert not left_out(contract, {"speed": [-0.95, 0.95], "lives": [0, 3]})
    assert left_out(contract, {"lives": [2, 2]}) == ["lives 2 alone (of 0 to 3)"]


@pytest.mark.parametrize(
    ("lengths", "said"),
    [([3, 4.5, 9], "steps (2 terminated), 3 to 9 in one, median 4.5"), ([4, 4.0, 4], "4 in each")],
)
def test_the_lengths_of_episodes_are_told(lengths, said):
    seen = {"episodes": 2, "steps": 9, "terminated": 2, "truncated": 0, "cut": 0}
    seen |= {"lengths": lengths, "measures": {}, "events": {}}
    assert said in reporting._coverage(seen)


def test_a_run_says_which_ranges_were_not_reached(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache)
    run = project.pytest("-m", "level3")
    pair = run.verdict["pairs"]["duel-mine"]
    assert set(pair["ranges"]) == {"heap", "left", "right", "round", "key", "draws"}
    (left,) = (said for said in pair["not_reached"] if said.startswith("left "))
    assert left.startswith("left 0 to ")
    assert left.endswith(" (of 0 to 40)")
    assert f"reached in part, {len(pair['not_reached'])} of the 6 declared ranges" in run.text
    assert left in run.text
