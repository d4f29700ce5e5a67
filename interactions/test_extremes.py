"""Level 2: steps on the way to the ends of what the state holds, where random play does not go."""

import numpy as np
import pytest

from twinstep.compare.extremes import measured, search
from twinstep.frames import take_lanes
from twinstep.reference.ranges_seen import ranged, widen
from twinstep.testing import Case, frames_differ

pytestmark = pytest.mark.level2


_searched = pytest.mark.needs(
    *("candidate.load", "oracle.load", "contract.shown", "not contract.hidden"),
    when=lambda facts, row: measured(facts.pair.subject.contract),
    why="the contract shows no number of its state",
)


@_searched
@pytest.mark.needs("contract.placed")
def test_steps_of_a_search_for_full_and_empty_states_match_the_oracle(twinstep_lab):
    """Each step begins at a state that the reference has reached, so every difference is true."""
    _search(twinstep_lab)


@_searched
@pytest.mark.slow
@pytest.mark.needs("not contract.placed")
def test_steps_of_a_search_match_where_no_state_is_placed(twinstep_lab):
    """As above, for references that are loaded at a high price."""
    _search(twinstep_lab)


def _search(lab):
    contract, steps = lab.contract, 0
    traces = lab.reference.traces(contract.drivers[0], pair=lab.pair)
    rng, ranges = lab.reference.rng("extremes"), {}
    for each in search(contract, lab.oracle, traces, rng):
        steps += each.actions.shape[1]
        for field in ranged(contract):
            widen(ranges, field.name, each.frames[f"state.{field.name}"])
        got = lab.runner.play_from(each.states, each.actions)
        found = frames_differ(each.frames, got, lab.rules.from_placed())
        if found:
            wrong = np.logical_or.reduce(list(found.values()))[0]
            at = int(wrong.argmax())
            state = {name: values[at] for name, values in each.states.items()}
            start = take_lanes(each.starts, at)
            case = Case("step", start, each.actions[:, at], state)
            note = f"A search for full and empty states found it, after {steps:,} steps; the first:"
            lab.fail_with_case(case, note)
    lab.notes["searched"] = ranges
    lab.notes["lines"] = [f"L2 {lab.pair.label}: {steps:,} steps towards full and empty states"]
