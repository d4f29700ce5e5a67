"""Two-player games as single-player environments: the opponent is part of the environment.

A player is a pure function `player(obs[N, ...], legal[N, A], word u32[N], xp) -> i32[N]`, the same
code for NumPy and JAX; `word` is an independent random number for every decision.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from twinstep._lib.hashing import words
from twinstep.contract import Contract
from twinstep.env.make import Env
from twinstep.env.remote import RemoteEnv
from twinstep.env.timestep import TimeStep
from twinstep.environment import Environment
from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.project import registry

Player = Callable[[Array, Array, Array, Any], Array]


def player_of(env: Environment, name: str) -> Player:
    """Return a declared player by name; UserError if there is none."""
    if name not in env.players:
        raise registry.unknown(f"player of {env.name}", name, env.players)
    return registry.load_object(env.players[name])


class VersusState(NamedTuple):
    """inner: the environment's. obs: the opponent's observation, [N, ...]. legal: bool[N, 2, A].

    seeds: u32[N, 2], of the lanes, for the opponent's random numbers. count: u32[N], steps so far.
    played: i32[N, 2], the latest actions of both. potential: f32[N], of the present state.
    """

    inner: Any
    obs: Array
    legal: Array
    seeds: Array
    count: Array
    played: Array
    potential: Array


def joint_actions(state: Any, actions: np.ndarray) -> np.ndarray:
    """Return the actions of all players in the step that led to `state`."""
    return np.asarray(state.played) if isinstance(state, VersusState) else actions


class Game:
    """The observations and rewards of a two-player environment for single-player policies.

    The last step of a game pays 1 for a win, 1/2 for a tie and 0 for a loss: the mean return is the
    win rate. potential: obs[N, ...], xp -> f32[N], whose increase is paid in addition (shaping; 0
    where a game ends, so that the optimal policies stay the same); None for no shaping.
    """

    def __init__(
        self, env: Env | RemoteEnv, potential: Callable[[Array, Any], Array] | None, gamma: float
    ) -> None:
        if env.contract.players != 2 or not env.contract.masked:
            raise UserError(f"{env.id} is no game of two players with legal action masks")
        self._env = env
        self._potential, self._gamma = potential, np.float32(gamma)
        self.contract: Contract = dataclasses.replace(env.contract, players=1)
        self.joint = env.contract
        self.backend, self.auto_reset = env.backend, env.auto_reset
        self.traceable, self.independent = env.traceable, env.independent
        self.dtype, self.platform = env.dtype, env.platform

    def close(self) -> None:
        """Free the environment's resources."""
        self._env.close()

    def _worth(self, obs: Array, xp: Any) -> Array:
        if self._potential is None:
            return xp.zeros(len(obs), np.float32)
        return self._potential(obs, xp)

    def _paid(self, reward: Array, ended: Array, before: Array, here: Array, xp: Any) -> Array:
        """Return the reward of a step, f32[N].

        reward: the environment's, f32[N]. before, here: the potential before and after the step.
        """
        won = (reward + np.float32(1)) * np.float32(0.5)
        paid = xp.where(ended, won, xp.zeros_like(won))
        if self._potential is not None:
            paid = paid + self._gamma * xp.where(ended, xp.zeros_like(here), here) - before
        return paid


class OpponentWrapper(Game):
    """A two-player environment as its first player sees it; otherwise like env.Env."""

    def __init__(
        self,
        env: Env | RemoteEnv,
        other: Player,
        potential: Callable[[Array, Any], Array] | None = None,
        gamma: float = 1.0,
    ) -> None:
        super().__init__(env, potential, gamma)
        self._other = other

    def reset(self, seeds: Array) -> tuple[VersusState, TimeStep]:
        """Begin a game per seed u32[N, 2]."""
        inner, now = self._env.reset(seeds)
        now = on_host(now)
        seeds = np.asarray(seeds, np.uint32)
        count = np.zeros(len(seeds), np.uint32)
        state = VersusState(
            inner,
            now.obs[:, 1],
            _legal(now),
            seeds,
            count,
            np.zeros((len(seeds), 2), np.int32),
            self._worth(now.obs[:, 0], np),
        )
        return state, self._first(now, now.reward[:, 0], now.final_obs[:, 0])

    def step(self, state: VersusState, actions: Array) -> tuple[VersusState, TimeStep]:
        """Apply actions i32[N] or [N, 1] of the first player.

        Inside a trace the opponent is traced, too. Outside it plays in NumPy, so that all opponents
        of one environment share its compiled step.
        """
        traced = isinstance(actions, Tracer)
        xp: Any = jnp if traced else np
        word = words(state.seeds, state.count, 1, xp)
        theirs = self._other(state.obs, state.legal[:, 1], word, xp)
        played = xp.stack([actions.reshape(-1).astype(np.int32), theirs.astype(np.int32)], 1)
        # A policy draws an action even where it does not act.
        played = xp.where(state.legal.any(-1), played, xp.zeros_like(played))
        inner, now = self._env.step(state.inner, played)
        now = now if traced else on_host(now)
        here = self._worth(now.obs[:, 0], xp)
        ended = now.terminated | now.truncated
        reward = self._paid(now.reward[:, 0], ended, state.potential, here, xp)
        state = VersusState(
            inner,
            now.obs[:, 1],
            _legal(now),
            state.seeds,
            state.count + np.uint32(1),
            played,
            here,
        )
        return state, self._first(now, reward, now.final_obs[:, 0])

    def _first(self, now: TimeStep, reward: Array, final_obs: Array) -> TimeStep:
        return TimeStep(
            now.obs[:, 0],
            reward,
            now.terminated,
            now.truncated,
            final_obs,
            None,
            _legal(now)[:, 0],
        )


def on_host(now: TimeStep) -> TimeStep:
    """Return a step as NumPy arrays."""
    return jax.tree.map(np.asarray, now)


def _legal(now: TimeStep) -> Array:
    assert now.legal is not None, "asked of masked games only"
    return now.legal


#: Environments of one policy: with one player, or with two and the opponent inside.
#: What policies play in. A RemoteEnv is a candidate that a verdict keeps apart.
Arena = Env | RemoteEnv | OpponentWrapper


def win_rates(env: Env, first: Player, other: Player, games: int, lanes: int) -> np.ndarray:
    """Let two players play; return the score of each game for the first, f64[K].

    Each of `lanes` plays the same number of games, its first ones, at least `games` in total.
    """
    game = OpponentWrapper(env, other)
    seeds = np.stack([np.arange(lanes, dtype=np.uint32), np.full(lanes, 7 << 28, np.uint32)], -1)
    each = -(-games // lanes)
    state, now = game.reset(seeds)
    worth = np.zeros((lanes, each))
    done = np.zeros(lanes, int)
    count = np.zeros(lanes, np.uint32)
    while (done < each).any():
        word = words(seeds, count, 0, np)
        obs, legal = np.asarray(now.obs), np.asarray(now.legal)
        state, now = game.step(state, np.asarray(first(obs, legal, word, np)))
        count += np.uint32(1)
        over = np.asarray(now.terminated | now.truncated) & (done < each)
        worth[over, done[over]] = np.asarray(now.reward)[over]
        done += over
    return worth.ravel()
