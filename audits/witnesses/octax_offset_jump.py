"""B240 jumps to 0x240 plus V2 in chip8py; octax leaves the 2 out and jumps to 0x040 plus V2."""

import jax
import jax.numpy as jnp
import numpy as np
from chip8py.cpu import Processor
from chip8py.memory import Memory
from octax import create_state, execute

JUMP = 0xB240

reference = Processor(Memory(), None, None, None)  # without window, keys and sound
reference.v[2] = 4
reference.execute(np.uint16(JUMP))
state = create_state(jax.random.PRNGKey(0))
state = execute(state.replace(V=state.V.at[2].set(4)), jnp.uint16(JUMP))
theirs, ours = hex(reference.pc), hex(int(state.pc))
assert theirs == ours, f"B240 with V2 = 4 jumps to: chip8py {theirs}, octax {ours}"
