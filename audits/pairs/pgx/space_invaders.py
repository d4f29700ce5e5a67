"""MinAtar's Space Invaders against pgx's."""

from pgx.minatar.space_invaders import MinAtarSpaceInvaders

from audits.pair import declared, pins
from audits.references.minatar_games import SPACE_INVADERS, space_invaders
from twinstep.inward import from_pgx

CONTRACT, Oracle = space_invaders("pgx_space_invaders-v0")
Candidate = from_pgx(
    MinAtarSpaceInvaders(sticky_action_prob=0.0),
    fields={name: "_" + name for name in SPACE_INVADERS},
)
probe = pins("MinAtar", "pgx", "jax")
PAIR = declared(__name__, "MinAtar space_invaders", CONTRACT)
