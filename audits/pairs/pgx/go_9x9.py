"""OpenSpiel's Go on 9x9 with komi 7.5 against pgx's. Action 81 passes."""

import numpy as np

from audits.pair import declared, pins
from audits.references.open_spiel import OpenSpiel, board_game
from twinstep.inward import from_pgx

CONTRACT = board_game("pgx_go_9x9-v0", 82, (9, 9), horizon=170)


class Oracle(OpenSpiel):
    """Go; its text has a number before each row, the last row first."""

    game, size, signs = "go(board_size=9)", (9, 9), ("X", "O")

    def board(self):
        rows = [line.split() for line in str(self._state).splitlines()]
        return np.array([list(row[1]) for row in rows if len(row) == 2 and row[0].isdigit()][::-1])


Candidate = from_pgx("go_9x9", observation=lambda seen: seen[..., :2])
probe = pins("open_spiel", "pgx", "jax")
PAIR = declared(__name__, "OpenSpiel go(board_size=9)", CONTRACT)
