"""A placed state that differs is one that play may reach, or a note says that it had not."""

import numpy as np

from twinstep.interactions.test_steps import _likeliest
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys.duel import DUEL


def test_a_state_of_values_that_play_had_comes_first_else_a_note_names_the_strange_ones(tmp_path):
    with labs(tmp_path, DUEL, 20) as lab_of:
        lab = lab_of("vector")
        states = {
            "heap": np.array([0, 3, 5, 0]),  # an empty heap has ended the game
            "left": np.array([1, 1, 1, 40]),
            "round": np.array([2, 2, 2, 2]),
        }
        states |= {name: np.full(4, 2) for name in ("right", "key", "draws")}
        at, note = _likeliest(lab, states, np.array([True, False, True, True]))
        assert (at, note) == (2, "")
        at, note = _likeliest(lab, states, np.array([True, False, False, True]))
        assert at == 0
        assert "no recorded step begins (heap 0; left 40)" in note
        assert "`placed=0`" in note
