"""A person at the terminal plays a game of the reference, against a driver or another person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Frame, Start, stack_starts
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.reference.recording import record

#: Typed instead of an action.
LEAVE = ("q", "quit")


class Scene(NamedTuple):
    """A player's view of the game, limited to its knowledge.

    told: lines of all events so far; a later scene of the same player begins with them. board:
    lines of the present position. words: each legal action in words. refusal(action) gives the
    reason and the rule why another one is not legal.
    """

    told: Sequence[str]
    board: Sequence[str]
    words: Mapping[int, str]
    refusal: Callable[[int], str]


#: An environment may declare one: (contract, start, actions so far [T, P], player) -> Scene.
Scenes = Callable[[Contract, Start, np.ndarray, int], Scene]


class PlayerQuit(Exception):
    """The person has left the game."""


class GameView:
    """A driver for `recording.record` that prompts people for some players' actions.

    humans: the players that people play. ask: returns a typed line; tell: shows one.
    """

    def __init__(
        self,
        subject: EnvVariant,
        start: Start,
        humans: Sequence[int],
        ask: Callable[[str], str],
        tell: Callable[[str], None],
    ) -> None:
        players = subject.contract.players
        if not subject.env.scene:
            raise UserError(f"--human: {subject.env.name} cannot be played by hand, only watched")
        for player in humans:
            if player >= players:
                raise UserError(
                    f"--human {player}: {subject.env.name} has players 0 to {players - 1}"
                )
        self._scene: Scenes = registry.load_object(subject.env.scene)
        self._contract, self._start = subject.contract, start
        self._humans, self._ask, self._tell = humans, ask, tell
        self._said = dict.fromkeys(humans, 0)
        self.actions: list[np.ndarray] = []

    def driver(self, other: Any) -> Any:
        """Return a driver: people's actions over those of `other`."""

        def make(contract: Contract, starts: Start, look: Any) -> Callable[[Frame, int], Any]:
            policy = other(contract, starts, look)

            def act(frame: Frame, t: int) -> np.ndarray:
                chosen = np.array(policy(frame, t))
                for player in self._humans:
                    if np.asarray(frame.acting)[0, player]:
                        chosen[0, player] = self._choice(player)
                self.actions.append(chosen[0])
                return chosen

            return act

        return make

    def finish(self) -> None:
        """Show everybody the end of the game."""
        for player in self._humans:
            scene = self._shown(player)
            for line in scene.board:
                self._tell(line)

    def _shown(self, player: int) -> Scene:
        dtype, shape = self._contract.action_layout()
        so_far = np.array(self.actions, dtype).reshape(-1, *shape)
        scene = self._scene(self._contract, self._start, so_far, player)
        for line in scene.told[self._said[player] :]:
            self._tell(line)
        self._said[player] = len(scene.told)
        return scene

    def _choice(self, player: int) -> int:
        scene = self._shown(player)
        for line in ("", *scene.board, f"You are player {player}:"):
            self._tell(line)
        for action, words in scene.words.items():
            self._tell(f"{action:5d}  {words}")
        while True:
            try:
                typed = self._ask("number, or q to leave: ").strip().lower()
            except EOFError:
                raise PlayerQuit from None
            if typed in LEAVE:
                raise PlayerQuit
            if not typed.isdecimal():
                self._tell(f"'{typed}' is no number of an action.")
            elif int(typed) not in scene.words:
                self._tell(scene.refusal(int(typed)))
            else:
                return int(typed)


def play(
    subject: EnvVariant,
    oracle: Any,
    driver: Any,
    start: Start,
    humans: Sequence[int],
    ask: Callable[[str], str] = input,
    tell: Callable[[str], None] = print,
) -> np.ndarray:
    """Play a game; return its actions [T, P, ...]. A game that was quit ends with its last action.

    start: without batch axis. ask and tell: the terminal.
    """
    table = GameView(subject, start, humans, ask, tell)
    contract = subject.contract
    try:
        record(
            oracle,
            contract,
            table.driver(driver),
            stack_starts([start]),
            contract.horizon,
            lambda *_: None,
        )
        table.finish()
    except (PlayerQuit, KeyboardInterrupt):
        tell(f"\nThe game was left after {len(table.actions)} decisions.")
    return np.array(table.actions)
