"""The reference for `twinstep bench`: games in turn, in a process for each thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.bench.lane_pool import InProcesses, InThreads
from twinstep.bench.targets import NamedTarget
from twinstep.contract import Contract
from twinstep.contracts.tcgjax import contract as contract_of
from twinstep.env.timestep import StartTable, next_seeds
from twinstep.frames import Fields, take_lanes
from twinstep.oracles.tcgjax.codec import new_game, state_of
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.observing import observed

_SLICE = "twinstep.oracles.tcgjax.native:Slice"
_REWARDS = {0: (0, 0), 1: (1, -1), 2: (-1, 1), 3: (0, 0)}


class Slice:
    """Some lanes in turn; see lane_pool.Slice. No state is written between two steps."""

    def __init__(self, params: Mapping[str, Any], lanes: int) -> None:
        self._table = StartTable(contract_of(params))
        self._seeds = np.zeros((lanes, 2), np.uint32)
        self._games: list[Game] = []
        self._starts: list[Fields] = []

    def begin(self, seeds: np.ndarray) -> None:
        """Begin the games of seeds u32[N, 2]."""
        self._seeds = seeds.copy()
        both = [self._begun(seed) for seed in seeds]
        self._games, self._starts = [game for game, _ in both], [fields for _, fields in both]

    def play(self, actions: np.ndarray, out: dict[str, np.ndarray]) -> None:
        """Play actions i32[T, N, 2], made legal like `action_mask.legalise` does; out: by name."""
        games = self._games
        for t, row in enumerate(actions.tolist()):
            for lane, game in enumerate(games):
                asked = game.decision
                assert asked is not None
                action = row[lane][asked.asked]
                if action not in asked.options:
                    legal = sorted(asked.options)
                    action = legal[action % len(legal)]
                game.step(action)
                out["reward"][t, lane] = _REWARDS[game.winner]
                out["terminated"][t, lane] = game.winner != 0
                if game.winner:
                    self._seeds[lane] = next_seeds(self._seeds[lane])
                    games[lane], self._starts[lane] = self._begun(self._seeds[lane])
                out["obs"][t, lane] = [observed(games[lane], me) for me in range(2)]
        out["truncated"][:] = False

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        rows = [state_of(*both) for both in zip(self._games, self._starts, strict=True)]
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    def _begun(self, seed: np.ndarray) -> tuple[Game, Fields]:
        start = take_lanes(self._table.of(seed[None]), 0)
        fields = {name: np.asarray(value) for name, value in start.fields.items()}
        fields["seed"] = np.asarray(start.seed)
        game = new_game(fields, fields["seed"])
        game.begin()
        return game, fields


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[NamedTarget]:
    """Return the reference's way to play N lanes for T steps: a process for each thread."""
    if threads == 1:
        return [NamedTarget("Python", InThreads(_SLICE, contract, lanes, steps))]
    name = f"Python, {threads} processes"
    return [NamedTarget(name, InProcesses(_SLICE, contract, lanes, steps, threads))]
