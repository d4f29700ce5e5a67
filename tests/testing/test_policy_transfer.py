"""Level 4 refuses what decides nothing, replaces what is not solved, and counts as it says."""

import dataclasses
import re
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import twinstep
from twinstep.compare.arrays import Rules
from twinstep.contracts.halfcheetah.declaration import HALFCHEETAH
from twinstep.plans import PPO, Transfer
from twinstep.project.registry import EnvVariant
from twinstep.rl.policies import Policy
from twinstep.rl.ppo import Trained
from twinstep.rl.rollouts import Episodes, PolicyBatch, play, play_both
from twinstep.testing import policy_transfer as level4
from twinstep.tests.planted import BUGS
from twinstep.tests.planted.__main__ import planted

PLAN = Transfer(margin=1.0, solved=19.0, counted=0.5, steps=4096, seeds=3, tries=6, episodes=8)
POLICY = Policy.of(twinstep.make("pong-v0").contract, (8,), 0)


def _env(backend="jax", **params):
    return twinstep.make("pong-v0", backend, max_score=1, **params)


def _cast(size, seed=0, scale=1.0):
    """Untrained policies that play differently from each other."""
    rng = np.random.default_rng(seed)
    shapes = {"layer0_w": (8, 8), "layer0_b": (8,), "actor_w": (8, 3), "actor_b": (3,),
              "critic_w": (8, 1), "critic_b": (1,)}  # fmt: skip
    return PolicyBatch(
        POLICY,
        {n: rng.normal(0, scale, (size, *s)).astype(np.float32) for n, s in shapes.items()},
    )


@pytest.fixture
def scripted(monkeypatch):
    """Training gives policies that know their seed; `scores(seed)` says what they score."""

    def use(scores):
        def train(env, ppo, seeds, steps, progress):
            params = {name: value.copy() for name, value in _cast(len(seeds)).params.items()}
            params["actor_b"] = np.repeat(np.float32(seeds)[:, None], 3, 1)
            return Trained(POLICY, params, {})

        def games(env, cast, seeds, noise, plan):
            made = [scores(int(b[0]), noise) for b in cast.params["actor_b"]]
            rows = np.float64(made)[:, None] + np.linspace(-0.1, 0.1, plan.episodes)
            return Episodes(rows, np.ones(rows.shape, bool))

        monkeypatch.setattr(level4, "train", train)
        monkeypatch.setattr(level4, "play", games)

    return use


def _of_seed(solved, random=-21.0):
    return lambda seed, noise: (
        random if noise == (level4.RANDOM,) else solved(seed - level4.FIRST_SEED)
    )


def test_a_seed_that_is_not_solved_is_replaced_by_the_next_number(scripted):
    scripted(_of_seed(lambda seed: 0.0 if seed in (1, 3) else 20.0 + 0.01 * seed))
    group = level4.train_solved(_env(), PLAN)
    assert group.seeds == (1000, 1002, 1004)
    assert group.tried == 5
    np.testing.assert_array_equal(group.cast.params["actor_b"][:, 0], [1000, 1002, 1004])
    np.testing.assert_allclose(group.scores.mean(1), [20.0, 20.02, 20.04])


def test_too_few_solved_seeds_are_refused(scripted):
    scripted(_of_seed(lambda seed: 18.0 if seed else 20.0))
    says = "only 1 of 6 seeds reach 19 (best mean score 20.00); 3 are needed"
    with pytest.raises(level4.PoliciesUnusable, match=re.escape(says)):
        level4.train_solved(_env(), PLAN)


def test_policies_hardly_better_than_random_play_are_refused(scripted):
    scripted(_of_seed(lambda seed: 20.0 + seed, random=12.0))
    with pytest.raises(
        level4.PoliciesUnusable, match=r"scores 20.00 and random play 12.00: it must be 10"
    ):
        level4.train_solved(_env(), PLAN)


