"""Evaluate a run's policies in the backend that trained them, and in the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from twinstep._lib.stats import wilson
from twinstep.env.make import Env
from twinstep.errors import UserError
from twinstep.plans import Transfer
from twinstep.rl.rollouts import PolicyBatch, environment_seeds, play
from twinstep.rl.training.arenas import player_named
from twinstep.rl.training.policy_player import policy_of
from twinstep.rl.training.settings import SELF, TrainingSettings
from twinstep.rl.versus import OpponentWrapper

#: Kind of environment seeds and of sampling noise, different from those of level 4.
EVALUATION = 13
#: Number of parallel episodes: one process of a slow reference may hold them all.
LANES = 64


class Row(NamedTuple):
    """The score of S policies in one backend. against: the opponent, "" with a single player.

    episodes: of each policy. means: f64[S], mean return or win rate. low, high: 95 % confidence
    interval of the mean: over policies (Student's t), or for one policy over its episodes (Wilson's
    for a win rate, else normal). unfinished: share of episodes cut at the horizon.
    """

    backend: str
    against: str
    episodes: int
    means: tuple[float, ...]
    low: float
    high: float
    unfinished: float

    def line(self) -> str:
        """Return the row as one line."""
        what = f"win rate against {self.against}" if self.against else "score"
        cut = f", {self.unfinished:.1%} cut at the horizon" if self.unfinished else ""
        many = f" of {len(self.means)} policies" if len(self.means) > 1 else ""
        return (
            f"{what} in {self.backend}: {np.mean(self.means):.4g} "
            f"[{self.low:.4g}, {self.high:.4g}], {self.episodes} episodes{many}{cut}"
        )


def evaluate(
    settings: TrainingSettings,
    params: dict[str, np.ndarray],
    backends: Sequence[str],
    against: Sequence[str],
    episodes: int,
    progress: Callable[[str], None],
) -> list[Row]:
    """Play `episodes` episodes with each policy, actions sampled as in training.

    These are the first ones of each lane; if the lanes do not divide them, the last lanes' latest
    are left out, whatever their outcome. params: name -> f32[S, ...]. against: opponents in a
    two-player game. Every row has the same seeds.
    """
    cast = PolicyBatch(policy_of(settings), params)
    lanes = min(episodes, LANES)
    games = -(-episodes // lanes)
    # Scores are ordered by lane.
    counted = np.sort(np.arange(lanes * games).reshape(lanes, games).T.ravel()[:episodes])
    plan = settings.subject().contract.transfer or Transfer(0.0, 0.0)
    seeds = environment_seeds(EVALUATION, cast.size * lanes)
    rows = []
    for backend in backends:
        env = Env(settings.subject(), backend, "same-step")
        try:
            for name in against or ("",):
                progress(f"evaluating in {backend}{f' against {name}' if name else ''}")
                arena: Any = (
                    OpponentWrapper(env, player_named(settings.subject(), name)) if name else env
                )
                outcome = play(arena, cast, seeds, (EVALUATION,), plan, games)
                scores, finished = outcome.scores[:, counted], outcome.finished[:, counted]
                low, high = interval(scores, win_rate=bool(name))
                means = tuple(float(mean) for mean in scores.mean(1))
                cut = float(1 - finished.mean())
                rows.append(Row(backend, name, episodes, means, low, high, cut))
        finally:
            env.close()
    return rows


def opponents_of(settings: TrainingSettings, wanted: Sequence[str]) -> list[str]:
    """Return the opponents of an evaluation: the wanted ones, else those of the training."""
    if wanted or settings.against in ("", SELF):
        names = list(wanted)
        if settings.against == SELF and not names:
            from twinstep.project import registry

            names = list(registry.environment(settings.env).players)
        if names and settings.subject().contract.players == 1:
            raise UserError(f"--opponent {names[0]}: {settings.env} has one player")
        for name in names:
            player_named(settings.subject(), name)
        return names
    return [settings.against]


def interval(scores: np.ndarray, win_rate: bool) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean of scores f64[S, E]; see Row."""
    policies, episodes = scores.shape
    if policies > 1:
        means = scores.mean(1)
        half = stats.t.ppf(0.975, policies - 1) * means.std(ddof=1) / math.sqrt(policies)
        return float(means.mean() - half), float(means.mean() + half)
    if win_rate:
        return wilson(float(scores.sum()), episodes)
    mean = float(scores.mean())
    half = math.nan
    if episodes > 1:
        half = float(stats.norm.ppf(0.975) * scores.std(ddof=1)) / math.sqrt(episodes)
    return mean - half, mean + half
