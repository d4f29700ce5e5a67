"""Level 2: one decision from states that are rare in play.

A row is a first frame of the reference with some fields rewritten, loaded on both sides. They agree
in every field, and one field with a known value is checked in the reference, too.
"""

import numpy as np
import pytest

from twinstep.contracts.pokejax.draws import between
from twinstep.frames import take_lanes
from twinstep.properties.pokejax.teams import starts_of
from twinstep.testing import frames_differ

pytestmark = [
    pytest.mark.level2, pytest.mark.environment("pokejax"), pytest.mark.one_variant,
]  # fmt: skip

GASTLY, HAUNTER, GENGAR, CHANSEY, JOLTEON, MEW = 92, 93, 94, 113, 135, 151
TACKLE, WRAP, BIDE, METRONOME, TRANSFORM, SPLASH, REST = 33, 35, 117, 118, 144, 150, 156
ASLEEP, FROZEN, POISONED, FAINTED = 3, 4, 5, 7
TIE, NO_WINNER = 3, 0
#: The request of a forced switch, and the actions that send in the first and the second member.
SWITCHES, FIRST, SECOND = 2, 4, 5
#: A member: species, then moves.
GHOST, PLAIN = (GENGAR, REST), (CHANSEY, REST)
WITHOUT_PP = {"pp": 0, "move_pp": 0}
BOTH_FROZEN = {("status", 0, 0): FROZEN, ("status", 1, 0): FROZEN}

LITTLE, LITTLER, TWO = (HAUNTER, REST), (GASTLY, REST), (GASTLY, REST, SPLASH)
MEWS = [(MEW, TACKLE)]
ONE_LEFT = {**WITHOUT_PP, ("pp", 0, 1, 0): 1}
SECOND_LEFT = {**WITHOUT_PP, ("pp", 0, 1, 1): 1}
COPIES = [(MEW, TRANSFORM), PLAIN]


def _down(side, member):
    return {
        ("hp", side, member): 0,
        ("status", side, member): FAINTED,
        ("fainted", side, member): True,
    }


#: Both teams, the rewritten fields (a name, or a name and an index), the expected winner.
NO_PROGRESS = {
    "ghosts with a Gastly behind tie": ([GHOST, LITTLER], [GHOST, LITTLE], WITHOUT_PP, TIE),
    "ghosts with a Haunter behind tie": ([GHOST, LITTLE], [GHOST, LITTLER], WITHOUT_PP, TIE),
    "a ghost before another does not": ([GHOST, PLAIN], [GHOST], WITHOUT_PP, NO_WINNER),
    "nor on the other side": ([GHOST], [GHOST, PLAIN], WITHOUT_PP, NO_WINNER),
    "nor another before a ghost": ([PLAIN, GHOST], [GHOST], WITHOUT_PP, NO_WINNER),
    "nor with PP left behind": ([GHOST, LITTLER], [GHOST], ONE_LEFT, NO_WINNER),
    "nor with PP left in a second slot": ([GHOST, TWO], [GHOST], SECOND_LEFT, NO_WINNER),
    "two that are frozen tie": (MEWS, MEWS, BOTH_FROZEN, TIE),
    "not with one behind that is not": (MEWS * 2, MEWS, BOTH_FROZEN, NO_WINNER),
    "the last two tie if they only copy": (COPIES, COPIES, {**_down(0, 1), **_down(1, 1)}, TIE),
}
#: A Pokemon that bides and is disabled has two handlers at a turn's end, and ties with itself.
BIDES = {
    ("bide_time", 0): 3, ("disable_time", 0): 8, ("disable_slot", 0): 1,
    ("disable_move", 0): TACKLE, ("selected_move", 0): BIDE,
}  # fmt: skip
#: A binding that continues, hidden by the request.
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
STILL = [(MEW, SPLASH)]
#: Its second slot is disabled.
DISABLED = {
    ("disable_time", 0): 8, ("disable_slot", 0): 1, ("disable_move", 0): TACKLE,
    ("disabled", 0, 1): True,
}  # fmt: skip
NAPS = {("status", 0, 0): ASLEEP, ("sleep", 0, 0): 5, ("selected_move", 0): SPLASH}
ENDS = {**BINDS, ("lock_duration", 0): 1, ("lock_total", 0): 4}
#: The second side's first member went before the pretence was over, and its replacement fainted.
COMES_BACK = {
    "turn": 3, ("fake_duration", 0): 1, ("fake_counterpart", 0): 0, ("seen", 1, 1): 2,
    ("order", 1): [1, 0, 2, 3, 4, 5], ("request", 0): 0, ("request", 1): SWITCHES, **_down(1, 1),
}  # fmt: skip

