"""Ports as strangers write them are judged by what they do, and told in a line what is wrong.

The toy `wander` has no end, no chance, double precision, and a wrong candidate beside a right one.
"""

import numpy as np
import pytest

from twinstep.testing.lab import Divergence
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys.wander import GATE, WANDER

# A long way from end to end.
pytestmark = pytest.mark.e2e

PROJECT = """
[tool.twinstep.envs]
wander = "twinstep.tests.toys.wander:WANDER"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory, toy_cache):
    return Project(tmp_path_factory.mktemp("wander") / "project", toy_cache, PROJECT)


def _ran(project, wanted, *candidates, suite, options=()):
    chosen = [word for name in candidates for word in ("--candidate", name)]
    levels = ("-m", "level1 or level2 or level3", "--episodes", "10", "-k", wanted)
    return project.pytest(*levels, *chosen, *options, suite=suite, env="wander")


@pytest.fixture(scope="module")
def beside(project):
    """A right candidate beside a wrong one: what ships, the drivers, the randomness."""
    wanted = "pgx or players or every_backend or ends or words or episodes_match"
    suite = "properties.test_randomness rollouts"
    return _ran(project, wanted, "right", "longer", suite=suite)


def test_another_candidates_bug_makes_no_right_one_differ(beside):
    words = {label: pair["verdict"] for label, pair in beside.verdict["pairs"].items()}
    assert words == {"wander@exact-right": "equal in part", "wander@exact-longer": "differs"}


def test_a_port_in_double_precision_passes_every_adapter(beside):
    level3 = beside.verdict["pairs"]["wander@exact-right"]["levels"]["level3"]
    assert (level3["failed"], level3["errors"]) == (0, 0)
    assert level3["passed"] >= 5


def test_a_seed_that_may_change_nothing_is_not_asked_for(beside):
    applies = beside.verdict["pairs"]["wander@exact-right"]["does_not_apply"]
    assert "contract.randomness.parts" in str(applies)


def test_one_cause_is_one_entry_of_the_summary_with_the_replay(beside):
    told = beside.text.rpartition("= twinstep =")[2]
    assert told.count("wander@exact-longer fails") == 1
    assert "fails level 3: `reward` is" in told
    assert " more of it" in told
    assert told.count("twinstep replay") == 1


def test_whole_episodes_are_asked_before_the_adapters_that_show_no_witness(project):
    wanted = "episodes_match or adapters or shipped"
    run = _ran(project, wanted, "longer", suite="rollouts", options=["-x"])
    assert "test_episodes_match[wander@exact-longer-random]" in run.text
    assert "1 failed" in run.text


@pytest.fixture(scope="module")
def in_batches(project):
    """Candidates whose second lane differs from the others."""
    suite = "interactions"
    return _ran(project, "order_of_lanes or placed", "bylane", "edge", suite=suite)


def test_a_batch_that_matters_is_told_with_values_ways_and_place(in_batches):
    said = "How the candidate is called matters: at step 1 of lane 1, `reward` is "
    assert said in in_batches.text
    assert "in order and " in in_batches.text
    assert "with the lanes in reverse; 2 of 128 lanes differ." in in_batches.text


def test_a_lane_that_parts_within_its_gate_passes_with_a_line(in_batches):
    pair = in_batches.verdict["pairs"]["wander@tolerant-edge"]
    (line,) = [line for line in pair["lines"] if "is called matters by rounding" in line]
    assert "`reward` is" in line
    failed = [name for name in in_batches.text.splitlines() if name.startswith("FAILED")]
    assert not any("order_of_lanes" in name and "edge" in name for name in failed)
    assert any("order_of_lanes" in name and "bylane" in name for name in failed)


def test_an_error_at_the_edge_of_its_gate_is_told_as_such_and_not_as_a_neighbours(in_batches):
    edge = [line for line in in_batches.text.splitlines() if "# wander@tolerant-edge" in line]
    (placed,) = [line for line in edge if "placed states" in line]
    assert "Asked alone it agrees, near its gate's edge: `reward` has an error of 0.00075" in placed
    bylane = [line for line in in_batches.text.splitlines() if "# wander@exact-bylane" in line]
    (placed,) = [line for line in bylane if "placed states" in line]
    assert "depends on the lanes beside it" in placed


def test_what_follows_a_parting_within_the_gate_is_not_compared_and_a_larger_one_is(tmp_path):
    one = {"reward": np.zeros((4, 2, 1))}
    drifts, jumps = (np.zeros((4, 2, 1)) for _ in range(2))
    drifts[1:, 0, 0] = 0.5 * GATE, 2 * GATE, 9 * GATE
    jumps[2, 1, 0] = 2 * GATE
    with labs(tmp_path, WANDER, 10) as lab_of:
        lab = lab_of("edge", "tolerant")
        lab.require_same_play(one, {"reward": drifts}, ("so", "otherwise"))
        with pytest.raises(Divergence):
            lab.require_same_play(one, {"reward": drifts + jumps}, ("so", "otherwise"))
