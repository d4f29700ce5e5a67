"""MinAtar's Space Invaders against gymnax's."""

from audits.pair import declared, pins
from audits.references.minatar_games import SPACE_INVADERS, space_invaders
from twinstep.inward import from_gymnax

CONTRACT, Oracle = space_invaders("gymnax_space_invaders-v0")
Candidate = from_gymnax(
    "SpaceInvaders-MinAtar",
    fields={name: name for name in SPACE_INVADERS},
    observation=lambda obs: obs > 0,
)
probe = pins("MinAtar", "gymnax", "jax")
PAIR = declared(__name__, "MinAtar space_invaders", CONTRACT)
