"""Lava ends MiniGrid's episode; navix's DistShift goes on, and the agent stands in it."""

import gymnasium
import jax
import minigrid  # noqa: F401
import navix

reference, port = gymnasium.make("MiniGrid-DistShift2-v0"), navix.make("Navix-DistShift2-v0")
reference.reset(seed=0)
now = port.reset(jax.random.PRNGKey(0))
for _ in range(2):  # two steps forward, into the lava
    theirs, now = reference.step(2)[2], port._step(now, 2)
assert theirs == now.is_termination(), f"MiniGrid ends {theirs}, navix {now.is_termination()}"
