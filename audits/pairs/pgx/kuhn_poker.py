"""OpenSpiel's Kuhn poker against pgx's; the deal is part of the start."""

import numpy as np

from audits.pair import declared, pins
from audits.pairs.pgx._dealt import dealt
from audits.references.open_spiel_cards import OpenSpielPoker, chips
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_pgx

CONTRACT = Contract(
    version="pgx_kuhn_poker-v0",
    params={},
    action=Discrete(2, ("bet", "pass")),
    observation=Field("obs", "bool", (7,)),
    state=(),
    starts=(Field("cards", "int32", (2,)),),
    make_start=lambda seed: {"cards": np.random.default_rng(seed).permutation(3)[:2].astype("i4")},
    randomness=Randomness("the deal is placed in both", parts={"cards": ("obs",)}),
    players=2,
    masked=True,
    illegal="it raises",
    truncates=False,
    horizon=10,
)


class Oracle(OpenSpielPoker):
    """Kuhn poker: pgx shows the bets without the antes."""

    game, actions = "kuhn_poker", (1, 0)

    def seen(self, tensor, player):
        card, pot = tensor[2:5], tensor[5:7] - 1
        return np.concatenate([card, chips(pot[player], pot[1 - player], 2)])


Candidate = from_pgx("kuhn_poker", place=lambda state, start: dealt(state, start.fields["cards"]))
probe = pins("open_spiel", "pgx", "jax")
PAIR = declared(__name__, "OpenSpiel kuhn_poker", CONTRACT)
