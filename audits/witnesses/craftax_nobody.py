"""Near the corner of a world without creatures, `do` brings cows and zombies in Craftax.

It marks every creature as there whose health is above 0, and a start keeps health at (0, 0) for
those to come. So does one that has gone, while its place is near.
"""

import crafter
import jax
from craftax.craftax_classic.constants import Action, BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset
from crafter.objects import Player

reference = crafter.Env(seed=0)
reference.reset()
for thing in reference._world.objects:
    if not isinstance(thing, Player):
        reference._world.remove(thing)
reference.step(Action.DO.value)
theirs = [type(each).__name__ for each in reference._world.objects if not isinstance(each, Player)]

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, state = port.reset(jax.random.key(0))
state = state.replace(player_position=state.player_position.at[:].set(3))
state = state.replace(map=state.map.at[:20, :20].set(BlockType.SAND.value))
_, state, *_ = port.step(jax.random.key(0), state, Action.DO.value)
ours = ["Cow"] * int(state.cows.mask.sum()) + ["Zombie"] * int(state.zombies.mask.sum())
assert theirs == ours, f"creatures after `do`: crafter {theirs}, Craftax {ours}"
