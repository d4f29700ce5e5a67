"""Level 3: new games, and games by rules never seen before."""

import os

import numpy as np
import pytest

from twinstep.contracts.tcgjax.layout import RULES
from twinstep.testing import starts_of

pytestmark = [pytest.mark.level3, pytest.mark.environment("tcgjax")]

#: In each of the two variants; played in parts, so that a difference is reported early.
GAMES, PART = 2500, 500
#: Ranges of R1 to R6: low, high, step.
DRAWN = {
    "weakness": (0, 50, 10), "hand": (5, 10, 1), "poison": (10, 40, 10), "heads": (0, 1, 1),
    "turns": (6, 40, 1), "points": (1, 6, 1),
}  # fmt: skip


def _rng(lab, what):
    """Return a generator whose seed is printed; TWINSTEP_SEED repeats it."""
    seed = int(os.environ.get("TWINSTEP_SEED") or np.random.SeedSequence().entropy % 2**32)
    lab.notes["lines"] = [f"L3 {lab.pair.label}: {what} of seed {seed}"]
    print(f"TWINSTEP_SEED={seed}")
    return np.random.default_rng(seed)


@pytest.mark.slow
@pytest.mark.needs(
    when=lambda facts, row: facts.pair.subject.variant.name in ("apex", "invented"),
    why="decks of each set by the usual rules only",
)
def test_five_thousand_new_games_match(twinstep_lab):
    """Real and invented cards, half each, by all drivers in turn."""
    rng = _rng(twinstep_lab, f"{GAMES} new games")
    ended = 0
    for part in range(GAMES // PART):
        drawn = rng.integers(0, 2**32, (PART, 2)).astype(np.uint32)
        driver = twinstep_lab.contract.drivers[part % len(twinstep_lab.contract.drivers)]
        traces = twinstep_lab.reference.recorded(
            driver, starts_of(twinstep_lab.contract, drawn), 1200
        )
        twinstep_lab.require_lockstep(traces)
        ended += traces.total("terminated")
    assert ended == GAMES


@pytest.mark.needs(
    when=lambda facts, row: facts.pair.subject.variant.name == "apex", why="once is enough"
)
def test_games_by_rules_drawn_for_this_run_match(twinstep_lab):
    """An engine that plays the game from memory instead of by its contract fails."""
    rng = _rng(twinstep_lab, "100 games by drawn rules")
    drawn = rng.integers(0, 2**32, (100, 2)).astype(np.uint32)
    starts = starts_of(twinstep_lab.contract, drawn)
    assert list(DRAWN) == list(RULES)
    columns = [
        rng.choice(np.arange(low, high + 1, step), 100) for low, high, step in DRAWN.values()
    ]
    starts.fields["rules"] = np.stack(columns, 1).astype(np.int16)
    for driver in ("busy", "loose"):
        traces = twinstep_lab.reference.recorded(driver, starts, 1500)
        twinstep_lab.require_lockstep(traces)
        assert traces.total("terminated") == 100
