"""MinAtar's Breakout against gymnax's."""

from audits.pair import declared, pins
from audits.references.minatar_games import BREAKOUT, ball_at, breakout
from twinstep.inward import from_gymnax

CONTRACT, Oracle = breakout("gymnax_breakout-v0")
Candidate = from_gymnax(
    "Breakout-MinAtar",
    place=ball_at(""),
    fields={name: name for name in BREAKOUT},
    observation=lambda obs: obs > 0,
)
probe = pins("MinAtar", "gymnax", "jax")
PAIR = declared(__name__, "MinAtar breakout", CONTRACT)
