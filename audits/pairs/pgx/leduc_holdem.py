"""OpenSpiel's Leduc poker against pgx's; the deal is part of the start."""

import numpy as np

from audits.pair import declared, pins
from audits.pairs.pgx._dealt import dealt
from audits.references.open_spiel_cards import OpenSpielPoker, chips
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_pgx

CONTRACT = Contract(
    version="pgx_leduc_holdem-v0",
    params={},
    action=Discrete(3, ("call", "raise", "fold")),
    observation=Field("obs", "bool", (34,)),
    state=(),
    starts=(Field("cards", "int32", (3,)),),
    make_start=lambda seed: {"cards": np.random.default_rng(seed).permutation(6)[:3].astype("i4")},
    randomness=Randomness("the deal is placed in both", parts={"cards": ("obs",)}),
    players=2,
    masked=True,
    illegal="it raises",
    truncates=False,
    horizon=20,
)


class Oracle(OpenSpielPoker):
    """Leduc poker: two cards of each of three ranks."""

    game, actions = "leduc_poker", (1, 2, 0)

    def seen(self, tensor, player):
        card, public = (tensor[at : at + 6].reshape(3, 2).any(1) for at in (2, 8))
        pot = tensor[14:16]
        return np.concatenate([card, public, chips(pot[player], pot[1 - player], 14)])


Candidate = from_pgx(
    "leduc_holdem", place=lambda state, start: dealt(state, start.fields["cards"] // 2)
)
probe = pins("open_spiel", "pgx", "jax")
PAIR = declared(__name__, "OpenSpiel leduc_poker", CONTRACT)
