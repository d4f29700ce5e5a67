"""MinAtar's Seaquest against gymnax's, which draws by other means."""

from audits.pair import declared, pins
from audits.references.minatar_games import drawn
from twinstep.inward import from_gymnax

CONTRACT, Oracle = drawn("gymnax_seaquest-v0", "seaquest", 10, 6)
Candidate = from_gymnax("Seaquest-MinAtar", observation=lambda obs: obs > 0)
probe = pins("MinAtar", "gymnax", "jax")
PAIR = declared(__name__, "MinAtar seaquest", CONTRACT)
