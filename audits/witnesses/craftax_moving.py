"""Lava where health recovers, and lava beyond the world's edge, on its other side.

crafter's player whose health recovers in that step survives the lava, Craftax's does not. Craftax's
player leaves the world to the left where lava is on the far right.
"""

import crafter
import jax
from craftax.craftax_classic.constants import BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

LEFT, RIGHT, LAVA = 1, 2, BlockType.LAVA.value

reference = crafter.Env(seed=0)
reference.reset()
player, world = reference._player, reference._world
x, y = (int(each) for each in player.pos)
world[x + 1, y], player._recover = "lava", 25
reference.step(RIGHT)
theirs = [player.health]
reference.reset()
player = reference._player
world[63, y] = "lava"
world[0, y] = "grass"
world.move(player, (0, y))
reference.step(LEFT)
theirs += [int(player.pos[0])]

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, begun = port.reset(jax.random.key(0))
state = begun.replace(map=begun.map.at[32, 33].set(LAVA), player_recover=25.0)
_, state, *_ = port.step(jax.random.key(0), state, RIGHT)
ours = [int(state.player_health)]
edge = begun.replace(
    map=begun.map.at[32, 63].set(LAVA), player_position=begun.player_position.at[1].set(0)
)
_, state, *_ = port.step(jax.random.key(0), edge, LEFT)
ours += [int(state.player_position[1])]
assert theirs == ours, f"health in lava, x beyond the edge: crafter {theirs}, Craftax {ours}"
