"""Level 2: the last steps before a limit on an episode's length, which play may never reach."""

import numpy as np
import pytest

from twinstep.compare.limits import find_limit
from twinstep.frames import take_lanes
from twinstep.testing import Case, frames_differ

pytestmark = pytest.mark.level2

#: The counts around the limit: two steps before the last one, and the last one itself.
AROUND = np.array([-2, -1, 0])


@pytest.mark.needs(
    *("candidate.load", "oracle.load", "contract.shown", "not contract.hidden"),
    when=lambda facts, row: facts.pair.subject.contract.truncates,
    why="the contract declares no truncation",
)
def test_the_last_steps_before_the_limit_match_the_oracle(twinstep_lab):
    """Where the state counts its steps, `truncated` and the last reward are one step away."""
    contract, oracle = twinstep_lab.contract, twinstep_lab.oracle
    traces = twinstep_lab.reference.traces(contract.drivers[0], pair=twinstep_lab.pair)
    limit = find_limit(contract, oracle, traces)
    if limit is None:
        twinstep_lab.notes["lines"] = [
            "no limit is asked for: no state field counts the steps to one"
        ]
        return
    counts = limit.last + AROUND
    steps = limit.steps.counted(limit.counter, counts[counts >= 0])
    want, _ = oracle.steps(steps.states, steps.actions[None], steps.starts)
    got = twinstep_lab.runner.play_from(steps.states, steps.actions[None])
    twinstep_lab.notes["seen"] = ["truncated"] if want["truncated"].any() else []
    found = frames_differ(want, got, twinstep_lab.rules.from_placed())
    if not found:
        return
    wrong = np.logical_or.reduce(list(found.values()))[0]
    at = int(wrong.argmax())
    state = {name: values[at] for name, values in steps.states.items()}
    case = Case("step", take_lanes(steps.starts, at), steps.actions[None, at], state)
    twinstep_lab.fail_with_case(
        case,
        f"{int(wrong.sum())} of {len(wrong)} steps around the limit of an episode "
        f"(`state.{limit.counter}` {limit.last}) differ; the first:",
    )
