"""Level 4 settings: the training and comparison of policies, as data of a contract."""

from __future__ import annotations

from dataclasses import dataclass

#: Batches between two progress lines; those of one compiled program.
CHUNK = 8
#: The largest count in PPO's settings.
MOST = 2**31 - 1
#: The normal numbers of float32, in which policies are trained.
_LEAST_FLOAT, _MOST_FLOAT = 2.0**-126, 2.0**128 - 2.0**104


@dataclass(frozen=True)
class PPO:
    """Settings of the PPO trainer.

    learning_rate: Adam's. anneal: batches in which it falls linearly to zero; 0 for constant.
    clip: of the probability ratio. epochs: passes over a batch. minibatches: updates per pass; must
    divide `lanes`. gamma, lam: discount and GAE's lambda. entropy, value: coefficients in the
    loss. norm: limit of the gradient's global norm. lanes, steps: a batch is `steps` steps of
    `lanes` environments. hidden: units of the tanh layers. memory: units of a GRU after them; 0
    for a feed-forward policy. encode: `module:callable`, (obs f32[..., K], xp) -> f32[..., F], the
    network's input in place of the observation. double_buffer: whether an environment outside JAX
    steps one half of the lanes while the policy acts on the other, which pays where the policy has
    a device of its own; see double_buffer.
    """

    learning_rate: float = 3e-3
    clip: float = 0.2
    epochs: int = 4
    minibatches: int = 8
    gamma: float = 0.97
    lam: float = 0.9
    entropy: float = 0.005
    value: float = 0.5
    norm: float = 0.5
    lanes: int = 512
    steps: int = 32
    hidden: tuple[int, ...] = (64, 64)
    memory: int = 0
    encode: str = ""
    anneal: int = 0
    double_buffer: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for the first value out of its range."""
        for name, least in (("epochs", 1), ("minibatches", 1), ("lanes", 1), ("steps", 1)):
            _require(name, getattr(self, name), least, MOST)
        for name in ("memory", "anneal"):
            _require(name, getattr(self, name), 0, MOST)
        for units in self.hidden:
            _require("hidden", units, 1, MOST)
        for name in ("learning_rate", "clip", "norm"):
            value = getattr(self, name)
            if not _LEAST_FLOAT <= value <= _MOST_FLOAT:
                raise ValueError(
                    f"{name} = {value}: a number above 0 is needed, as float32 holds it"
                )
        for name in ("gamma", "lam"):
            _require(name, getattr(self, name), 0, 1)
        for name in ("entropy", "value"):
            _require(name, getattr(self, name), 0, _MOST_FLOAT)
        if self.lanes % self.minibatches:
            raise ValueError(f"minibatches = {self.minibatches}: do not divide {self.lanes} lanes")


def _require(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} = {value}: it lies between {least} and {most}")


@dataclass(frozen=True)
class Transfer:
    """The requirements of level 4 on an environment, stated before any policy is trained.

    margin: difference of mean scores that counts as none. solved: least mean score, in the
        backend that trained it, of a policy that takes part; the next training seed replaces a
        policy below it. counted: rewards of smaller magnitude are shaping and no part of the
        score, which is the sum of an episode's other rewards.
    steps: environment steps of training, per policy. ppo: how it is trained.
    seeds: policies to train in each backend, the reference included. tries: training seeds that
        they may use up.
    episodes: first episodes played per policy and backend, cut at the contract's horizon.
    gap: margins by which a policy must beat random play, in the backend that trained it.
    games: first episodes of each lane played where scores are compared.
    opponent: `module:callable`, the versus.Player on the other side of a two-player game, with
        the win rate as score; "" for one player. shaping: `module:callable`, a potential that
        pays during training only; "" for none.
    reference_steps, reference_solved: `steps` and `solved` of training in the reference, where
        training as long is not possible; 0 for the same.
    training: whether policies trained and played in either backend are compared too. False where
        training seeds spread so widely that `seeds` of them could never show the margin.
    """

    margin: float
    solved: float
    counted: float = 0.0
    steps: int = 2_000_000
    ppo: PPO = PPO()
    seeds: int = 10
    tries: int = 20
    episodes: int = 128
    gap: float = 10.0
    games: int = 1
    opponent: str = ""
    shaping: str = ""
    reference_steps: int = 0
    reference_solved: float = 0.0
    training: bool = True
