"""A trained policy as a player of a game of two, like those that an environment declares."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.policies import Params, Policy
from twinstep.training.settings import Settings, load
from twinstep.versus import mixed


class TrainedPlayer:
    """A feed-forward policy that draws its actions as it did in training; see versus.Player."""

    def __init__(self, policy: Policy, params: Params) -> None:
        self._policy, self._params = policy, params

    def __call__(self, obs: Array, legal: Array, word: Array, xp: Any) -> Array:
        """Return actions i32[N] of observations [N, ...], masks bool[N, A] and words u32[N]."""
        count = len(obs)
        seen = obs.reshape(count, -1).astype(np.float32)
        blank = xp.zeros((count, 0), np.float32)
        _, out, _ = self._policy.apply(self._params, blank, seen, xp.ones(count, bool), xp)
        noise = gumbel(word, self._policy.width, xp)
        return self._policy.sample(self._params, out, noise, legal, xp)


def policy_of(settings: Settings) -> Policy:
    """Return the network of a run's policies."""
    contract = replace(settings.subject().contract, players=1)
    return Policy.of(contract, settings.ppo.hidden, settings.ppo.memory, settings.ppo.encode)


def is_run(name: str) -> bool:
    """Whether this is the folder of a training run that ended."""
    return (Path(name) / "policy.npz").is_file()


def trained_player(folder: Path, env: str) -> TrainedPlayer:
    """Return the first policy of a run. UserError if it cannot play such a game."""
    settings = load(folder)
    if settings.env != env:
        raise UserError(f"{folder} was trained in {settings.env}, not in {env}")
    if settings.ppo.memory:
        raise UserError(f"{folder}: a policy with a memory is no player, who looks once")
    try:
        with np.load(io.BytesIO((folder / "policy.npz").read_bytes())) as held:
            params = {name: held[name][0] for name in held.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{folder / 'policy.npz'} holds no policy ({error})") from error
    return TrainedPlayer(policy_of(settings), params)


def gumbel(word: Array, width: int, xp: Any) -> Array:
    """Return Gumbel noise f32[N, width] made of one word u32[N] each, alike in NumPy and JAX."""
    x = mixed(word[:, None] + xp.arange(width, dtype=xp.uint32)[None] * np.uint32(0x9E3779B1))
    # 23 bits and a half: with one bit more the largest would round to 1, whose noise is infinite.
    unit = ((x >> np.uint32(9)).astype(np.float32) + np.float32(0.5)) * np.float32(2**-23)
    return -xp.log(-xp.log(unit))
