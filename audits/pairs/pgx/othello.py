"""OpenSpiel's Othello against pgx's. Action 64 passes."""

import numpy as np

from audits.pair import declared, pins
from audits.references.open_spiel import OpenSpiel, board_game
from twinstep.inward import from_pgx

CONTRACT = board_game("pgx_othello-v0", 65, (8, 8), horizon=130)


class Oracle(OpenSpiel):
    """Othello; its text has a line above, a line below, and the row's number at both ends."""

    game, size = "othello", (8, 8)

    def board(self):
        rows = [line.split()[1:9] for line in str(self._state).splitlines()]
        return np.array([row for row in rows if len(row) == 8 and set(row) <= {"x", "o", "-"}])


Candidate = from_pgx("othello")
probe = pins("open_spiel", "pgx", "jax")
PAIR = declared(__name__, "OpenSpiel othello", CONTRACT)