def test_scores_that_never_vary_are_refused(fs8, scripted, monkeypatch):
    scripted(_of_seed(lambda seed: 21.0))
    group = level4.train_solved(_env(), PLAN)
    same = Episodes(np.full((3, 8), 21.0), np.ones((3, 8), bool))
    monkeypatch.setattr(level4, "fresh_games", lambda *args: same)
    with pytest.raises(level4.PoliciesUnusable, match="all scores are alike"):
        level4.compare_scores(fs8, group, PLAN, same)


@pytest.mark.parametrize(("shift", "verdict"), [(0.2, "equivalent"), (3.0, "different")])
def test_scores_are_compared_policy_by_policy(fs8, scripted, monkeypatch, shift, verdict):
    """Policies differ by more than the margin, which would hide everything if unpaired."""
    scripted(_of_seed(lambda seed: 19.0 + 10 * seed))
    group = level4.train_solved(_env(), PLAN)
    noise = np.random.default_rng(0).normal(0, 0.1, (2, 3, 8))
    oracle, candidate = (Episodes(group.scores + n, np.ones((3, 8), bool)) for n in noise)
    candidate = candidate._replace(scores=candidate.scores + shift)
    monkeypatch.setattr(level4, "fresh_games", lambda *args: candidate)
    found = level4.compare_scores(fs8, group, PLAN, oracle)
    assert found.found.verdict == verdict
    assert found.line.endswith(verdict)
    assert "n=3 seeds x8 ep, trained=jax" in found.line


def test_what_ends_after_the_first_episode_is_no_part_of_the_score():
    """The score of a lane is that of its first episode, without the shaping of 0.1 a bounce."""
    cast, seeds = _cast(2), level4.environment_seeds(level4.GATE, 2 * 16)
    env = _env()
    games = play(env, cast, seeds, [5], PLAN)
    assert games.finished.all()
    assert set(np.unique(games.scores)) <= {-1.0, 1.0}
    plan = dataclasses.replace(PLAN, counted=0.0)
    bounces = play(env, cast, seeds, [5], plan)
    assert (bounces.scores > games.scores + 0.05).any()
    again = play(env, cast, seeds, [5], plan)
    np.testing.assert_array_equal(again.scores, bounces.scores)
    other = play(env, cast, seeds, [6], plan)
    assert (other.scores != bounces.scores).any(), "the noise of the sampling has no effect"


def test_later_episodes_of_a_lane_count_where_they_are_asked_for():
    """The first of three is the one that is played alone; the fourth is no part of anything."""
    cast, seeds = _cast(2), level4.environment_seeds(level4.GATE, 2 * 16)
    plan = dataclasses.replace(PLAN, counted=0.0)
    one, three = (play(_env(), cast, seeds, [5], plan, games=n) for n in (1, 3))
    assert three.scores.shape == (2, 48)
    assert three.finished.all()
    by_lane = three.scores.reshape(2, 16, 3)
    np.testing.assert_array_equal(by_lane[..., 0], one.scores)
    assert (by_lane < 0).all()
    assert (by_lane[..., 0] != by_lane[..., 1]).any()
    short = dataclasses.replace(_env().contract, horizon=15)
    env = _env()
    env.contract = short
    cut = play(env, cast, seeds, [5], plan, games=3)
    assert not cut.finished.all()
    assert cut.finished.any()
    np.testing.assert_array_equal(cut.scores[cut.finished], three.scores[cut.finished])


def test_the_reference_may_be_trained_for_less_and_what_is_asked_of_it_says_so():
    plan = dataclasses.replace(PLAN, reference_steps=1_000_000, reference_solved=3.0)
    assert level4.budget(plan, "oracle") == (1_000_000, 3.0)
    assert level4.budget(plan, "jax") == (4096, 19.0)
    assert level4.budget(PLAN, "oracle") == (4096, 19.0)
    said = level4.rule(plan)
    assert "0.004096 and 1M steps each" in said
    assert "mean score >= 19 and 3 where" in said


