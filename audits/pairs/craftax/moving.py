"""crafter's walking, its lava and its world's edge, against Craftax-Classic's."""

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import actions, drawn, number, world

ALLOWED = actions("noop", "move")
GROUND = number("sand", "path", "grass", "water", "stone", "lava")

CONTRACT, Oracle = world(
    *("craftax_moving-v0", ALLOWED, lambda rng: drawn(rng, GROUND), 50),
    drivers=("random", "sticky"),
)
Candidate = candidate(ALLOWED)
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
