"""A zombie that is killed still strikes in crafter; in Craftax two wooden swords cut twice as deep.

The third number is the health of who recovers in the step in which a zombie strikes.
"""

import crafter
import jax
import jax.numpy as jnp
from craftax.craftax_classic.constants import Action, BlockType
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset
from crafter.objects import Zombie

#: Action, the zombie's health and cooldown, wooden swords, and the player's recovery.
CASES = ((Action.DO, 1, 0, 0, 0), (Action.DO, 5, 5, 2, 0), (Action.NOOP, 5, 0, 0, 25))

port = CraftaxClassicSymbolicEnvNoAutoReset()
_, begun = port.reset(jax.random.key(0))
hole = begun.map.at[30:35, 30:36].set(BlockType.STONE.value).at[32, 32:34].set(BlockType.SAND.value)
theirs, ours = [], []
for number, (action, health, cooldown, swords, recover) in enumerate(CASES):
    reference = crafter.Env(seed=0)
    reference.reset()
    player, world = reference._player, reference._world
    x, y = (int(each) for each in player.pos)
    for place in ((x + 2, y), (x + 1, y - 1), (x + 1, y + 1)):
        world[place] = "stone"
    world[x + 1, y], player.facing, player._recover = "sand", (1, 0), recover
    world.add(zombie := Zombie(world, (x + 1, y), player))
    zombie.health, zombie.cooldown = health, cooldown
    player.inventory["wood_sword"] = swords
    reference.step(action.value)
    theirs += [zombie.health if number == 1 else player.health]

    zombies = begun.zombies
    zombies = zombies.replace(
        position=zombies.position.at[0].set(jnp.array([32, 33])),
        health=zombies.health.at[0].set(health),
        mask=zombies.mask.at[0].set(True),
        attack_cooldown=zombies.attack_cooldown.at[0].set(cooldown),
    )
    state = begun.replace(
        map=hole,
        mob_map=begun.mob_map.at[32, 33].set(True),
        zombies=zombies,
        player_direction=Action.RIGHT.value,
        player_recover=float(recover),
        inventory=begun.inventory.replace(wood_sword=swords),
    )
    _, state, *_ = port.step(jax.random.key(0), state, action.value)
    ours += [int(state.zombies.health[0] if number == 1 else state.player_health)]
assert theirs == ours, f"health of player, zombie, player: crafter {theirs}, Craftax {ours}"
