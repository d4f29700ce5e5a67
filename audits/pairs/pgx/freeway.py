"""MinAtar's Freeway against pgx's, which draws by other means."""

from pgx.minatar.freeway import MinAtarFreeway

from audits.pair import declared, pins
from audits.references.minatar_games import drawn
from twinstep.inward import from_pgx

CONTRACT, Oracle = drawn("pgx_freeway-v0", "freeway", 7, 3, ends=False)
Candidate = from_pgx(MinAtarFreeway(sticky_action_prob=0.0))
probe = pins("MinAtar", "pgx", "jax")
PAIR = declared(__name__, "MinAtar freeway", CONTRACT)
