"""The outcome of level 4 for each planted bug, and the level that catches it first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from twinstep._lib.stats import EQUIVALENT
from twinstep.plans import Transfer
from twinstep.project.registry import EnvVariant
from twinstep.rl.rollouts import Episodes
from twinstep.testing import policy_transfer
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Lab
from twinstep.testing.policy_transfer import Group
from twinstep.tests.planted import Bug
from twinstep.tests.planted.checks import KINDS, failure

_HEAD = """# What level 4 does not see

Measured by `python -m twinstep.tests.planted blind`, for {label}: {size} policies trained in the
reference itself, {episodes} first episodes each, played there and in the copy of JAX Pong with the
bug, each side from its own starts and with its own noise. Scores are compared by TOST, paired by
policy, margin {margin:g}. Matched starts: {matched} episodes with the same starts and noise,
compared step by step.

| planted bug | mean score | difference, 90% CI | TOST | matched starts | first caught by |
|---|---|---|---|---|---|
"""


def lines(
    harness: Harness,
    subject: EnvVariant,
    bugs: Iterable[Bug],
    planted: Callable[[Harness, Bug], AbstractContextManager[Lab]],
) -> Iterator[str]:
    """Yield the parts of the table; `planted` gives a bug's lab."""
    reference, plan = harness.reference(subject), subject.contract.transfer
    if plan is None:
        raise LookupError(f"the contract of {subject.label} declares no transfer")
    group = policy_transfer.group_of(reference, plan)
    env = policy_transfer.oracle_env(reference)
    oracle = policy_transfer.fresh_games(env, group, plan)
    env.close()
    yield _HEAD.format(
        label=subject.label,
        size=group.cast.size,
        episodes=plan.episodes,
        margin=plan.margin,
        matched=group.cast.size * policy_transfer.MATCHED_EPISODES,
    )
    missed, asked = 0, 0
    for bug in bugs:
        with planted(harness, bug) as lab:
            score, shown, word = _scores(lab, group, plan, oracle)
            games = policy_transfer.same_games(lab, group, plan)
            first = next((kind for kind in KINDS if failure(lab, kind)), "")
        asked += 1
        missed += word == EQUIVALENT
        matched = "differ" if games.divergences else "the same"
        level = f"level {KINDS[first]}: {first}" if first else "nothing"
        yield f"| {bug.name} | {score} | {shown} | {word} | {matched} | {level} |\n"
    yield f"\nOf {asked} planted bugs, TOST calls {missed} equivalent.\n"


def _scores(lab: Lab, group: Group, plan: Transfer, oracle: Episodes) -> tuple[str, str, str]:
    """Return the mean score, the difference with its interval, and the verdict."""
    try:
        found = policy_transfer.compare_scores(lab, group, plan, oracle).found
    except policy_transfer.PoliciesUnusable:
        return "always the same", "", "refused"
    score = oracle.scores.mean() + found.difference
    interval = f"{found.difference:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"
    return f"{score:.2f}", interval, found.verdict
