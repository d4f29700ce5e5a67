"""Adding to the index without overflow clears VF in octax, and with overflow wraps the index."""

import jax
import jax.numpy as jnp
import numpy as np
from chip8py.cpu import Processor
from chip8py.memory import Memory
from octax import create_state, execute

ADD = 0xF21E  # I += V2

theirs, ours = [], []
for index in (0x300, 0xFFF):
    reference = Processor(Memory(), None, None, None)  # without window, keys and sound
    reference.i, reference.v[2], reference.v[15] = np.uint16(index), 4, 1
    reference.execute(np.uint16(ADD))
    theirs += [hex(reference.i), int(reference.v[15])]
    state = create_state(jax.random.PRNGKey(0))
    state = state.replace(V=state.V.at[2].set(4).at[15].set(1), I=jnp.uint16(index))
    state = execute(state, jnp.uint16(ADD))
    ours += [hex(int(state.I)), int(state.V[15])]
assert theirs == ours, f"I and VF after F21E, twice: chip8py {theirs}, octax {ours}"
