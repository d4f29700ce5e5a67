"""MinAtar's episode terminates with its 2501st step, gymnax truncates it after 2500."""

import gymnax
import jax
from minatar import Environment

reference, (port, rules) = Environment("freeway"), gymnax.make("Freeway-MinAtar")
reference.env.terminate_timer -= 2499
ends = [bool(reference.act(0)[1]) for _ in range(2)]
state = port.reset_env(jax.random.key(0), rules)[1].replace(time=2499)
after = port.step_env(jax.random.key(0), state, 0, rules)[1]
ours = bool(port.is_truncated(after, rules))
assert ends[0] == ours, f"step 2500 and 2501: MinAtar terminates {ends}; step 2500: gymnax {ours}"
