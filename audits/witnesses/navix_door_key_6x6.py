"""A key that is picked up leaves MiniGrid's room; navix draws it in the top right corner."""

import gymnasium
import jax
import jax.numpy as jnp
import minigrid  # noqa: F401
import navix

port = navix.make("Navix-DoorKey-6x6-v0")
now = port.reset(jax.random.PRNGKey(0))
entities = dict(now.state.entities)
beside = entities["key"].position + jnp.array([[0, 1]])  # the agent looks west, at the key
entities["player"] = entities["player"].replace(position=beside, direction=jnp.array([2]))
now = port._step(now.replace(state=now.state.replace(entities=entities)), 3)
reference = gymnasium.make("MiniGrid-DoorKey-6x6-v0").unwrapped
reference.reset(seed=0)
key = next(cell for cell in reference.grid.grid if cell and cell.type == "key")
reference.agent_pos, reference.agent_dir = (key.cur_pos[0] + 1, key.cur_pos[1]), 2
reference.step(3)
theirs, ours = reference.grid.encode()[5, 0], now.observation[0, 5]
assert (theirs == ours).all(), f"MiniGrid {theirs}, navix {ours}"
