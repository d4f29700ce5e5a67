"""Level 3: episodes of players who seek what is seldom legal, and who return to where they were."""

import pytest

from twinstep.further_drivers import plays_rare

pytestmark = pytest.mark.level3


@pytest.mark.gates("lockstep")
@pytest.mark.plays("rare")
@pytest.mark.needs(
    "rules.lockstep",
    when=lambda facts, row: plays_rare(facts.pair.subject.contract),
    why="no action is ever illegal, or the contract names drivers of its own",
)
def test_episodes_of_rare_rules_match(twinstep_lab):
    """Castling, captures that follow captures, positions that come again."""
    traces = twinstep_lab.traces("rare")
    twinstep_lab.notes["compared"] = ["lockstep rare"]
    twinstep_lab.require_lockstep(traces)
