"""OpenSpiel's board games of two players as an oracle."""

import numpy as np
import pyspiel

from twinstep import Contract, Discrete, Field, Frame, Randomness


def board_game(version: str, actions: int, size: tuple[int, int], horizon: int) -> Contract:
    """Return the contract of a game of two. size: rows and columns of its board."""
    return Contract(
        version=version,
        params={},
        action=Discrete(actions),
        observation=Field("obs", "bool", (*size, 2)),
        state=(),
        randomness=Randomness("none"),
        players=2,
        masked=True,
        illegal="it raises",
        truncates=False,
        horizon=horizon,
    )


class OpenSpiel:
    """One game; subclass it with the game's name and the two players' signs.

    game: OpenSpiel's name with parameters. signs: of player 0 and 1 in the board's text. Every
    player sees own and the other's pieces, bool[R, C, 2], the top row first.
    """

    game = ""
    signs = ("x", "o")
    #: Rows, columns.
    size = (0, 0)

    def __init__(self, contract):
        self._game = pyspiel.load_game(self.game)
        self._actions = contract.action.n

    def reset(self, start):
        self._state = self._game.new_initial_state()
        return self._frame(np.zeros(2, np.float32))

    def step(self, action):
        self._state.apply_action(int(action[self._state.current_player()]))
        return self._frame(np.array(self._state.rewards(), np.float32))

    def close(self):
        pass

    def board(self):
        """Return the board's cells, one sign each [R, C]."""
        rows = str(self._state).strip().splitlines()[: self.size[0]]
        return np.array([list(row.replace(" ", ""))[: self.size[1]] for row in rows])

    def _frame(self, reward):
        state, board = self._state, self.board()
        over = state.is_terminal()
        acting = np.array([not over and state.current_player() == player for player in (0, 1)])
        legal = np.zeros((2, self._actions), bool)
        if not over:
            legal[state.current_player(), state.legal_actions()] = True
        mine, other = (board == sign for sign in self.signs)
        return Frame(
            obs=np.stack([np.stack([mine, other], -1), np.stack([other, mine], -1)]),
            reward=reward,
            terminated=np.bool_(over),
            truncated=np.bool_(False),
            acting=acting,
            legal=legal,
            state={},
        )
