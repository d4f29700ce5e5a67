"""gymnasium-2048 against jumanji's Game2048."""

import jumanji
from jumanji.environments.logic.game_2048.types import Observation

from audits.pair import declared, pins
from audits.references.game_2048 import ROW, game
from twinstep.inward import from_jumanji

PORT = jumanji.make("Game2048-v1")
CONTRACT, Oracle = game("jumanji_game_2048-v0")
Candidate = from_jumanji(
    PORT,
    chance=ROW,
    sites={"_add_random_cell": "tile"},
    observation=lambda seen: seen.board,
    fields={"board": "board"},
    load=lambda state, fields: state.replace(
        board=fields["board"], action_mask=PORT._get_action_mask(fields["board"])
    ),
    observe=lambda state: Observation(state.board, state.action_mask),
)
probe = pins("gymnasium-2048", "jumanji", "jax")
PAIR = declared(__name__, "gymnasium-2048", CONTRACT)
