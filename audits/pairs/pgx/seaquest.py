"""MinAtar's Seaquest against pgx's, which draws by other means."""

from pgx.minatar.seaquest import MinAtarSeaquest

from audits.pair import declared, pins
from audits.references.minatar_games import drawn
from twinstep.inward import from_pgx

CONTRACT, Oracle = drawn("pgx_seaquest-v0", "seaquest", 10, 6)
Candidate = from_pgx(MinAtarSeaquest(sticky_action_prob=0.0))
probe = pins("MinAtar", "pgx", "jax")
PAIR = declared(__name__, "MinAtar seaquest", CONTRACT)
