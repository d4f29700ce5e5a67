"""At its largest speed Gymnasium's pendulum moves by the limited speed, EnvPool's by the other."""

import envpool
import gymnasium
import numpy as np

port = envpool.make("Pendulum-v1", "gymnasium", num_envs=1, seed=0)
reference = gymnasium.make("Pendulum-v1").unwrapped
reference.reset(seed=0)
cos, sin, speed = port.reset()[0][0]
while abs(speed) < 8:
    before = np.array([np.arctan2(sin, cos), speed], np.float64)
    push = np.array([np.copysign(2.0, speed)], np.float32)
    cos, sin, speed = ours = port.step(push[None])[0][0]
reference.state = before
theirs = reference.step(push)[0]
assert np.allclose(theirs, ours, atol=1e-4), f"from {before}: Gymnasium {theirs}, EnvPool {ours}"
