"""Who wakes up rested acts at once in crafter, a step later in Craftax; hunger wakes in crafter."""

import crafter
import jax
from craftax.craftax_classic.constants import BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

NOOP, RIGHT = 0, 2

reference = crafter.Env(seed=0)
reference.reset()
player = reference._player
x, y = (int(each) for each in player.pos)
reference._world[x + 1, y], player.sleeping = "sand", True
reference.step(RIGHT)
theirs = [int(player.pos[0]) - x]
reference.reset()
player = reference._player
player.inventory.update(energy=5, food=0)
player.sleeping, player._recover = True, -15
reference.step(NOOP)
theirs += [player.sleeping]

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, begun = port.reset(jax.random.key(0))
begun = begun.replace(is_sleeping=True, map=begun.map.at[32, 33].set(BlockType.SAND.value))
_, state, *_ = port.step(jax.random.key(0), begun, RIGHT)
ours = [int(state.player_position[1]) - 32]
hungry = begun.replace(player_energy=5, player_food=0, player_recover=-15.0)
_, state, *_ = port.step(jax.random.key(0), hungry, NOOP)
ours += [bool(state.is_sleeping)]
assert theirs == ours, f"cells walked on waking, asleep hungry: crafter {theirs}, Craftax {ours}"
