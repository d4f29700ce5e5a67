"""Illegal actions are asked where the reference answers them, and kept as they were asked."""

import dataclasses

import numpy as np
import pytest

from twinstep.action_mask import is_illegal, kept, legalise, played
from twinstep.contract import Contract
from twinstep.diagnosis.case import Case, ask
from twinstep.diagnosis.markdown import markdown
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys import lap


@pytest.fixture
def lab_of(tmp_path):
    with labs(tmp_path, lap.LAP, episodes=20) as made:
        yield made


def test_an_illegal_action_of_a_recording_stays_illegal_in_its_shrunk_case(lab_of):
    lab = lab_of("shrugs")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("careless"))
    record = found.value.record
    case = Case.from_json(record["case"], lab.contract)
    assert case.kind == "episode"
    assert (case.actions < 0).any()
    assert record["context"]["minimal"]
    assert not ask(case, lab.oracle, lab.runner, lab.rules).agrees
    assert record["one_step"]
    text = markdown(record)
    assert f"{lap.LEAP} (illegal)" in text
    assert "did not happen again" not in text


def test_a_candidate_right_in_legal_play_alone_is_right_without_careless_play(lab_of):
    lab = lab_of("shrugs")
    lab.require_lockstep(lab.traces("random"))
    assert lab.notes["coverage"]["illegal"] == 0


def test_a_right_candidate_agrees_on_illegal_actions(lab_of):
    lab = lab_of("right")
    lab.require_lockstep(lab.traces("careless"))
    assert lab.notes["coverage"]["illegal"] >= 10


def test_illegal_actions_are_asked_unless_the_contract_says_how_the_reference_answers():
    declared = lap.contract({})
    assert declared.drivers == ("random", "sticky", "careless")
    fields = {f.name: getattr(declared, f.name) for f in dataclasses.fields(Contract)}
    fields["drivers"] = None
    assert Contract(**fields | {"illegal": "it raises"}).drivers == ("random", "sticky")
    assert Contract(**fields | {"masked": False}).drivers == ("random", "sticky")


def test_a_kept_action_is_played_as_it_is_and_another_is_made_legal():
    legal = np.array([[[True, False, True]], [[True, False, True]], [[False, False, False]]])
    actions = np.array([[1], [1], [1]], np.int32)
    illegal = is_illegal(actions, legal)
    assert illegal.tolist() == [[True], [True], [False]], "nobody decides in the third"
    marked = kept(actions, illegal & np.array([[True], [False], [True]]))
    assert played(marked, legal).tolist() == [[1], [int(legalise(actions, legal)[1, 0])], [0]]
