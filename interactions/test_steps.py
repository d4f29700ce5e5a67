"""Level 2: the modules together, one step and a few, from states that play may never reach."""

import numpy as np
import pytest

from twinstep.frames import take_lanes
from twinstep.testing import Case, broken_shares, frames_differ, some_starts

pytestmark = pytest.mark.level2


def _has_legal_actions(facts, row):
    """Placed states of a masked game have legal actions only where the reference places them."""
    masked = facts.pair.subject.contract.masked
    return not masked or facts.oracle is None or "places" in facts.oracle


_placed = pytest.mark.needs(
    *("contract.placed", "candidate.load", "oracle.load"),
    when=_has_legal_actions,
    why="needs oracle.places",
)


def _first_wrong(found, count):
    wrong = np.zeros(count, bool)
    for rows in found.values():
        wrong |= rows.reshape(-1, count).any(0)
    return int(np.flatnonzero(wrong)[0]), int(wrong.sum())


@_placed
def test_step_from_placed_states_matches_the_oracle(twinstep_lab):
    """One step from states over the whole declared range gives the oracle's frame."""
    contract, count = twinstep_lab.contract, twinstep_lab.contract.placed
    states, actions = twinstep_lab.reference.states(
        count, "placed", dtype=twinstep_lab.runner.dtype
    )
    actions = actions[None]
    starts = some_starts(contract, count)
    want, _ = twinstep_lab.oracle.steps(states, actions, starts)
    got = twinstep_lab.runner.play_from(states, actions)
    found = frames_differ(want, got, twinstep_lab.rules.from_placed())
    if found:
        at, total = _first_wrong(found, count)
        case = Case(
            "step",
            take_lanes(starts, at),
            actions[:, at],
            {name: values[at] for name, values in states.items()},
        )
        twinstep_lab.fail_with_case(case, f"{total} of {count} placed states differ; the first:")
    broken = broken_shares(want, got, twinstep_lab.rules.placed)
    if broken:
        twinstep_lab.fail("; ".join(broken))


@_placed
@pytest.mark.needs("candidate.restart", "oracle.restart")
def test_restart_of_placed_states_matches_the_oracle(twinstep_lab):
    """The auto-reset keeps and clears the same fields as the reference's."""
    contract, count = twinstep_lab.contract, twinstep_lab.contract.placed
    states, _ = twinstep_lab.reference.states(count, "restart", dtype=twinstep_lab.runner.dtype)
    starts = some_starts(contract, count)
    want = twinstep_lab.oracle.restarts(states, starts)
    _, got = twinstep_lab.runner.restart(twinstep_lab.runner.load(states))
    found = frames_differ(want, got, twinstep_lab.rules.one_step())
    if found:
        at, total = _first_wrong(found, count)
        none = np.zeros((0, *contract.action_layout()[1]), contract.action_layout()[0])
        state = {name: values[at] for name, values in states.items()}
        case = Case("restart", take_lanes(starts, at), none, state)
        twinstep_lab.fail_with_case(case, f"{total} of {count} placed states differ; the first:")