def test_a_network_is_given_what_its_encoder_makes_of_an_observation():
    place = f"{__name__}:_halved"
    policy = Policy.of(twinstep.make("pong-v0").contract, (8,), 0, place)
    assert policy.inputs == 4
    params = policy.init(jax.random.key(0))
    obs = np.arange(16, dtype=np.float32).reshape(2, 8)
    seen = policy.blank(2), obs, np.ones(2, bool), np
    plain = dataclasses.replace(policy, encode=None)
    np.testing.assert_array_equal(
        policy.apply(params, *seen)[1],
        plain.apply(params, seen[0], _halved(obs, np), *seen[2:])[1],
    )


def _halved(obs, xp):
    return obs[..., ::2]


def test_the_full_budget_is_taken_when_asked_for_and_declared(fs8):
    """Asked for where a contract declares none, it is the usual one."""
    full = dataclasses.replace(PLAN, steps=1 << 20)

    def plan(asked, declared):
        contract = dataclasses.replace(fs8.contract, transfer=PLAN, full_transfer=declared)
        settings = SimpleNamespace(full_budget=asked)
        reference = SimpleNamespace(harness=SimpleNamespace(settings=settings))
        lab = SimpleNamespace(contract=contract, reference=reference)
        return level4.plan_of(lab)

    assert plan(False, full) is PLAN
    assert plan(True, full) is full
    assert plan(True, None) is PLAN


def test_games_are_compared_step_by_step_only_where_every_gate_is_exact(fs8):
    """Other games part after a while, and differ in a step without a fault."""
    assert level4.loose_fields(fs8.rules) == []
    contract = EnvVariant(HALFCHEETAH, HALFCHEETAH.variants[0]).contract
    rules = Rules.of(contract, candidate="jax", dtype="float32", platform="cpu")
    assert level4.loose_fields(rules) == ["obs", "reward"]


def test_random_play_draws_every_action_alike():
    env, cast = _env(), _cast(1).random()
    _, now = env.reset(level4.environment_seeds(level4.RANDOM, 512))
    seen = np.asarray(now.obs)[None], np.ones((1, 512), bool)
    _, out, _ = POLICY.apply(cast.params, POLICY.blank(1, 512), *seen, np)
    noise = POLICY.numpy_noise(np.random.default_rng(0), 1, 512)
    drawn = np.bincount(POLICY.sample(cast.params, out, noise, None, np)[0], minlength=3)
    assert drawn.min() > 120


def test_matched_games_are_the_same_and_show_a_planted_bug(fs8):
    """Equal starts and noise: no difference in the faithful one, a witness in the other."""
    starts = level4.environment_seeds(level4.MATCHED, 4 * 4)
    oracle = level4.oracle_env(fs8.reference)
    right = play_both(oracle, fs8.env("same-step"), _cast(4), starts, [0])
    assert not right.divergences
    assert right.episodes == 16
    assert right.steps > 16 * 100
    bug = next(bug for bug in BUGS if bug.name == "bounce_pays_one")
    with planted(fs8.reference.harness, bug) as lab:
        wrong = play_both(oracle, lab.env("same-step"), _cast(4), starts, [0])
        assert wrong.divergences
        assert all(d.miss.paths == ("reward",) for d in wrong.divergences)
        with pytest.raises(AssertionError, match="`reward` is 1, oracle 0.1"):
            lab.require_equal(wrong)
    oracle.close()


def test_a_policy_is_trained_in_the_reference_itself():
    """Small and unsolved: that the training runs there, and is refused."""
    env = _env("oracle")
    plan = dataclasses.replace(PLAN, ppo=PPO(lanes=16, steps=8, minibatches=2), tries=3)
    with pytest.raises(
        level4.PoliciesUnusable, match="trained in oracle, only 0 of 3 seeds reach 19"
    ):
        level4.train_solved(env, plan)
    env.close()
