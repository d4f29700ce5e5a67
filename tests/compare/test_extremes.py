"""A search drives the state to its ends, so that what happens there is compared."""

import numpy as np
import pytest

from twinstep.compare.extremes import search
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys.shelf import PLACES, SHELF

PROJECT = """
[tool.twinstep.envs]
shelf = "twinstep.tests.toys.shelf:SHELF"
"""


@pytest.fixture(scope="module")
def lab_of(tmp_path_factory):
    with labs(tmp_path_factory.mktemp("shelf"), SHELF, 100) as lab_of:
        yield lab_of


def test_a_full_shelf_is_reached_where_play_does_not_go(lab_of):
    lab = lab_of("right")
    traces = lab.traces("random")
    chunks = traces.chunks()
    chunk = next(chunks)
    played = chunk.window(0, ["state.shelf"])["state.shelf"].sum(-1)
    assert played.max() < PLACES
    counts = [
        each.frames["state.shelf"].sum(-1)
        for each in search(lab.contract, lab.oracle, traces, np.random.default_rng(1))
    ]
    assert len(counts) == 64
    assert np.max(counts) == PLACES


def test_each_step_begins_where_the_reference_has_been(lab_of):
    """The states of a round are those of the recording, or of rounds before."""
    lab = lab_of("right")
    traces = lab.traces("random")
    chunks = traces.chunks()
    chunk = next(chunks)
    names = ("shelf", "clock", "key")
    rows = chunk.window(0, [f"state.{name}" for name in names])
    known = set(zip(*(_flat(rows[f"state.{name}"], 2) for name in names), strict=True))
    for each in search(lab.contract, lab.oracle, traces, np.random.default_rng(1)):
        begun = zip(*(_flat(each.states[name], 1) for name in names), strict=True)
        assert set(begun) <= known
        known |= set(zip(*(_flat(each.frames[f"state.{name}"], 2) for name in names), strict=True))
        assert (each.states["clock"] < 100).all()


def _flat(values, axes):
    values = np.asarray(values)
    return [row.tobytes() for row in values.reshape(-1, *values.shape[axes:])]


def test_a_bug_on_a_full_state_is_found_in_one_step_and_no_episode_shows_it(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache, PROJECT)
    suite = "interactions.test_extremes rollouts.test_lockstep"
    run = project.pytest("-m", "level2 or level3", suite=suite, env="shelf")
    right, wrong = (run.verdict["pairs"][f"shelf-{name}"] for name in ("right", "never_full"))
    assert right["verdict"] == "equal"
    assert "L2 shelf-right: 8,192 steps towards full and empty states" in run.text
    assert wrong["levels"]["level3"]["failed"] == 0
    assert wrong["levels"]["level2"]["failed"] == 1
    (name,) = run.verdict["reports"]
    assert project.record(name)["case"]["kind"] == "step"
