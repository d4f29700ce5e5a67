"""Gymnasium's Blackjack-v1 against EnvPool's."""

from audits.pair import declared, pins
from audits.pairs.envpool._drawn import drawn

CONTRACT, Oracle, Candidate = drawn(
    "envpool_blackjack-v0",
    ("Blackjack-v1", "Blackjack-v1"),
    2,
    shape=(3,),
    truncates=False,
    horizon=20,
)
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium Blackjack-v1", CONTRACT)
