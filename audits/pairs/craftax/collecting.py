"""crafter's collecting and drinking against Craftax-Classic's, on a map of all but lava.

A tenth of the grass that is searched gives a sapling; both draw that from the same word.
"""

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import actions, drawn, number, world
from twinstep.chance import Row

ALLOWED = actions("noop", "move", "do")
GROUND = number("water", "grass", "stone", "path", "sand", "tree", "coal", "iron", "diamond")
ROW = Row({"sapling": 1, "others": 32})

CONTRACT, Oracle = world(
    *("craftax_collecting-v0", ALLOWED, lambda rng: drawn(rng, GROUND), 50),
    row=ROW,
    drivers=("random", "sticky"),
)
Candidate = candidate(ALLOWED, ROW)
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
