"""Gymnasium's own CartPole against itself: adapters add and lose nothing, and hide no bug."""

import numpy as np
import pytest

from twinstep.runner.runner import Runner
from twinstep.testing import frames_differ, require_alike_starts, some_starts
from twinstep.testing.lab import Divergence
from twinstep.tests.inward import cartpole
from twinstep.tests.support.toy_labs import labs


@pytest.fixture(scope="module")
def lab_of(tmp_path_factory):
    """A function from a candidate's name to the lab."""
    with labs(tmp_path_factory.mktemp("cartpole"), cartpole.CARTPOLE, 12) as made:
        yield made


@pytest.mark.parametrize("candidate", ["objects", "next", "disabled"])
@pytest.mark.parametrize("driver", ["random", "sticky"])
def test_the_same_environment_read_in_from_either_side_is_equal(lab_of, candidate, driver):
    lab = lab_of(candidate)
    traces = lab.traces(driver)
    lab.require_lockstep(traces)
    assert lab.notes["coverage"]["terminated"] == 12


@pytest.mark.parametrize("candidate", ["objects", "next", "disabled"])
def test_one_step_from_a_placed_state_is_equal(lab_of, candidate):
    lab = lab_of(candidate)
    states, actions = lab.reference.states(64, "placed")
    want, _ = lab.oracle.steps(states, actions[None], some_starts(lab.contract, 64))
    got = lab.runner.play_from(states, actions[None])
    assert not frames_differ(want, got, lab.rules.from_placed())
    assert want["truncated"].any(), "no clock was placed at the limit"


def test_a_planted_constant_is_found_in_one_step(lab_of):
    lab = lab_of("heavier")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    assert found.value.record["one_step"]
    assert {row["path"] for row in found.value.record["diff"]} >= {"state.theta_dot"}


@pytest.mark.parametrize("candidate", ["objects", "next", "disabled"])
def test_starts_of_the_environments_own_are_alike(lab_of, candidate):
    lab = lab_of(candidate)
    require_alike_starts(lab, 200)
    assert lab.notes["starts"].startswith("starts alike in distribution (200 each; a shift of ")


def test_starts_ten_times_as_wide_are_told_where_placed_ones_hide_them(lab_of):
    lab = lab_of("wide")
    lab.require_lockstep(lab.traces("random"))
    with pytest.raises(Divergence, match="times as wide.*, the reference's in -0.04"):
        require_alike_starts(lab, 200)
    assert lab.notes["starts"] == "starts differ in distribution"


def test_starts_of_its_own_come_out_of_an_isolated_process_too(lab_of):
    lab, seeds = lab_of("objects"), np.arange(16, dtype=np.uint32).reshape(8, 2)
    apart = Runner.isolated(lab.pair).fresh(seeds)
    here = lab.runner.fresh(seeds)
    assert all((apart[path] == here[path]).all() for path in here)
    assert len(np.unique(here["obs"])) == 32
