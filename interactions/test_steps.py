"""Level 2: the modules together, one step and a few, from states that play may never reach."""

import numpy as np
import pytest

from twinstep.compare.arrays import broken_shares, frames_differ
from twinstep.diagnosis.case import Case
from twinstep.frames import take_lanes
from twinstep.inputs.sampling import some_starts

pytestmark = pytest.mark.level2


def _require_load(lab):
    if not lab.contract.placed:
        pytest.skip("states of this contract cannot be drawn field by field")
    if not (lab.runner.offers("load") and lab.oracle.offers("load")):
        pytest.skip("placing a state needs `load` on both sides")
    if lab.contract.masked and not lab.oracle.offers("places"):
        pytest.skip("placed states of a masked game have no legal actions to draw from")


def _first_wrong(found, count):
    wrong = np.zeros(count, bool)
    for rows in found.values():
        wrong |= rows.reshape(-1, count).any(0)
    return int(np.flatnonzero(wrong)[0]), int(wrong.sum())


def test_step_from_placed_states_matches_the_oracle(lab):
    """One step from states over the whole declared range gives the oracle's frame."""
    _require_load(lab)
    contract, count = lab.contract, lab.contract.placed
    states, actions = lab.reference.states(count, "placed", dtype=lab.runner.dtype)
    actions = actions[None]
    starts = some_starts(contract, count)
    want, _ = lab.oracle.steps(states, actions, starts)
    got = lab.runner.play_from(states, actions)
    found = frames_differ(want, got, lab.rules.from_placed())
    if found:
        at, total = _first_wrong(found, count)
        case = Case(
            "step",
            take_lanes(starts, at),
            actions[:, at],
            {name: values[at] for name, values in states.items()},
        )
        lab.require_agreement(case, f"{total} of {count} placed states differ; the first:")
    broken = broken_shares(want, got, lab.rules.placed)
    if broken:
        lab.fail("; ".join(broken))


def test_restart_of_placed_states_matches_the_oracle(lab):
    """The auto-reset keeps and clears the same fields as the reference's."""
    _require_load(lab)
    if not (lab.runner.offers("restart") and lab.oracle.offers("restart")):
        pytest.skip("no auto-reset to compare")
    contract, count = lab.contract, lab.contract.placed
    states, _ = lab.reference.states(count, "restart", dtype=lab.runner.dtype)
    starts = some_starts(contract, count)
    want = lab.oracle.restarts(states, starts)
    _, got = lab.runner.restart(lab.runner.load(states))
    found = frames_differ(want, got, lab.rules.one_step())
    if found:
        at, total = _first_wrong(found, count)
        none = np.zeros((0, *contract.action_layout()[1]), contract.action_layout()[0])
        state = {name: values[at] for name, values in states.items()}
        case = Case("restart", take_lanes(starts, at), none, state)
        lab.require_agreement(case, f"{total} of {count} placed states differ; the first:")
