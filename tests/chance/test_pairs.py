"""Pairs that draw while they play are equal to the last bit; what one draws otherwise is found."""

import pytest

from twinstep.diagnosis.markdown import markdown
from twinstep.testing import frames_differ, some_starts
from twinstep.testing.lab import Divergence
from twinstep.tests.chance import dice
from twinstep.tests.support.toy_labs import labs


@pytest.fixture(scope="module")
def lab_of(tmp_path_factory):
    """A function from a candidate's name to the lab."""
    with labs(tmp_path_factory.mktemp("dice"), dice.DICE, 24) as made:
        yield made


@pytest.fixture(scope="module")
def steady_lab_of(tmp_path_factory):
    """The same, of the reference that draws as much in every step."""
    with labs(tmp_path_factory.mktemp("steady"), dice.STEADY, 24) as made:
        yield made


def test_a_port_that_draws_more_than_it_uses_is_equal_by_names(lab_of):
    lab = lab_of("right")
    lab.require_lockstep(lab.traces("random"))


def test_one_step_from_placed_words_is_equal(lab_of):
    lab = lab_of("right")
    states, actions = lab.reference.states(256, "placed")
    assert len(set(states["draws"][:, 1].tolist())) > 128
    want, _ = lab.oracle.steps(states, actions[None], some_starts(lab.contract, 256))
    got = lab.runner.play_from(states, actions[None])
    assert not frames_differ(want, got, lab.rules.from_placed())


def test_a_die_with_seven_sides_is_found_in_one_step_that_shows_its_draws(lab_of):
    lab = lab_of("seven")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    record = found.value.record
    assert record["one_step"]
    assert "# begin, die_0, die_1, slide_0" in markdown(record)


def test_a_port_that_draws_in_the_same_order_is_equal_without_names(steady_lab_of):
    lab = steady_lab_of("steadyright")
    lab.require_lockstep(lab.traces("random"))


def test_a_number_that_is_drawn_and_thrown_away_is_found(steady_lab_of):
    lab = steady_lab_of("again")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    assert "`state.drawn` is 9, oracle 8" in markdown(found.value.record)
