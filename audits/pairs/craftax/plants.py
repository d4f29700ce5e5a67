"""crafter's plants, which ripen and are eaten, against Craftax-Classic's."""

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import MATERIALS, RIPE, WAYS, actions, drawn, number, world

ALLOWED = actions("noop", "do")
#: Ages around those at which crafter's and Craftax's plants are ripe.
AGES = (0, 1, RIPE - 3, RIPE - 1, RIPE, RIPE + 1, 450, 596, 597, 598, 599, 600, 700)


def begin(rng):
    """Return a player before a plant."""
    state = drawn(rng, number("sand", "path", "stone"), margin=1)
    front = tuple(state["position"] + WAYS[int(state["facing"])])
    state["grown"][front] = age = rng.choice(AGES)
    state["map"][front] = MATERIALS.index("ripe" if age > RIPE else "plant")
    return state


CONTRACT, Oracle = world("craftax_plants-v0", ALLOWED, begin)
Candidate = candidate(ALLOWED)
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