#: Both teams, rewritten fields, both actions; a field and its expected value.
LEFT = {
    "a slot that is disabled stays so alone": (
        [(MEW, SPLASH, TACKLE, REST)], STILL, DISABLED, (0, 0), "disabled",
        [[False, True, False, False], [False] * 4],
    ),
    "a slot that a copy lacks is not disabled": (
        [(MEW, TRANSFORM, TACKLE)], STILL, DISABLED, (0, 0), "disabled", [[False] * 4] * 2,
    ),
    "one that binds by Metronome selects it as its target leaves, also if it then leaves itself": (
        [(MEW, METRONOME), *STILL], [(JOLTEON, SPLASH), *STILL], BINDS, (SECOND, SECOND),
        "selected_move", [METRONOME, 0],
    ),
    "one that binds by its own move does not": (
        [(MEW, WRAP)], STILL * 2, BINDS, (0, SECOND), "selected_move", [WRAP, 0],
    ),
    "one that does not bind selects nothing as its foe leaves": (
        [(MEW, METRONOME)], STILL * 2, NAPS, (0, SECOND), "selected_move", [SPLASH, 0],
    ),
    "one that faints as it arrives ends the turn": (
        STILL * 2, STILL, {("hp", 0, 1): 1, ("status", 0, 1): POISONED}, (SECOND, 0), "request",
        [SWITCHES, 0],
    ),
    "the end of a binding stays hidden for a turn": (
        [(MEW, WRAP)], STILL, ENDS, (0, 0), "fake_duration", [1, 1],
    ),
    "but not from one whose other end has gone and come back": (
        STILL, STILL * 2, COMES_BACK, (0, FIRST), "fake_duration", [0, 0],
    ),
}  # fmt: skip


def _stepped(lab, rows, chosen=(0, 0)):
    """Return the states before and the reference's after an action of both; both sides agree.

    chosen: the actions, of all rows or of each.
    """
    starts = starts_of((one, two) for one, two, _ in rows)
    count = len(rows)
    first = [lab.oracle.reset(take_lanes(starts, lane)).state for lane in range(count)]
    states = {name: np.stack([fields[name] for fields in first]) for name in first[0]}
    for row, (_, _, fields) in enumerate(rows):
        for place, value in fields.items():
            name, *index = (place,) if isinstance(place, str) else place
            states[name][(row, *index)] = value
    actions = np.broadcast_to(np.array(chosen, np.int32), (1, count, 2))
    want, _ = lab.oracle.steps(states, actions, starts)
    got = lab.runner.play_from(states, actions)
    found = frames_differ(want, got, lab.rules.one_step())
    assert not found, {path: np.argwhere(wrong).tolist() for path, wrong in found.items()}
    return states, {path.removeprefix("state."): value[0] for path, value in want.items()}


def test_battles_in_which_nobody_can_do_anything_tie_and_others_do_not(twinstep_lab):
    _, after = _stepped(twinstep_lab, [row[:3] for row in NO_PROGRESS.values()])
    winners = dict(zip(NO_PROGRESS, after["winner"].tolist(), strict=True))
    assert winners == {name: row[3] for name, row in NO_PROGRESS.items()}


def test_copies_ties_of_one_with_itself_and_hidden_locks_are_the_references(twinstep_lab):
    before, after = _stepped(twinstep_lab, OTHERS)
    assert after["virtual"][0, 0].tolist() == [True, False, False, False]
    assert between({"seed": before["seed"][1]}, {"seed": after["seed"][1]}) == 7
    assert after["maybe_locked"][2].tolist() == [True, True]


def test_what_a_switch_or_an_end_leaves_behind_is_the_references(twinstep_lab):
    rows = list(LEFT.values())
    _, after = _stepped(twinstep_lab, [row[:3] for row in rows], [row[3] for row in rows])
    found = {name: after[row[4]][i].tolist() for i, (name, row) in enumerate(LEFT.items())}
    assert found == {name: row[5] for name, row in LEFT.items()}


def test_battles_that_are_over_stay_as_they_are_among_themselves(twinstep_lab):
    ties = [row[:3] for row in NO_PROGRESS.values() if row[3] == TIE]
    before, after = _stepped(twinstep_lab, ties)
    assert (after["winner"] == TIE).all()
    played = twinstep_lab.runner.play_from(before, np.zeros((3, len(ties), 2), np.int32))
    changed = [path for path, frames in played.items() if (frames[1:] != frames[0]).any()]
    assert not changed


def test_one_who_has_copied_fewer_moves_than_its_own_goes_on_when_loaded(twinstep_lab):
    """The simulator's own way to load a battle raises there."""
    row = ([(MEW, TRANSFORM, TACKLE, REST)], STILL, {})
    before, after = _stepped(twinstep_lab, [row])
    assert after["moves"][0, 0].tolist() == [SPLASH, 0, 0, 0]
    states = {name: after[name] for name in before}
    actions = np.zeros((1, 1, 2), np.int32)
    want, _ = twinstep_lab.oracle.steps(states, actions, starts_of([row[:2]]))
    got = twinstep_lab.runner.play_from(states, actions)
    assert not frames_differ(want, got, twinstep_lab.rules.one_step())
    assert want["state.pp"][0, 0, 0, 0].tolist() == after["pp"][0, 0, 0].tolist()
