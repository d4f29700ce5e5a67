"""The pole's moment: Gymnasium multiplies its mass by its half length, phys2d adds them."""

import gymnasium
import numpy as np
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional

state = np.array([0.0, 0.0, 0.1, 0.0])
env = gymnasium.make("CartPole-v1").unwrapped
env.reset(seed=0)
env.state = state
theirs, ours = env.step(1)[0], CartPoleFunctional().transition(state.astype("f4"), 1, None)
assert np.allclose(theirs, ours, atol=1e-4), f"Gymnasium {theirs}, phys2d {np.asarray(ours)}"
