"""MinAtar's Asterix against gymnax's, which draws by other means."""

from audits.pair import declared, pins
from audits.references.minatar_games import drawn
from twinstep.inward import from_gymnax

CONTRACT, Oracle = drawn("gymnax_asterix-v0", "asterix", 4, 5)
Candidate = from_gymnax("Asterix-MinAtar", observation=lambda obs: obs > 0)
probe = pins("MinAtar", "gymnax", "jax")
PAIR = declared(__name__, "MinAtar asterix", CONTRACT)
