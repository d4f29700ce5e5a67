"""mpe2 ends an episode with its 25th step, JaxMARL with its 26th."""

import jax
import jaxmarl
from mpe2 import simple_v3

reference, port, key = simple_v3.parallel_env(), jaxmarl.make("MPE_simple_v3"), jax.random.key(0)
reference.reset(seed=0)
reference.aec_env.unwrapped.steps = 24
state = port.reset(key)[1].replace(step=24)
theirs = reference.step({"agent_0": 0})[3]["agent_0"]
ours = port.step_env(key, state, {"agent_0": 0})[3]["agent_0"]
assert theirs == ours, f"mpe2 ends {theirs}, JaxMARL {ours}"
