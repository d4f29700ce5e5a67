"""OpenSpiel's Connect Four against pgx's."""

from audits.pair import declared, pins
from audits.references.open_spiel import OpenSpiel, board_game
from twinstep.inward import from_pgx

CONTRACT = board_game("pgx_connect_four-v0", 7, (6, 7), horizon=50)


class Oracle(OpenSpiel):
    """Connect Four."""

    game, size = "connect_four", (6, 7)


Candidate = from_pgx("connect_four")
probe = pins("open_spiel", "pgx", "jax")
PAIR = declared(__name__, "OpenSpiel connect_four", CONTRACT)
