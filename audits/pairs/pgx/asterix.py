"""MinAtar's Asterix against pgx's, which draws by other means."""

from pgx.minatar.asterix import MinAtarAsterix

from audits.pair import declared, pins
from audits.references.minatar_games import drawn
from twinstep.inward import from_pgx

CONTRACT, Oracle = drawn("pgx_asterix-v0", "asterix", 4, 5)
Candidate = from_pgx(MinAtarAsterix(sticky_action_prob=0.0))
probe = pins("MinAtar", "pgx", "jax")
PAIR = declared(__name__, "MinAtar asterix", CONTRACT)
