"""Level 3 at length: a thousand ended episodes, or ten million steps, for every driver."""

import pytest

from twinstep.testing import NeedsOracle

pytestmark = [pytest.mark.level3, pytest.mark.slow]

#: A driver that keeps episodes alive is played for this many steps instead.
ENDED, STEPS = 1_000, 10_000_000


@pytest.mark.gates("lockstep")
def test_a_thousand_ended_episodes_match(twinstep_lab, twinstep_driver):
    """As many episodes as give 1,000 ended ones, or 10 million steps: no difference."""
    if twinstep_lab.reference.harness.imported:
        raise NeedsOracle("exported traces have the episodes they have")
    episodes = ENDED
    traces = twinstep_lab.traces(twinstep_driver, episodes)
    while (ended := _ended(traces)) < ENDED and traces.total("steps") < STEPS:
        by_steps = episodes * STEPS / traces.total("steps")
        by_ended = episodes * ENDED / max(ended, 1)
        episodes = int(1.02 * min(by_steps, by_ended)) + 1
        traces = twinstep_lab.traces(twinstep_driver, episodes)
    twinstep_lab.notes["compared"] = [f"lockstep {twinstep_driver}"]
    twinstep_lab.require_lockstep(traces)


def _ended(traces):
    return traces.total("terminated") + traces.total("truncated")
