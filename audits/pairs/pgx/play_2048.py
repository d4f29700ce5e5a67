"""gymnasium-2048 against pgx's 2048."""

import jax.numpy as jnp
from pgx import play2048

from audits.pair import declared, pins
from audits.references.game_2048 import ROW, game
from twinstep.inward import from_pgx


def load(state, fields):
    legal = play2048._legal_action_mask(fields["board"])
    return state.replace(
        _board=fields["board"].ravel(), legal_action_mask=legal, terminated=~legal.any()
    )


CONTRACT, Oracle = game("pgx_play_2048-v0", ("left", "up", "right", "down"))
Candidate = from_pgx(
    "2048",
    chance=ROW,
    sites={"_add_random_num": "tile"},
    observation=lambda seen: seen.argmax(-1).astype(jnp.int32),
    fields={"board": lambda state: state._board.reshape(4, 4)},
    load=load,
)
probe = pins("gymnasium-2048", "pgx", "jax")
PAIR = declared(__name__, "gymnasium-2048", CONTRACT)
