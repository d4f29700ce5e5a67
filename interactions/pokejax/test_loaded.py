"""Level 2: one decision from states that play seldom comes to.

A row is a first frame of the reference with some fields rewritten, loaded on both sides. They agree
in every field, and one that is known beforehand is asked of the reference too.
"""

import numpy as np
import pytest

from twinstep.compare import frames_differ
from twinstep.contracts.pokejax_draws import between
from twinstep.frames import Start
from twinstep.oracles.pokejax.bridge import PokejaxOracle

pytestmark = [
    pytest.mark.level2, pytest.mark.environment("pokejax"), pytest.mark.one_variant,
]  # fmt: skip

GENES = [30] * 6 + [255] * 6
GASTLY, HAUNTER, GENGAR, CHANSEY, MEW = 92, 93, 94, 113, 151
TACKLE, WRAP, BIDE, TRANSFORM, SPLASH, REST = 33, 35, 117, 144, 150, 156
FROZEN, TIE, NO_WINNER = 4, 3, 0
#: A member: species, then moves.
GHOST, PLAIN = (GENGAR, REST), (CHANSEY, REST)
WITHOUT_PP = {"pp": 0, "move_pp": 0}
BOTH_FROZEN = {("status", 0, 0): FROZEN, ("status", 1, 0): FROZEN}

LITTLE, LITTLER = (HAUNTER, REST), (GASTLY, REST)
MEWS = [(MEW, TACKLE)]
ONE_LEFT = {**WITHOUT_PP, ("pp", 0, 1, 0): 1}

#: Both teams, the fields that are rewritten (a name, or a name and an index), the winner then.
NO_PROGRESS = {
    "ghosts with a Gastly behind tie": ([GHOST, LITTLER], [GHOST, LITTLE], WITHOUT_PP, TIE),
    "ghosts with a Haunter behind tie": ([GHOST, LITTLE], [GHOST, LITTLER], WITHOUT_PP, TIE),
    "a ghost before another does not": ([GHOST, PLAIN], [GHOST], WITHOUT_PP, NO_WINNER),
    "nor on the other side": ([GHOST], [GHOST, PLAIN], WITHOUT_PP, NO_WINNER),
    "nor another before a ghost": ([PLAIN, GHOST], [GHOST], WITHOUT_PP, NO_WINNER),
    "nor with PP left behind": ([GHOST, LITTLER], [GHOST], ONE_LEFT, NO_WINNER),
    "two that are frozen tie": (MEWS, MEWS, BOTH_FROZEN, TIE),
    "not with one behind that is not": (MEWS * 2, MEWS, BOTH_FROZEN, NO_WINNER),
}
#: One that bides and is disabled has two things to do at a turn's end, and ties with itself.
BIDES = {
    ("bide_time", 0): 3, ("disable_time", 0): 8, ("disable_slot", 0): 1,
    ("disable_move", 0): TACKLE, ("selected_move", 0): BIDE,
}  # fmt: skip
#: A binding that goes on, and the request hides it.
BINDS = {
    "turn": 2, ("lock_move", 0): WRAP, ("lock_duration", 0): 4, ("lock_total", 0): 5,
    ("lock_damage", 0): 10, ("lock_target", 0): 0, ("selected_move", 0): WRAP,
    ("trapped_duration", 1): 1, ("trapped_source", 1): 0,
}  # fmt: skip
OTHERS = [
    ([(MEW, TRANSFORM)], MEWS, {}),
    ([(MEW, BIDE, TACKLE)], [(MEW, SPLASH)], BIDES),
    ([(MEW, WRAP)], [(MEW, SPLASH)], BINDS),
]


def _team(members):
    rows = [[species, 100, *(*moves, 0, 0, 0, 0)[:4], *GENES] for species, *moves in members]
    return rows + [[0] * 18] * (6 - len(rows))


def _stepped(lab, rows):
    """Return the states before and the reference's after a first action of both; both agree."""
    teams = np.array([[_team(one), _team(two)] for one, two, _ in rows], np.uint8)
    count = len(rows)
    starts = Start(
        np.array([[1, 2]] * count, np.uint32), {"rules": np.zeros(count, np.uint8), "team": teams}
    )
    oracle = PokejaxOracle(lab.contract)
    lanes = oracle.lanes(count)
    states = {name: np.array(value) for name, value in lanes.reset(starts).state.items()}
    lanes.close()
    oracle.close()
    for row, (_, _, fields) in enumerate(rows):
        for place, value in fields.items():
            name, *index = (place,) if isinstance(place, str) else place
            states[name][(row, *index)] = value
    actions = np.zeros((1, count, 2), np.int32)
    want, _ = lab.oracle.steps(states, actions, starts)
    got = lab.runner.play_from(states, actions)
    found = frames_differ(want, got, lab.rules.one_step())
    assert not found, {path: np.argwhere(wrong).tolist() for path, wrong in found.items()}
    return states, {path.removeprefix("state."): value[0] for path, value in want.items()}


def test_battles_in_which_nobody_can_do_anything_tie_and_others_do_not(lab):
    _, after = _stepped(lab, [row[:3] for row in NO_PROGRESS.values()])
    winners = dict(zip(NO_PROGRESS, after["winner"].tolist(), strict=True))
    assert winners == {name: row[3] for name, row in NO_PROGRESS.items()}


def test_copies_ties_of_one_with_itself_and_hidden_locks_are_the_references(lab):
    before, after = _stepped(lab, OTHERS)
    assert after["virtual"][0, 0].tolist() == [True, False, False, False]
    assert between({"seed": before["seed"][1]}, {"seed": after["seed"][1]}) == 7
    assert after["maybe_locked"][2].tolist() == [True, True]
