"""Level 4: do policies score the same in the reference and in the fast implementation?

A weak detector next to levels 1 to 3: it sees what changes a trained policy's mean score by
more than the margin, and nothing else. What is asked is in the contract's `Transfer`, stated
before anything is trained; everything here is seeded, so that a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from twinstep._lib import stats
from twinstep.compare.arrays import Rules
from twinstep.compare.lockstep import Outcome
from twinstep.env.make import ORACLE, Env
from twinstep.env.remote import RemoteEnv
from twinstep.plans import Transfer
from twinstep.project.registry import load_object
from twinstep.rl.ppo import train
from twinstep.rl.rollouts import Episodes, PolicyBatch, environment_seeds, play, play_both
from twinstep.rl.versus import Arena, OpponentWrapper
from twinstep.testing.lab import Lab
from twinstep.testing.reference import Reference

#: Sets of environment seeds, apart from each other and from those of training, which are below
#: 2**31: for the gate, for the two sides of (b), for (a), and for random play.
GATE, ORACLE_SIDE, CANDIDATE_SIDE, MATCHED, RANDOM = range(8, 13)
#: The first training seed of a candidate; the reference's is 0. Equal environments train equal
#: policies from equal seeds, and comparing those would show nothing.
FIRST_SEED = 1000
#: First episodes per policy that are compared step by step.
MATCHED_EPISODES = 16


class PoliciesUnusable(Exception):
    """The policies cannot decide anything; the message is one line that says why."""


class Group(NamedTuple):
    """The solved policies trained in one backend.

    seeds: their training seeds. tried: training seeds used up. scores: f64[S, E], in that
    backend, of the episodes that decided whether they are solved. random: mean score there of
    random play.
    """

    backend: str
    cast: PolicyBatch
    seeds: tuple[int, ...]
    tried: int
    scores: np.ndarray
    random: float


class Equivalence(NamedTuple):
    """The outcome of (b) and the line that says it."""

    found: stats.Equivalence
    line: str


def plan_of(lab: Lab) -> Transfer:
    """Return what the contract asks: the full budget where this run does, if there is one."""
    contract, full = lab.contract, lab.reference.harness.settings.full_budget
    plan = contract.full_transfer if full and contract.full_transfer else contract.transfer
    assert plan is not None, "asked only where a contract declares one"
    return plan


def oracle_env(reference: Reference) -> Env:
    """Return the reference under the same auto-reset, in this process."""
    return Env(reference.subject, ORACLE, "same-step")


def against(env: Env | RemoteEnv, plan: Transfer, training: bool = False) -> Arena:
    """Return the environment as the plan's one player meets it; training: with its shaping."""
    if not plan.opponent:
        return env
    shaping = load_object(plan.shaping) if training and plan.shaping else None
    return OpponentWrapper(env, load_object(plan.opponent), shaping, plan.ppo.gamma)


_GROUPS: WeakKeyDictionary[Lab | Reference, Group | PoliciesUnusable] = WeakKeyDictionary()


def group_of(owner: Lab | Reference, plan: Transfer) -> Group:
    """Return the policies trained in a lab's candidate or in a reference itself, trained once.

    Unfit as `train_solved`, each time it is asked.
    """
    if owner not in _GROUPS:
        reference = owner.reference if isinstance(owner, Lab) else owner
        env = owner.shipped("same-step") if isinstance(owner, Lab) else oracle_env(owner)
        try:
            _GROUPS[owner] = train_solved(env, plan, reference.harness.settings.progress)
        except PoliciesUnusable as problem:
            _GROUPS[owner] = problem
        if env.backend == ORACLE:
            env.close()
    known = _GROUPS[owner]
    if isinstance(known, PoliciesUnusable):
        raise known
    return known


def train_solved(
    env: Env | RemoteEnv, plan: Transfer, progress: Callable[[str], None] = lambda text: None
) -> Group:
    """Train policies from consecutive training seeds until `plan.seeds` are solved.

    A seed that is not solved is replaced by the next number. Unfit if `plan.tries` numbers do
    not give enough, or a solved policy does not beat random play by `plan.gap` margins.
    """
    steps, solved = budget(plan, env.backend)
    arena = against(env, plan)
    kept: list[tuple[int, dict[str, np.ndarray], np.ndarray]] = []
    tried, policy, best = 0, None, -np.inf
    random = np.nan
    while len(kept) < plan.seeds:
        wanted = min(plan.seeds - len(kept), plan.tries - tried)
        if wanted == 0:
            raise PoliciesUnusable(
                f"trained in {env.backend}, only {len(kept)} of {plan.tries} seeds reach "
                f"{solved:g} (best mean score {best:.2f}); {plan.seeds} are needed"
            )
        begin = tried + (0 if env.backend == ORACLE else FIRST_SEED)
        seeds = range(begin, begin + wanted)
        made = train(against(env, plan, training=True), plan.ppo, list(seeds), steps, progress)
        policy, cast = made.policy, PolicyBatch(made.policy, made.params)
        if not tried:
            alone = environment_seeds(RANDOM, plan.episodes)
            random = float(play(arena, cast.random(), alone, (RANDOM,), plan).scores.mean())
        starts = environment_seeds(GATE, wanted * plan.episodes)
        scores = play(arena, cast, starts, (GATE, tried), plan).scores
        best = max(best, float(scores.mean(1).max()))
        for place, seed in enumerate(seeds):
            if scores[place].mean() >= solved:
                params = {name: values[place] for name, values in made.params.items()}
                kept.append((seed, params, scores[place]))
        tried += wanted
    assert policy is not None
    joined = {name: np.stack([params[name] for _, params, _ in kept]) for name in kept[0][1]}
    group = Group(
        env.backend,
        PolicyBatch(policy, joined),
        tuple(seed for seed, *_ in kept),
        tried,
        np.stack([scores for *_, scores in kept]),
        random,
    )
    _require_skill(group, plan)
    return group


