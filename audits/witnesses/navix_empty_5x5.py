"""MiniGrid's reward falls with the steps that the goal took, navix's is always 1."""

import gymnasium
import jax
import minigrid  # noqa: F401
import navix

reference, port = gymnasium.make("MiniGrid-Empty-5x5-v0"), navix.make("Navix-Empty-5x5-v0")
reference.reset(seed=0)
now = port.reset(jax.random.PRNGKey(0))
for action in (2, 2, 1, 2, 2):  # forward twice, right, forward twice
    theirs, now = reference.step(action)[1], port._step(now, action)
assert abs(theirs - float(now.reward)) < 1e-6, f"MiniGrid {theirs}, navix {float(now.reward)}"
