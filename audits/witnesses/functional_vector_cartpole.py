"""When one lane begins its next episode, the vector wrapper leaves the other lanes unmoved."""

import jax.numpy as jnp
import numpy as np
from gymnasium.envs.functional_jax_env import FunctionalJaxVectorEnv
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional

lanes = FunctionalJaxVectorEnv(CartPoleFunctional(), 2)
lanes.reset(seed=0)
alone = CartPoleFunctional().transition(lanes.state[1], 1)
lanes.prev_done = jnp.array([True, False])
beside = np.asarray(lanes.step(np.array([1, 1]))[0][1])
assert np.allclose(alone, beside), f"alone {np.asarray(alone)}, beside a reset {beside}"
