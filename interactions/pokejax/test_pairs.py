"""Level 2: every effect meets every other, on directed teams.

Random teams rarely bring two given effects together. Here each pair of families of moves has
its own battles: player 1's team has moves of both, player 2's of the second and the first.
"""

import itertools

import numpy as np
import pytest

from twinstep.contracts.pokejax.families import FAMILIES
from twinstep.contracts.pokejax.layout import RULES
from twinstep.frames import Start
from twinstep.properties.pokejax.teams import GENES
from twinstep.testing import check_episodes

pytestmark = [pytest.mark.level2, pytest.mark.environment("pokejax"), pytest.mark.one_variant]

STEPS = 24
PAIRS = list(itertools.combinations_with_replacement(range(len(FAMILIES)), 2))


def _starts(seeds_each):
    """Return starts for every pair, `seeds_each` in a row."""
    rng = np.random.default_rng(0)
    teams, rules = [], []
    for one, two in PAIRS:
        for _ in range(seeds_each):
            both = [list(FAMILIES.values())[family] for family in (one, two)]
            teams.append([_team(both, rng), _team(both[::-1], rng)])
            rules.append(rng.integers(0, 2))
    seed = rng.integers(0, 2**32, (len(teams), 2)).astype(np.uint32)
    fields = {"rules": np.array(rules, RULES.dtype), "team": np.array(teams, np.uint8)}
    return Start(seed, fields)


def _team(families, rng):
    """Return six members with two moves of either family each, if it has as many."""
    members = []
    for _ in range(6):
        first, second = (list(rng.permutation(moves)[:2]) for moves in families)
        moves = list(dict.fromkeys(int(move) for move in first + second))
        species = rng.integers(1, 152)
        members.append([species, 100, *(moves + [0] * 4)[:4], *GENES])
    return members


@pytest.mark.parametrize("each", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_every_pair_of_effects_agrees_in_battles_of_its_own(twinstep_lab, each):
    """All pairs of families, random legal actions, every field at every decision."""
    # All moves except Struggle, which nobody can choose.
    assert {move for moves in FAMILIES.values() for move in moves} == set(range(1, 165))
    starts = _starts(each)
    traces = twinstep_lab.reference.recorded("random", starts, STEPS)
    outcome = check_episodes(twinstep_lab.runner, traces, twinstep_lab.rules.lockstep())
    assert outcome.episodes == len(PAIRS) * each
    twinstep_lab.require_equal(outcome)
