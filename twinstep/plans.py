"""How policies are trained and compared at level 4, as data that a contract may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PPO:
    """Settings of the PPO trainer.

    learning_rate: Adam's, constant. clip: of the probability ratio. epochs: passes over a
    batch. minibatches: updates a pass; must divide `lanes`. gamma, lam: discount and GAE's
    lambda. entropy, value: coefficients in the loss. norm: limit of the gradient's global
    norm. lanes, steps: a batch is `steps` steps of `lanes` environments. hidden: units of the
    tanh layers. memory: units of a GRU after them; 0 for a feed-forward policy.
    """

    learning_rate: float = 3e-3
    clip: float = 0.2
    epochs: int = 2
    minibatches: int = 8
    gamma: float = 0.97
    lam: float = 0.9
    entropy: float = 0.005
    value: float = 0.5
    norm: float = 0.5
    lanes: int = 1024
    steps: int = 32
    hidden: tuple[int, ...] = (64, 64)
    memory: int = 0

    def __post_init__(self) -> None:
        if self.minibatches < 1 or self.lanes % self.minibatches:
            raise ValueError(f"{self.minibatches} minibatches do not divide {self.lanes} lanes")


@dataclass(frozen=True)
class Transfer:
    """What level 4 asks of an environment; stated before any policy is trained.

    margin: difference of mean scores that counts as none. solved: least mean score, in the
        backend that trained it, of a policy that takes part; others are replaced by the next
        training seed. counted: rewards smaller than this in size are shaping and no part of
        the score, which is an episode's sum of the rest.
    params: parameters that the environment is played with, over the variant's own.
    steps: environment steps of training, per policy. ppo: how.
    seeds: policies per backend. tries: training seeds that may be used up for them.
    oracle_seeds: policies trained in the reference itself.
    episodes: first episodes played per policy and backend. limit: steps after which one that
        has not ended is cut; the share of those is printed.
    gap: margins by which a policy must beat random play.
    """

    margin: float
    solved: float
    counted: float = 0.0
    params: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 3_000_000
    ppo: PPO = PPO()
    seeds: int = 10
    tries: int = 20
    oracle_seeds: int = 10
    episodes: int = 128
    limit: int = 1000
    gap: float = 10.0
