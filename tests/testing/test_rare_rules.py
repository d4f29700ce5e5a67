"""Drivers that seek rare rules, and actions that no recorded episode takes."""

from types import SimpleNamespace

import numpy as np
import pytest

from twinstep.frames import Frame, Start
from twinstep.further_drivers import rare
from twinstep.reference.actions_seen import actions_seen
from twinstep.reference.trace_file import Chunk
from twinstep.testing import accounting
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys.lap import LAP

PROJECT = """
[tool.twinstep.envs]
lap = "twinstep.tests.toys.lap:LAP"
"""
LANES = 64


def _frame(legal):
    legal = np.asarray(legal)
    acting = legal.any(-1)
    none = np.zeros(len(legal), bool)
    return Frame(none, none, none, none, acting, legal, {})


@pytest.fixture
def act():
    seeds = np.random.default_rng(1).integers(0, 2**32, (LANES, 2), np.uint32)
    return rare(LAP.contract({}), Start(seeds))


def _played(act, masks):
    """Return the actions [T, LANES] of the one player under masks of all lanes."""
    rows = [act(_frame([[mask]] * LANES), t)[:, 0] for t, mask in enumerate(masks)]
    return np.stack(rows)


ONE, ALL = np.eye(3, dtype=bool), [True] * 3


def test_half_of_the_episodes_prefer_what_was_seldom_legal_and_half_their_own_first_action(act):
    often = [[True, True, False]] * 4
    last = _played(act, [*ONE[:2], *often, ALL])[-1]
    seldom, own, rest = ((last == action).sum() for action in (2, 0, 1))
    assert min(seldom, own) > 0.3 * LANES
    assert rest < 0.2 * LANES


def test_the_earliest_action_of_ones_own_is_played_again_in_the_others(act):
    rows = _played(act, [*ONE, *[ALL] * 40])[3:]
    again = (rows == 0).mean(0)
    assert (again > 0.7).sum() > 0.3 * LANES
    assert (again < 0.6).sum() > 0.3 * LANES


@pytest.mark.parametrize("waits", [0, 1])
def test_what_is_always_legal_is_left_for_one_step_in_eight(act, waits):
    """In one's own turns: others' turns in between are none."""
    masks = [[True, True, False], [False, True, True]] * 30
    between = [[False] * 3] * waits
    rows = _played(act, [row for mask in masks for row in (mask, *between)])[:: 1 + waits]
    assert 0.01 < (rows[2:] == 1).mean() < 0.2


def test_every_action_is_legal(tmp_path):
    with labs(tmp_path, LAP, 20) as lab_of:
        traces = lab_of("right").traces("rare")
        assert traces.total("illegal") == 0
        assert traces.total("steps") > 100


def test_only_legal_actions_of_players_who_decide_count_as_taken():
    """The second episode has one step; its lane is filled beyond. Action 2 is asked, not legal."""
    legal = np.zeros((3, 2, 1, 3), bool)
    legal[:2, :, :, :2] = True
    legal[1, 1] = True
    chunk = Chunk(
        starts=Start(np.zeros((2, 2), np.uint32)),
        frames={"legal": legal, "acting": legal.any(-1)},
        actions=np.array([[[0], [2]], [[0], [1]]], np.int32),
        lengths=np.array([2, 1], np.int32),
        ended=np.ones(2, bool),
    )
    seen = actions_seen(LAP.contract({}), SimpleNamespace(chunks=lambda: iter([chunk])))
    assert seen.legal.tolist() == [True, True, False]
    assert seen.taken.tolist() == [True, False, False]


def test_actions_idle_under_every_driver_are_told_and_few_of_them():
    pair = {"idle": None}
    accounting._add_idle(pair, {"legal": [1, 2, 5], "taken": [3, *range(20, 50)]})
    accounting._add_idle(pair, {"legal": [1, 3, 20], "taken": [2, 4, *range(21, 40)]})
    assert pair["idle"]["legal"] == [1]
    assert pair["idle"]["taken"] == [2, 3, *range(20, 40)]
    taken, legal = accounting._never_taken(pair)
    assert taken.startswith("actions never taken: 2, 3, 20, 21,")
    assert taken.endswith("29, ... (22 of them)")
    assert legal == "actions never legal: 1"


@pytest.fixture(scope="module")
def project(tmp_path_factory, toy_cache):
    return Project(tmp_path_factory.mktemp("rare") / "project", toy_cache, PROJECT)


def test_a_masked_game_is_played_by_it_unless_other_drivers_are_asked_for(project):
    chosen = ("--candidate", "right", "--episodes", "10", "-m", "level3")
    suite = "rollouts.test_rare_rules rollouts.test_lockstep"
    run = project.pytest(*chosen, suite=suite, env="lap")
    assert "lockstep rare" in run.verdict["pairs"]["lap-right"]["compared"]
    run = project.pytest(*chosen, "--driver", "random", suite=suite, env="lap")
    assert run.verdict["pairs"]["lap-right"]["compared"] == ["lockstep random"]
    run = project.pytest(*chosen, "--driver", "rare", suite=suite, env="lap")
    assert run.verdict["pairs"]["lap-right"]["compared"] == ["lockstep rare"]


def test_what_a_step_beyond_an_episodes_end_does_is_not_asked_of_a_restored_state(project):
    chosen = ("--candidate", "lingers", "-k", "saved_and_cloned")
    run = project.pytest(*chosen, suite="rollouts.test_saved_states", env="lap")
    level3 = run.verdict["pairs"]["lap-lingers"]["levels"]["level3"]
    assert (level3["passed"], level3["failed"], level3["errors"]) == (2, 0, 0), run.text
