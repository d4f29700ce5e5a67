"""A world without creatures, near its corner: crafter's stays so, whatever the player does.

Craftax-Classic begins as its own start does, with places kept for creatures to come.
"""

import numpy as np

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import actions, drawn, number, world

ALLOWED = actions("noop", "do")


def begin(rng):
    """Return a player between rocks, and the number of creatures, none."""
    return drawn(rng, number("stone", "tree", "water")) | {"count": np.zeros(2, np.int32)}


CONTRACT, Oracle = world("craftax_nobody-v0", ALLOWED, begin, creatures="count")
Candidate = candidate(ALLOWED, creatures="count")
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
