"""A plant is ripe after 301 steps in crafter, after 600 in Craftax, where eating it ends hunger."""

import crafter
import jax
import jax.numpy as jnp
from craftax.craftax_classic.constants import Action, BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset
from crafter.objects import Plant

NOOP, DO = Action.NOOP.value, Action.DO.value

reference = crafter.Env(seed=0)
reference.reset()
player, world = reference._player, reference._world
front = int(player.pos[0]) + 1, int(player.pos[1])
world[front], player.facing = "grass", (1, 0)
world.add(plant := Plant(world, front))
plant.grown = 300
reference.step(NOOP)
theirs = [plant.ripe]
player.inventory["food"], player._hunger = 3, 10
reference.step(DO)
theirs += [player.inventory["food"], player._hunger]

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, state = port.reset(jax.random.key(0))
state = state.replace(
    player_direction=Action.RIGHT.value,
    map=state.map.at[32, 33].set(BlockType.PLANT.value),
    growing_plants_positions=state.growing_plants_positions.at[0].set(jnp.array([32, 33])),
    growing_plants_age=state.growing_plants_age.at[0].set(300),
    growing_plants_mask=state.growing_plants_mask.at[0].set(True),
)
_, state, *_ = port.step(jax.random.key(0), state, NOOP)
ours = [bool(state.map[32, 33] == BlockType.RIPE_PLANT.value)]
ripe = state.map.at[32, 33].set(BlockType.RIPE_PLANT.value)
state = state.replace(map=ripe, player_food=3, player_hunger=10.0)
_, state, *_ = port.step(jax.random.key(0), state, DO)
ours += [int(state.player_food), int(state.player_hunger)]
assert theirs == ours, f"ripe, then food and hunger when eaten: crafter {theirs}, Craftax {ours}"
