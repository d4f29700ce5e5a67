"""An iron pickaxe needs no stone in crafter, and one in Craftax."""

import crafter
import jax
from craftax.craftax_classic.constants import Action, BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

HELD, MAKE = {"wood": 1, "coal": 1, "iron": 1}, Action.MAKE_IRON_PICKAXE.value

reference = crafter.Env(seed=0)
reference.reset()
player = reference._player
x, y = (int(each) for each in player.pos)
reference._world[x + 1, y], reference._world[x - 1, y] = "table", "furnace"
player.inventory.update(HELD)
reference.step(MAKE)

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, state = port.reset(jax.random.key(0))
beside = state.map.at[32, 33].set(BlockType.CRAFTING_TABLE.value)
beside = beside.at[32, 31].set(BlockType.FURNACE.value)
state = state.replace(map=beside, inventory=state.inventory.replace(**HELD))
_, state, *_ = port.step(jax.random.key(0), state, MAKE)
theirs, ours = player.inventory["iron_pickaxe"], int(state.inventory.iron_pickaxe)
assert theirs == ours, f"iron pickaxes made without a stone: crafter {theirs}, Craftax {ours}"
