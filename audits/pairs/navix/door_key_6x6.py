"""MiniGrid's DoorKey of 6x6 against navix's, which begins where MiniGrid's seed puts everything."""

from functools import partial

import jax.numpy as jnp
import navix
import numpy as np

from audits.pair import declared, pins
from audits.references import minigrid
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_navix, oracle_from_gym

SIZE, NAME = 6, "MiniGrid-DoorKey-6x6-v0"
PLACES = ("agent", "key", "door")


def make_start(seed):
    env = minigrid.make(NAME)
    seen, _ = env.reset(seed=int(seed[0]))
    tags = minigrid.cells(seen)[..., 0]
    found = {
        name: np.argwhere(tags == tag)[0] for name, tag in zip(PLACES, (10, 5, 4), strict=True)
    }
    fields = {name: place.astype(np.int32) for name, place in found.items()}
    return fields | {"direction": np.int32(env.unwrapped.agent_dir)}


def placed(now, start):
    given, entities = start.fields, dict(now.state.entities)
    row, column = given["door"]
    walls = jnp.delete(jnp.arange(1, SIZE - 1), row - 1, assume_unique_indices=True)
    moved = {
        "player": {"position": given["agent"], "direction": given["direction"]},
        "key": {"position": given["key"]},
        "door": {"position": given["door"]},
    }
    for name, parts in moved.items():
        entities[name] = entities[name].replace(**{k: v[None] for k, v in parts.items()})
    columns = jnp.full(len(walls), column)
    entities["wall"] = entities["wall"].replace(position=jnp.stack([walls, columns], 1))
    return now.replace(state=now.state.replace(entities=entities))


CONTRACT = Contract(
    version="navix_door_key_6x6-v0",
    params={},
    action=Discrete(7, ("left", "right", "forward", "pickup", "drop", "toggle", "done")),
    observation=Field("obs", "uint8", (SIZE, SIZE, 3)),
    state=(),
    starts=(
        *(Field(name, "int32", (2,)) for name in PLACES),
        Field("direction", "int32"),
    ),
    make_start=make_start,
    randomness=Randomness("MiniGrid's start is placed in navix"),
    horizon=360,
)
Oracle = oracle_from_gym(
    partial(minigrid.make, NAME),
    seed=lambda start: int(start.seed[0]),
    observation=minigrid.cells,
)
# `navix.make` ends an episode after 100 steps by default.
Candidate = from_navix(navix.make("Navix-DoorKey-6x6-v0", max_steps=360), place=placed)
probe = pins("minigrid", "navix", "jax")
PAIR = declared(__name__, f"minigrid {NAME}", CONTRACT)
