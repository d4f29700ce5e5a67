"""Where a run's policies play: alone, against a player, or against themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twinstep import registry
from twinstep.env import ORACLE, Env
from twinstep.errors import UserError
from twinstep.registry import Subject
from twinstep.selfplay import SelfPlay
from twinstep.training.settings import SELF, Settings
from twinstep.training.trained import is_run, policy_of, trained_player
from twinstep.versus import Arena, Versus, player_of


def require_possible(settings: Settings) -> None:
    """UserError if the backend is unknown, or nobody can play `against`."""
    declared = registry.environment(settings.env)
    backends = [*(candidate.name for candidate in declared.candidates), ORACLE]
    if settings.backend not in backends:
        raise registry.unknown(f"backend of {settings.env}", settings.backend, backends)
    if settings.subject().contract.players == 1:
        for name in ("against", "shaping"):
            if value := getattr(settings, name):
                raise UserError(f"{name} = '{value}': {settings.env} has one player")
    elif settings.against != SELF:
        player_named(settings.subject(), settings.against)
    if settings.shaping:
        _loaded("shaping", settings.shaping)
    if encode := settings.ppo.encode:
        _loaded("ppo.encode", encode)
        try:
            policy_of(settings)
        except Exception as error:  # it may be any function
            raise UserError(f"ppo.encode '{encode}' encodes no observation: {error!r}") from error


def arena_of(settings: Settings) -> Arena | SelfPlay:
    """Return the environment that a run's policies are trained in, with its shaping."""
    env = Env(settings.subject(), settings.backend, "same-step")
    if not settings.against:
        return env
    shaping = _loaded("shaping", settings.shaping) if settings.shaping else None
    if settings.against == SELF:
        return SelfPlay(env, shaping, settings.ppo.gamma)
    other = player_named(settings.subject(), settings.against)
    return Versus(env, other, shaping, settings.ppo.gamma)


def player_named(subject: Subject, name: str) -> Any:
    """Return a declared player, the one at `module:callable`, or the policy in a run's folder.

    UserError if there is none.
    """
    if ":" in name:
        return _loaded("player", name)
    if is_run(name):
        return trained_player(Path(name), subject)
    return player_of(subject.env, name)


def _loaded(what: str, path: str) -> Any:
    try:
        found = registry.load_object(path)
    except Exception as error:  # a module of the user's may raise anything
        said = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{what} '{path}' cannot be imported: {said}") from error
    if not callable(found):
        raise UserError(f"{what} '{path}' is no function")
    return found
