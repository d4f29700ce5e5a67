"""Connect Four in plain Python, two players, against pgx's."""

from __future__ import annotations

import numpy as np

from twinstep import (
    CandidateRef,
    Contract,
    Discrete,
    Environment,
    Field,
    Frame,
    OracleRef,
    Probe,
    Randomness,
)
from twinstep.inward import from_pgx

ROWS, COLUMNS = 6, 7
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


def contract(params):
    return Contract(
        version="four-v0",
        params=dict(params),
        action=Discrete(COLUMNS),
        observation=Field("obs", "bool", (ROWS, COLUMNS, 2)),
        state=(Field("board", "int32", (ROWS * COLUMNS,), low=-1, high=1),),
        randomness=Randomness("none"),
        players=2,
        masked=True,
        illegal="it raises",
        truncates=False,
        horizon=50,
        placed=0,
    )


class Oracle:
    """Player 0 begins; nobody decides after the end."""

    def __init__(self, contract):
        self.board = np.full((ROWS, COLUMNS), -1, np.int32)

    def reset(self, start):
        self.board[:] = -1
        self.turn, self.winner = 0, -1
        return self._frame()

    def step(self, action):
        column = self.board[:, int(action[self.turn])]
        if not (column < 0).any():
            raise ValueError("a full column")
        column[np.flatnonzero(column < 0).max()] = self.turn
        self.winner = self.turn if self._four(self.turn) else -1
        self.turn = 1 - self.turn
        return self._frame()

    def close(self):
        pass

    def _four(self, player):
        own = {(int(row), int(column)) for row, column in np.argwhere(self.board == player)}
        lines = ([(r + k * y, c + k * x) for k in range(4)] for r, c in own for y, x in WAYS)
        return any(own.issuperset(line) for line in lines)

    def _frame(self):
        over = self.winner >= 0 or not (self.board < 0).any()
        acting = np.array([player == self.turn and not over for player in (0, 1)])
        reward = np.zeros(2, np.float32)
        if self.winner >= 0:
            reward[:] = -1
            reward[self.winner] = 1
        views = [np.stack([self.board == p, self.board == 1 - p], -1) for p in (0, 1)]
        return Frame(
            obs=np.stack(views),
            reward=reward,
            terminated=np.bool_(over),
            truncated=np.bool_(False),
            acting=acting,
            legal=acting[:, None] & (self.board[0] < 0),
            state={"board": self.board.reshape(-1).copy()},
        )


Pgx = from_pgx("connect_four", fields={"board": "_x.board"})


def probe(params):
    return Probe({"four": "1"})


_HERE = "twinstep.tests.inward.four"
FOUR = Environment(
    "four",
    contract,
    OracleRef("Connect Four", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.inward"),
    (CandidateRef("pgx", f"{_HERE}:Pgx"),),
)
