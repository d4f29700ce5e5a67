"""crafter's hunger, thirst, tiredness, sleep and health against Craftax-Classic's, on a beach."""

import numpy as np

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import ITEMS, actions, drawn, number, world

ALLOWED = actions("noop", "move", "do", "sleep")
GROUND = number("sand", "sand", "water")


def begin(rng):
    """Return a player who may sleep, and who may be out of food, water or energy."""
    state = drawn(rng, GROUND)
    needs = state["inventory"][1 : ITEMS.index("energy") + 1]
    needs[rng.random(3) < 0.3] = 0
    if rng.random() < 0.4:
        state["sleeping"] = np.bool_(True)
        needs[2] = rng.choice([needs[2], 8, 9])
    return state


CONTRACT, Oracle = world("craftax_needs-v0", ALLOWED, begin, horizon=60)
Candidate = candidate(ALLOWED)
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
