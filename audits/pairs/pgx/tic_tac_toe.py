"""OpenSpiel's tic-tac-toe against pgx's."""

from audits.pair import declared, pins
from audits.references.open_spiel import OpenSpiel, board_game
from twinstep.inward import from_pgx

CONTRACT = board_game("pgx_tic_tac_toe-v0", 9, (3, 3), horizon=20)


class Oracle(OpenSpiel):
    """Tic-tac-toe."""

    game, size = "tic_tac_toe", (3, 3)


Candidate = from_pgx("tic_tac_toe")
probe = pins("open_spiel", "pgx", "jax")
PAIR = declared(__name__, "OpenSpiel tic_tac_toe", CONTRACT)
