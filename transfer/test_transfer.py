"""Level 4: trained policies play alike in the oracle and in the candidate.

Asked where the contract declares a `Transfer`. Policies are trained by PPO in the candidate
and in the reference itself, once for all tests.
"""

import pytest

from twinstep._lib.stats import EQUIVALENT
from twinstep.testing import policy_transfer


def _is_exact(facts, row):
    return facts.rules is None or not policy_transfer.loose_fields(facts.rules)


pytestmark = [
    pytest.mark.level4, pytest.mark.declared("transfer"), pytest.mark.needs("shipped.auto_step"),
]  # fmt: skip


@pytest.fixture
def twinstep_plan(twinstep_lab):
    return policy_transfer.plan_of(twinstep_lab)


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


@pytest.mark.needs(when=_is_exact, why="needs exact gates: other games part")
@_trained
def test_policies_play_the_same_games_from_the_same_starts(twinstep_lab, twinstep_plan, trained_in):
    """Same start, same noise: every observation, action and reward is the same, bit for bit."""
    group = _group(twinstep_lab, trained_in, twinstep_plan)
    outcome = policy_transfer.same_games(twinstep_lab, group, twinstep_plan)
    differ = len(outcome.divergences) or "none"
    twinstep_lab.notes["lines"].append(
        f"L4 {twinstep_lab.pair.subject.label}: trained={group.backend}, "
        f"{outcome.episodes} matched starts, {outcome.steps} steps: {differ} differ"
    )
    twinstep_lab.require_equal(outcome)


@_trained
def test_scores_from_fresh_starts_are_equivalent(twinstep_lab, twinstep_plan, trained_in):
    """Independent starts and noise; the mean scores, paired by policy, agree within the margin."""
    _require_equivalent(
        twinstep_lab,
        policy_transfer.compare_scores,
        _group(twinstep_lab, trained_in, twinstep_plan),
        twinstep_plan,
    )


@pytest.mark.needs("contract.transfer.training")
def test_training_in_either_gives_equivalent_scores(twinstep_lab, twinstep_plan):
    """Policies trained and played in the oracle score as those of the candidate do in it."""
    groups = (
        _group(twinstep_lab, "oracle", twinstep_plan),
        _group(twinstep_lab, "candidate", twinstep_plan),
    )
    _require_equivalent(twinstep_lab, policy_transfer.compare_training, groups, twinstep_plan)
