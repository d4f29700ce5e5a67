"""crafter's tools, and the table and furnace that they need nearby, against Craftax-Classic's.

The player stands still, and not at the world's edge.
"""

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import actions, drawn, number, world

ALLOWED = actions("noop", "make")
GROUND = number("sand", "path", "grass", "stone", "tree", "table", "furnace")


def begin(rng):
    """Return a player inside, and in one of two starts a map without the needed things."""
    return drawn(rng, GROUND if rng.random() < 0.5 else GROUND[:5], margin=1)


CONTRACT, Oracle = world("craftax_making-v0", ALLOWED, begin)
Candidate = candidate(ALLOWED)
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
