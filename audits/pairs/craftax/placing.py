"""crafter's placing of stones, tables, furnaces and plants against Craftax-Classic's."""

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import actions, drawn, number, world

ALLOWED = actions("noop", "move", "place")
#: A player cannot walk into lava by accident: a step there ends the episode.
GROUND = number("sand", "path", "grass", "water", "stone", "tree", "lava")

CONTRACT, Oracle = world("craftax_placing-v0", ALLOWED, lambda rng: drawn(rng, GROUND))
Candidate = candidate(ALLOWED)
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
