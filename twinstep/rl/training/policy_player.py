"""A trained policy as a player of a two-player game, like an environment's declared players."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from twinstep._lib import npz
from twinstep._lib.hashing import mixed
from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.project.registry import EnvVariant
from twinstep.rl.policies import Params, Policy
from twinstep.rl.training.settings import TrainingSettings, load

#: File of a finished run's parameters: name -> f32[S, ...].
POLICY = "policy.npz"


class TrainedPlayer:
    """A feed-forward policy that samples its actions as in training; see versus.Player."""

    def __init__(self, policy: Policy, params: Params) -> None:
        self._policy, self._params = policy, params

    def __call__(self, obs: Array, legal: Array, word: Array, xp: Any) -> Array:
        """Return actions i32[N] of observations [N, ...], masks bool[N, A] and words u32[N]."""
        count = len(obs)
        inputs = obs.reshape(count, -1).astype(np.float32)
        blank = xp.zeros((count, 0), np.float32)
        _, out, _ = self._policy.apply(self._params, blank, inputs, xp.ones(count, bool), xp)
        noise = gumbel(word, self._policy.width, xp)
        return self._policy.sample(self._params, out, noise, legal, xp)


def policy_of(settings: TrainingSettings) -> Policy:
    """Return the network of a run's policies. UserError if its `encode` does not work."""
    contract, ppo = replace(settings.subject().contract, players=1), settings.ppo
    try:
        return Policy.of(contract, ppo.hidden, ppo.memory, ppo.encode)
    except Exception as error:
        if not ppo.encode:
            raise
        # `encode` may be any function.
        raise UserError(f"ppo.encode '{ppo.encode}' encodes no observation: {error!r}") from error


def is_run(name: str) -> bool:
    """Return True if this is the folder of a finished training run."""
    return (Path(name) / POLICY).is_file()


def trained_player(folder: Path, subject: EnvVariant) -> TrainedPlayer:
    """Return the first policy of a run. UserError if it cannot play this game."""
    settings = load(folder)
    env, contract = subject.env.name, subject.contract
    if settings.env != env:
        raise UserError(f"{folder} was trained in {settings.env}, not in {env}")
    own = settings.subject().contract
    if (own.observation, own.action) != (contract.observation, contract.action):
        raise UserError(
            f"{folder} was trained in {settings.subject().label}, where other things are seen and "
            f"done than in {subject.label}"
        )
    if settings.ppo.memory:
        raise UserError(f"{folder}: a policy with a memory is no player, who looks once")
    path, policy = folder / POLICY, policy_of(settings)
    not_so = f"{path} holds no policy"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{not_so} ({error.strerror})") from error
    params = npz.arrays_of(data, not_so)
    shapes = {name: (array.shape[1:], array.dtype) for name, array in params.items()}
    if shapes != {name: (shape, np.float32) for name, shape in policy.shapes().items()}:
        raise UserError(f"{not_so} of its settings: train it anew")
    return TrainedPlayer(policy, {name: array[0] for name, array in params.items()})


def gumbel(word: Array, width: int, xp: Any) -> Array:
    """Return Gumbel noise f32[N, width] from one word u32[N] each, equal in NumPy and JAX."""
    x = mixed(word[:, None] + xp.arange(width, dtype=xp.uint32)[None] * np.uint32(0x9E3779B1))
    # 23 bits and a half: with one bit more the largest would round to 1, which is infinite noise.
    unit = ((x >> np.uint32(9)).astype(np.float32) + np.float32(0.5)) * np.float32(2**-23)
    return -xp.log(-xp.log(unit))
