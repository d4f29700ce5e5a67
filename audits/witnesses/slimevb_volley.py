"""A player of slimevolleygym who steps back and jumps has other speeds in slimevb."""

import jax
import jax.numpy as jnp
import numpy as np
from slime_volleyball.backend import set_backend
from slime_volleyball.core import step_pipeline
from slimevolleygym.slimevolley import SlimeVolleyEnv

set_backend("jax")
env, move = SlimeVolleyEnv(), [0, 1, 1]
env.seed(0)
env.reset()
env.step(move, move)
agent = env.game.agent_right
_, state, _ = step_pipeline.reset(jax.random.key(0), 3000, 5)
_, state, *_ = step_pipeline.step(state, jnp.array([move, move], jnp.float32))
answers = [agent.vx, agent.vy], np.asarray(state.agent_vel[1]).tolist()
assert answers[0] == answers[1], f"slimevolleygym {answers[0]}, slimevb {answers[1]}"
