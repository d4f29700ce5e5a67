"""Copying a register clears VF in octax; in chip8py VF keeps its value."""

import jax
import jax.numpy as jnp
import numpy as np
from chip8py.cpu import Processor
from chip8py.memory import Memory
from octax import create_state, execute

COPY = 0x8120  # V1 = V2

reference = Processor(Memory(), None, None, None)  # without window, keys and sound
reference.v[15] = 1
reference.execute(np.uint16(COPY))
state = create_state(jax.random.PRNGKey(0))
state = execute(state.replace(V=state.V.at[15].set(1)), jnp.uint16(COPY))
theirs, ours = int(reference.v[15]), int(state.V[15])
assert theirs == ours, f"VF after 8120: chip8py {theirs}, octax {ours}"
