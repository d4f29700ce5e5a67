"""The games of game.py as an environment: the tcgjax oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.tcgjax.layout import ACTIONS_COUNT, PLAYERS
from twinstep.environment import Probe
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.tcgjax.calls import call
from twinstep.oracles.tcgjax.codec import game_of, new_game, state_of
from twinstep.oracles.tcgjax.game import Game
from twinstep.oracles.tcgjax.observing import observed
from twinstep.oracles.tcgjax.places import places


def probe(_params: Any) -> Probe:
    """Return a probe without pins: the reference is part of this project and runs everywhere."""
    return Probe({})


class TcgjaxOracle:
    """One game; see protocols.Oracle."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self.game: Game
        self._fixed: dict[str, np.ndarray] = {}

    def reset(self, start: Start) -> Frame:
        """Begin the game of a seed u32[2], rules i16[6], cards i16[2, 20] and types u8[2]."""
        self._fixed = {name: np.asarray(value) for name, value in start.fields.items()}
        self._fixed["seed"] = np.asarray(start.seed)
        self.game = new_game(self._fixed, self._fixed["seed"])
        self.game.begin()
        return self._frame()

    def step(self, action: Any) -> Frame:
        """Play actions [2]; only that of the acting player counts; Illegal, see game.py."""
        asked = self.game.decision
        who = asked.asked if asked else 0
        self.game.step(int(np.asarray(action)[who]))
        return self._frame()

    def load(self, state: Fields) -> None:
        """Continue from a state."""
        fields = {name: np.asarray(value) for name, value in state.items()}
        self._fixed = {name: fields[name].copy() for name in ("rules", "cards", "types", "seed")}
        self.game = game_of(fields)

    def events(self) -> np.ndarray:
        """Return bool[E]: which contract.events the latest reset or step caused."""
        happened = self.game.happened
        return np.array([name in happened for name in self._contract.events])

    def explain(self, state: Fields, action: Any) -> str:
        """Return a step's log, ruling by ruling."""
        game = game_of({name: np.asarray(value) for name, value in state.items()})
        if game.decision is None:
            return "the game is over"
        game.step(int(np.asarray(action)[game.decision.asked]))
        return "\n".join(game.story)

    def call(self, module: str, inputs: Fields) -> Fields:
        """Evaluate a module of the contract on inputs [N, ...]; see calls.py."""
        return call(self._contract.module(module), inputs)

    def places(self, count: int, seed: int, dtype: str = "") -> dict[str, np.ndarray]:
        """Return state fields [count, ...] and a legal `action` [count, 2]; see places.py."""
        return places(count, seed, self._contract.params)

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def _frame(self) -> Frame:
        game = self.game
        acting, legal = np.zeros(PLAYERS, bool), np.zeros((PLAYERS, ACTIONS_COUNT), bool)
        if game.decision is not None:
            acting[game.decision.asked] = True
            legal[game.decision.asked, list(game.decision.options)] = True
        reward = {0: (0, 0), 1: (1, -1), 2: (-1, 1), 3: (0, 0)}[game.winner]
        return Frame(
            obs=np.array([observed(game, me) for me in range(PLAYERS)], np.int16),
            reward=np.array(reward, np.float32),
            terminated=np.bool_(game.winner != 0),
            truncated=np.bool_(False),
            acting=acting,
            legal=legal,
            state=state_of(game, self._fixed),
        )
