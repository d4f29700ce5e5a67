"""crafter's cows and zombies, struck by a player, against Craftax-Classic's.

The creature stands in a hole with the player before its only way out, so that it cannot move and no
chance matters. The player stays awake.
"""

import numpy as np

from audits.pair import declared, pins
from audits.pairs.craftax._world import candidate
from audits.references.crafter_world import SAND, WAYS, actions, drawn, number, world

ALLOWED = actions("noop", "do")


def begin(rng):
    """Return a player before a cow or a zombie."""
    state = drawn(rng, number("stone", "tree", "water"), margin=2)
    front = state["position"] + WAYS[int(state["facing"])]
    state["map"][tuple(front)] = SAND
    cow = rng.random() < 0.4
    state["cow"] = np.array([*front, rng.integers(1, 4)] if cow else [0] * 3, np.int32)
    zombie = [*front, rng.integers(1, 6), rng.integers(0, 6)]
    state["zombie"] = np.array([0] * 4 if cow else zombie, np.int32)
    return state


CONTRACT, Oracle = world("craftax_fighting-v0", ALLOWED, begin, creatures="one")
Candidate = candidate(ALLOWED, creatures="one")
probe = pins("crafter", "craftax", "jax")
PAIR = declared(__name__, "crafter", CONTRACT, slow_to_compile=True)
