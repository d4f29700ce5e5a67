"""Rollouts of trained policies in any backend: the network in NumPy, each lane's first episodes.

S policies play E lanes each in one batch of environments. Taking the first episode of each lane,
not the first to finish, keeps short episodes from being over-represented.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twinstep.compare.arrays import Miss, differs
from twinstep.compare.lockstep import FirstDifference, Outcome
from twinstep.env.timestep import StartTable
from twinstep.frames import Array, take_lanes
from twinstep.gates import Lockstep
from twinstep.plans import Transfer
from twinstep.rl.policies import Params, Policy
from twinstep.rl.versus import Arena, joint_actions

#: Fields that must agree while two backends play; `obs` as it was at an episode's end.
_HEADS = ("final_obs", "reward", "terminated", "truncated", "legal")


class PolicyBatch(NamedTuple):
    """S policies: one network, parameters f32[S, ...]."""

    policy: Policy
    params: Params

    @property
    def size(self) -> int:
        """The number of policies."""
        return len(self.params["actor_b"])

    def random(self) -> PolicyBatch:
        """Return one policy that is uniform over legal actions (real actions: wide Gaussians)."""
        return PolicyBatch(self.policy, {n: np.zeros_like(v[:1]) for n, v in self.params.items()})


class Episodes(NamedTuple):
    """Outcomes. scores: f64[S, E], up to the end or the horizon. finished: bool[S, E]."""

    scores: np.ndarray
    finished: np.ndarray


class _Table:
    """One backend in which a batch of policies plays."""

    def __init__(
        self, env: Arena, cast: PolicyBatch, seeds: np.ndarray, noise: Sequence[int]
    ) -> None:
        self._env, self._cast = env, cast
        self._grid = (cast.size, len(seeds) // cast.size)
        self._rng = np.random.default_rng(list(noise))
        self._hidden = cast.policy.blank(*self._grid)
        self.state, self.now = env.reset(seeds)
        self.ended = np.ones(len(seeds), bool)
        self.actions: np.ndarray = np.zeros(0)

    def step(self) -> None:
        """Draw actions and play them. The noise does not depend on the observations."""
        policy, params = self._cast
        legal = self.now.legal
        if legal is not None:
            legal = np.asarray(legal).reshape(*self._grid, -1)
        obs = np.asarray(self.now.obs).reshape(*self._grid, -1).astype(np.float32)
        is_first = self.ended.reshape(self._grid)
        self._hidden, out, _ = policy.apply(params, self._hidden, obs, is_first, np)
        noise = policy.numpy_noise(self._rng, *self._grid)
        choice = policy.sample(params, out, noise, legal, np)
        self.actions = policy.actions(choice.reshape(-1, *choice.shape[2:]), np)
        self.state, self.now = self._env.step(self.state, self.actions)
        self.ended = np.asarray(self.now.terminated) | np.asarray(self.now.truncated)


def play(
    env: Arena,
    cast: PolicyBatch,
    seeds: np.ndarray,
    noise: Sequence[int],
    plan: Transfer,
    games: int = 1,
) -> Episodes:
    """Play the first `games` episodes of each lane, from seeds u32[S * L, 2]. Actions are sampled.

    env: with same-step auto-reset. noise: seed of the sampling. E of the result is L * games.
    """
    table = _Table(env, cast, seeds, noise)
    lanes = np.arange(len(seeds))
    place = np.zeros(len(seeds), int)
    # One more column for the surplus episodes of lanes while others still play.
    scores = np.zeros((len(seeds), games + 1))
    for _ in range(env.contract.horizon * games):
        table.step()
        reward = np.asarray(table.now.reward).astype(np.float64)
        scores[lanes, place] += np.where(np.abs(reward) >= plan.counted, reward, 0.0)
        place = np.minimum(place + table.ended, games)
        if place.min() == games:
            break
    grid = (cast.size, -1)
    finished = np.arange(games) < place[:, None]
    return Episodes(scores[:, :games].reshape(grid), finished.reshape(grid))


def play_both(
    oracle: Arena,
    candidate: Arena,
    cast: PolicyBatch,
    seeds: np.ndarray,
    noise: Sequence[int],
) -> Outcome:
    """Play the same first episodes in both, from seeds u32[S * E, 2], with the same noise.

    Each side's policy sees its own side's observations. Returns the first difference of the games
    in any observation, mask, action, reward or end, bit for bit.
    """
    tables = [_Table(env, cast, seeds, noise) for env in (oracle, candidate)]
    outcome = Outcome(episodes=len(seeds))
    starts = StartTable(oracle.contract).of(seeds)
    running = np.ones(len(seeds), bool)
    history: list[np.ndarray] = []

    def compare(step: int, heads: tuple[str, ...]) -> None:
        one, other = (table.now for table in tables)
        wrong = {name: _wrong(getattr(one, name), getattr(other, name), running) for name in heads}
        for lane in np.flatnonzero(np.any(list(wrong.values()), axis=0)):
            paths = {n.replace("final_obs", "obs") for n in heads if wrong[n][lane]}
            miss = Miss(int(lane), step, tuple(sorted(paths)))
            start = take_lanes(starts, lane)
            outcome.divergences.append(
                FirstDifference(int(lane), miss, start, _with_player(oracle, history, int(lane)))
            )

    compare(0, ("obs", "legal"))
    for step in range(oracle.contract.horizon):
        if outcome.divergences:
            break
        for table in tables:
            table.step()
        # Equal observations and noise give equal actions, so that one list serves both.
        joint = [joint_actions(table.state, table.actions) for table in tables]
        history.append(joint[0])
        assert np.array_equal(joint[0][running], joint[1][running])
        outcome.steps += int(running.sum())
        compare(step + 1, _HEADS)
        running &= ~tables[0].ended
        if not running.any():
            break
    return outcome


def _wrong(one: Array | None, other: Array | None, running: np.ndarray) -> np.ndarray:
    """Return bool[N], True for running lanes that differ."""
    if one is None and other is None:
        return np.zeros_like(running)
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return running
    return differs(one, other, Lockstep()).reshape(len(one), -1).any(-1) & running


def _with_player(env: Arena, history: list[np.ndarray], lane: int) -> np.ndarray:
    """Return a lane's actions so far, [T, P, ...]."""
    dtype, shape = getattr(env, "joint", env.contract).action_layout()
    return np.array([actions[lane] for actions in history], dtype).reshape(-1, *shape)


def environment_seeds(kind: int, count: int) -> np.ndarray:
    """Return u32[count, 2]; the seeds of different kinds are disjoint."""
    words = np.arange(count, dtype=np.uint32) + np.uint32(kind << 28)
    return np.stack([words, np.zeros_like(words)], -1)
