"""The environments of a run's policies: alone, against a player, or in self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.env.make import ORACLE, Env
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.rl.selfplay import SelfPlay
from twinstep.rl.training.policy_player import is_run, policy_of, trained_player
from twinstep.rl.training.settings import SELF, TrainingSettings
from twinstep.rl.versus import Arena, OpponentWrapper, player_of

#: Random numbers for two moves.
_WORDS = np.array([1, 2], np.uint32)


def require_possible(settings: TrainingSettings) -> None:
    """UserError if the backend is unknown, or nobody can play `against`."""
    env = registry.environment(settings.env)
    backends = [*(candidate.name for candidate in env.candidates), ORACLE]
    if settings.backend not in backends:
        raise registry.unknown(f"backend of {settings.env}", settings.backend, backends)
    if settings.subject().contract.players == 1:
        for name in ("against", "shaping"):
            if value := getattr(settings, name):
                raise UserError(f"{name} = '{value}': {settings.env} has one player")
    elif settings.against != SELF:
        player_named(settings.subject(), settings.against)
    if settings.shaping:
        _require_shaping(settings)
    if settings.ppo.encode:
        _loaded("ppo.encode", settings.ppo.encode)
        policy_of(settings)


def arena_of(settings: TrainingSettings) -> Arena | SelfPlay:
    """Return the training environment of a run, with its shaping."""
    env = Env(settings.subject(), settings.backend, "same-step")
    if not settings.against:
        return env
    shaping = _loaded("shaping", settings.shaping) if settings.shaping else None
    if settings.against == SELF:
        return SelfPlay(env, shaping, settings.ppo.gamma)
    other = player_named(settings.subject(), settings.against)
    return OpponentWrapper(env, other, shaping, settings.ppo.gamma)


def player_named(subject: EnvVariant, name: str) -> Any:
    """Return a declared player, the one at `module:callable`, or the policy in a run's folder.

    UserError if there is none.
    """
    if ":" in name:
        return _tried(subject, name)
    if is_run(name):
        return trained_player(Path(name), subject)
    return player_of(subject.env, name)


def _tried(subject: EnvVariant, name: str) -> Any:
    """Return the player at `module:callable`, after two test moves with one legal action each."""
    player, contract = _loaded("player", name), subject.contract
    only = np.array([0, getattr(contract.action, "n", 1) - 1])
    legal = np.zeros((2, only[1] + 1), bool)
    legal[[0, 1], only] = True
    try:
        moves = np.asarray(player(_blank(contract), legal, _WORDS, np))
        fine = moves.shape == (2,) and moves.dtype.kind in "iu"
    except Exception as error:  # it may be any function
        raise UserError(f"player '{name}' moves nothing: {error!r}") from error
    if not fine:
        raise UserError(f"player '{name}' answers {moves.dtype}{list(moves.shape)}, not int[2]")
    if (moves != only).any():
        problem = f"{moves.tolist()} where only {only.tolist()} are legal"
        raise UserError(f"player '{name}' moves illegally: {problem}")
    return player


def _require_shaping(settings: TrainingSettings) -> None:
    potential = _loaded("shaping", settings.shaping)
    try:
        worth = np.asarray(potential(_blank(settings.subject().contract), np))
        fine = worth.shape == (2,) and worth.dtype == np.float32
    except Exception as error:  # it may be any function
        raise UserError(f"shaping '{settings.shaping}' is no potential: {error!r}") from error
    if not fine:
        shape = f"{worth.dtype}{list(worth.shape)}"
        raise UserError(f"shaping '{settings.shaping}' answers {shape}, not float32[2]")


def _blank(contract: Contract) -> np.ndarray:
    """Return two observations of zeros."""
    space = contract.observation
    return np.zeros((2, *space.shape), space.dtype)


def _loaded(what: str, path: str) -> Any:
    try:
        function = registry.load_object(path)
    except Exception as error:  # the user's module may raise anything
        message = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{what} '{path}' cannot be imported: {message}") from error
    if not callable(function):
        raise UserError(f"{what} '{path}' is no function")
    return function