def budget(plan: Transfer, backend: str) -> tuple[int, float]:
    """Return the steps of training in a backend, and the score of a policy that is solved."""
    if backend == ORACLE and plan.reference_steps:
        return plan.reference_steps, plan.reference_solved
    return plan.steps, plan.solved


def _require_skill(group: Group, plan: Transfer) -> None:
    worst = float(group.scores.mean(1).min())
    least = group.random + plan.gap * plan.margin
    if worst < least:
        raise PoliciesUnusable(
            f"trained in {group.backend}, a policy scores {worst:.2f} and random play "
            f"{group.random:.2f}: it must be {plan.gap:g} margins better, {least:.2f}"
        )


def rule(plan: Transfer) -> str:
    """Return what is declared beforehand, as one line."""
    steps, solved = (
        " and ".join(dict.fromkeys(f"{budget(plan, side)[i] / unit:g}" for side in ("", ORACLE)))
        for i, unit in ((0, 1e6), (1, 1))
    )
    return (
        f"L4 rule: {plan.seeds} policies from each backend, {steps}M steps each; "
        f"solved: mean score >= {solved} where trained, else the next seed, at most "
        f"{plan.tries}, from 0 in the oracle and {FIRST_SEED} elsewhere; margin {plan.margin:g}"
    )


def same_games(lab: Lab, group: Group, plan: Transfer) -> Outcome:
    """Play a group's policies in both from matched starts with the same sampling noise: (a)."""
    starts = environment_seeds(MATCHED, group.cast.size * MATCHED_EPISODES)
    oracle = oracle_env(lab.reference)
    try:
        both = against(oracle, plan), against(lab.shipped("same-step"), plan)
        return play_both(*both, group.cast, starts, (MATCHED,))
    finally:
        oracle.close()


def fresh_games(env: Env | RemoteEnv, group: Group, plan: Transfer) -> Episodes:
    """Play a group's policies from starts and noise that only this side has."""
    kind = ORACLE_SIDE if env.backend == ORACLE else CANDIDATE_SIDE
    starts = environment_seeds(kind, group.cast.size * plan.episodes)
    return play(against(env, plan), group.cast, starts, (kind,), plan, plan.games)


def compare_scores(
    lab: Lab, group: Group, plan: Transfer, oracle: Episodes | None = None
) -> Equivalence:
    """Compare a group's scores in both from independent starts, paired by policy: (b).

    oracle: the reference's side, if it has been played. Unfit if the scores do not vary.
    """
    if oracle is None:
        env = oracle_env(lab.reference)
        oracle = fresh_games(env, group, plan)
        env.close()
    candidate = fresh_games(lab.shipped("same-step"), group, plan)
    name = lab.pair.candidate.name
    if min(np.ptp(oracle.scores), np.ptp(candidate.scores)) == 0:
        raise PoliciesUnusable(
            f"trained in {group.backend}, all scores are alike: nothing is measured"
        )
    try:
        found = stats.paired(candidate.scores.mean(1), oracle.scores.mean(1), plan.margin)
    except stats.ZeroVariance as problem:
        raise PoliciesUnusable(f"trained in {group.backend}: {problem}") from None
    digits = found.digits
    return Equivalence(
        found,
        f"L4 {lab.pair.subject.label}: n={group.cast.size} seeds x{plan.episodes * plan.games} ep, "
        f"trained={group.backend}, eval oracle {oracle.scores.mean():.{digits}f} vs {name} "
        f"{candidate.scores.mean():.{digits}f}, {found}, random {group.random:.{digits - 1}f}, "
        f"unsolved {group.tried - group.cast.size}/{group.tried}{_unfinished(oracle, candidate)}: "
        f"{found.verdict}",
    )


def compare_training(lab: Lab, groups: tuple[Group, Group], plan: Transfer) -> Equivalence:
    """Compare policies trained and played in the oracle with the candidate's own: unpaired.

    groups: the oracle's and the candidate's. Unfit if either's scores do not vary.
    """
    env = oracle_env(lab.reference)
    sides = (
        fresh_games(env, groups[0], plan),
        fresh_games(lab.shipped("same-step"), groups[1], plan),
    )
    env.close()
    means = [side.scores.mean(1) for side in sides]
    try:
        found = stats.unpaired(means[1], means[0], plan.margin)
    except stats.ZeroVariance as problem:
        raise PoliciesUnusable(str(problem)) from None
    sizes = "+".join(str(group.cast.size) for group in groups)
    unsolved = " and ".join(f"{g.tried - g.cast.size}/{g.tried}" for g in groups)
    return Equivalence(
        found,
        f"L4 {lab.pair.subject.label}: n={sizes} seeds x{plan.episodes * plan.games} ep, "
        f"trained and played in oracle {means[0].mean():.{found.digits}f} vs {groups[1].backend} "
        f"{means[1].mean():.{found.digits}f}, unpaired, "
        f"{found}, unsolved {unsolved}{_unfinished(*sides)}: {found.verdict}",
    )


def _unfinished(*sides: Episodes) -> str:
    shares = [1 - side.finished.mean() for side in sides]
    if not any(shares):
        return ""
    return f", unfinished {shares[0]:.1%} and {shares[1]:.1%}"


def loose_fields(rules: Rules) -> list[str]:
    """Return which of observation, reward and end have gates that allow differences.

    Then games part, and that of the same start no longer says anything of the other.
    """
    return [
        p for p in ("obs", "reward", "terminated") if not getattr(rules.gates[p], "exact", False)
    ]
