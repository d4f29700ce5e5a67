"""MinAtar's Breakout against pgx's."""

from pgx.minatar.breakout import MinAtarBreakout

from audits.pair import declared, pins
from audits.references.minatar_games import BREAKOUT, ball_at, breakout
from twinstep.inward import from_pgx

CONTRACT, Oracle = breakout("pgx_breakout-v0")
Candidate = from_pgx(
    MinAtarBreakout(sticky_action_prob=0.0),
    place=ball_at("_"),
    fields={name: "_" + name for name in BREAKOUT},
)
probe = pins("MinAtar", "pgx", "jax")
PAIR = declared(__name__, "MinAtar breakout", CONTRACT)
