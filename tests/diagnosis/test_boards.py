"""Masks are told as sets, grids as grids, and a one-step witness as code."""

import dataclasses

import numpy as np
import pytest

from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.diagnosis import boards
from twinstep.diagnosis.case import Answer
from twinstep.diagnosis.markdown import markdown
from twinstep.diagnosis.report import headline
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys import duel, lap

GAME = Contract(
    version="game-v0",
    params={},
    action=Discrete(3, ("e2e4", "g1f3", "a2a3")),
    observation=Field("obs", "int32", (2, 3)),
    state=(Field("board", "int8", (3, 3)), Field("memory", "uint8", (40, 40))),
    randomness=Randomness("none"),
    masked=True,
)


def _answer(**changes):
    frame = {
        "obs": np.zeros((1, 2, 3), np.int32),
        "legal": np.array([[True, False, False]]),
        "state.board": np.arange(9, dtype=np.int8).reshape(3, 3),
        "state.memory": np.zeros((40, 40), np.uint8),
    }
    none = np.zeros((0, 1), np.int32)
    return Answer(1, tuple(changes), frame, frame, {**frame, **changes}, {}, none)


@pytest.fixture
def record_of(tmp_path):
    def record(env, candidate, driver):
        with labs(tmp_path, env, episodes=20) as lab_of:
            lab = lab_of(candidate)
            traces = lab.traces(driver)
            with pytest.raises(Divergence) as found:
                lab.require_lockstep(traces)
        return found.value.record

    return record


def test_a_mask_is_told_as_the_actions_that_one_side_alone_allows():
    answer = _answer(legal=np.array([[False, True, True]]))
    rows = boards.masks(GAME, answer)
    assert rows == [{"player": 0, "oracle": ["e2e4"], "candidate": ["g1f3", "a2a3"]}]
    said = "`legal`: e2e4 only in the oracle, g1f3, a2a3 only in the candidate"
    assert boards.masks_text(rows) == said
    assert boards.masks(GAME, _answer()) == []


def test_a_modules_output_of_that_name_is_no_mask():
    output = {"legal": np.array([True, False])}
    answer = Answer(0, ("legal",), {}, output, {"legal": ~output["legal"]}, {}, None, "legal")
    assert boards.masks(GAME, answer) == []


def test_a_board_is_shown_whole_with_its_differing_cells_and_a_large_memory_is_not():
    board = np.arange(9, dtype=np.int8).reshape(3, 3)
    board[1, 2] = 7
    rows = boards.grids(GAME, _answer(**{"state.board": board}))
    assert [row["path"] for row in rows] == ["state.board", "obs"]
    lines = boards.grids_text(rows).splitlines()
    assert lines[1:6] == ["board:", "```", "  0   1   2", "  3   4 5/7", "  6   7   8"]


def test_rows_of_several_players_are_no_board():
    frame = {"obs": np.zeros((2, 3), np.int32)}
    answer = Answer(1, ("obs",), {}, frame, frame, {}, np.zeros((0, 2), np.int32))
    assert boards.grids(duel.contract({}), answer) == []


def test_of_several_players_the_one_who_acts_shows_the_board():
    frame = {
        "obs": np.stack([np.zeros((2, 3), np.int32), np.ones((2, 3), np.int32)]),
        "acting": np.array([False, True]),
    }
    answer = Answer(1, ("reward",), {}, frame, frame, {}, np.zeros((0, 2), np.int32))
    (row,) = boards.grids(GAME, answer)
    assert row == {"path": "obs of player 1", "oracle": [[1] * 3] * 2, "candidate": [[1] * 3] * 2}


def test_where_a_mask_differs_a_short_observation_is_a_board_of_one_row():
    """A position in one row was missing, and a repetition could not be told."""
    flat = {"obs": np.array([[0, 1, 2], [0, -1, -2]]), "acting": np.array([True, False])}
    contract = dataclasses.replace(GAME, observation=Field("obs", "int32", (3,)), state=())
    answer = Answer(1, ("legal",), {}, flat, flat, {}, np.zeros((0, 2), np.int32))
    rows = boards.grids(contract, answer)
    assert boards.grids_text(rows).splitlines()[1:] == ["obs of player 0:", "```", "0 1 2", "```"]
    no_mask = Answer(1, ("reward",), {}, flat, flat, {}, np.zeros((0, 2), np.int32))
    assert boards.grids(contract, no_mask) == []


def test_a_mask_that_differs_is_in_the_headline_and_not_listed_element_by_element(record_of):
    record = record_of(duel.DUEL, "wrongmask", "random")
    assert "`legal` of player 1: pass only in the candidate, at step 7" in headline(record)
    text = markdown(record)
    assert "| legal" not in text
    assert "legal[0]" not in text


def test_a_one_step_witness_is_code_that_shows_the_step_without_twinstep(record_of):
    record = record_of(lap.LAP, "shrugs", "careless")
    text = markdown(record)
    code = text.partition("```python\n")[2].partition("```")[0]
    given = {}
    exec(code, given)
    reference = lap.Oracle(lap.contract({}))
    reference.load(given["state"])
    frame = reference.step([given["action"]])
    (row,) = [row for row in record["diff"] if row["path"] == "state.breath"]
    assert frame.state["breath"] == row["oracle"] != row["candidate"]


def test_a_large_array_of_a_witness_is_left_to_the_record():
    witness = {"state": {"a": [1, "inf"], "b": [0] * 65, "c": "nan"}, "actions": [[[3], 1]]}
    text = boards.step_text({"witness": witness})
    assert '"a": [1, float("inf")],' in text
    assert '"b": ...  # 65 values, in the JSON beside this,' in text
    assert '"c": float("nan"),' in text
    assert "action = 3" in text
