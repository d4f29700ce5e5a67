"""Level 4: trained policies play alike in the oracle and in the candidate.

Asked where the contract declares a `Transfer`. Policies are trained by PPO in the candidate
and in the reference itself, once for all tests.
"""

import pytest

from twinstep._lib.stats import EQUIVALENT
from twinstep.errors import UserError
from twinstep.testing import policy_transfer

pytestmark = [pytest.mark.level4, pytest.mark.declared("transfer")]


@pytest.fixture
def plan(lab):
    try:
        return policy_transfer.plan_of(lab)
    except policy_transfer.PoliciesUnusable as reason:
        pytest.skip(str(reason))


def _group(lab, trained_in, plan):
    """Return the policies trained in one of the two; what was declared is printed."""
    lab.notes.setdefault("lines", [policy_transfer.rule(plan)])
    try:
        return policy_transfer.group_of(lab if trained_in == "candidate" else lab.reference, plan)
    except policy_transfer.PoliciesUnusable as reason:
        lab.fail(f"{reason}.")


def _require_equivalent(lab, compare, *args):
    try:
        verdict = compare(lab, *args)
    except policy_transfer.PoliciesUnusable as reason:
        lab.fail(f"{reason}.")
    lab.notes["lines"].append(verdict.line)
    if verdict.found.verdict != EQUIVALENT:
        lab.fail(f"{verdict.line}.")


_trained = pytest.mark.parametrize("trained_in", ["candidate", "oracle"])


@_trained
def test_policies_play_the_same_games_from_the_same_starts(lab, plan, trained_in):
    """Same start, same noise: every observation, action and reward is the same, bit for bit."""
    try:
        policy_transfer.require_exact(lab)
    except UserError as reason:
        pytest.skip(str(reason))
    group = _group(lab, trained_in, plan)
    outcome = policy_transfer.same_games(lab, group, plan)
    lab.notes["lines"].append(
        f"L4 {lab.pair.subject.label}: trained={group.backend}, {outcome.episodes} matched starts, "
        f"{outcome.steps} steps: {len(outcome.divergences) or 'none'} differ"
    )
    lab.require_equal(outcome)


@_trained
def test_scores_from_fresh_starts_are_equivalent(lab, plan, trained_in):
    """Independent starts and noise; the mean scores, paired by policy, agree within the margin."""
    _require_equivalent(lab, policy_transfer.compare_scores, _group(lab, trained_in, plan), plan)


def test_training_in_either_gives_equivalent_scores(lab, plan):
    """Policies trained and played in the oracle score as those of the candidate do in it."""
    if not plan.training:
        pytest.skip("not asked, see the contract's `Transfer`")
    groups = _group(lab, "oracle", plan), _group(lab, "candidate", plan)
    _require_equivalent(lab, policy_transfer.compare_training, groups, plan)
