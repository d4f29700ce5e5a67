"""A table onto lava, a furnace of one stone, and a plant's age after it was planted."""

import crafter
import jax
from craftax.craftax_classic.constants import Action, BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, begun = port.reset(jax.random.key(0))
begun = begun.replace(player_direction=Action.RIGHT.value)
theirs, ours = [], []
for floor, name, item, count in (
    ("lava", "table", "wood", 2),
    ("sand", "furnace", "stone", 1),
    ("grass", "plant", "sapling", 1),
):
    reference = crafter.Env(seed=0)
    reference.reset()
    player, world = reference._player, reference._world
    front = int(player.pos[0]) + 1, int(player.pos[1])
    world[front], player.facing, player.inventory[item] = floor, (1, 0), count
    reference.step(Action[f"PLACE_{name.upper()}"].value)
    material, thing = world[front]
    theirs += [thing.grown if thing else material == name]

    state = begun.replace(
        map=begun.map.at[32, 33].set(BlockType[floor.upper()].value),
        inventory=begun.inventory.replace(**{item: count}),
    )
    _, after, *_ = port.step(jax.random.key(0), state, Action[f"PLACE_{name.upper()}"].value)
    placed = BlockType(int(after.map[32, 33])).name
    ours += [int(after.growing_plants_age[0]) if name == "plant" else name.upper() in placed]
assert theirs == ours, f"table on lava, furnace of 1, age: crafter {theirs}, Craftax {ours}"
