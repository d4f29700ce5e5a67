"""gymnax stops the car at the goal, whichever way it rolls; Gymnasium stops it at the left wall."""

import gymnasium
import gymnax
import jax
import numpy as np

reference = gymnasium.make("MountainCarContinuous-v0").unwrapped
reference.reset(seed=0)
port, rules = gymnax.make("MountainCarContinuous-v0")
theirs, ours = [], []
for position, velocity, push in ((0.598, -0.07, 1.0), (-1.19, -0.05, -1.0)):
    reference.state, action = np.array([position, velocity], "f4"), np.array([push])
    theirs += [round(float(x), 3) for x in (reference.step(action)[1], reference.state[1])]
    state = port.reset_env(jax.random.key(0), rules)[1]
    state = state.replace(position=position, velocity=velocity)
    after, reward = port.step_env(None, state, action, rules)[1:3]
    ours += [round(float(x), 3) for x in (reward, after.velocity)]
assert theirs == ours, f"reward and speed at goal and wall: Gymnasium {theirs}, gymnax {ours}"
