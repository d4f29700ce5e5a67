"""EnvPool lets a passenger wait where it is to be brought; Gymnasium never does."""

import envpool
import gymnasium
import numpy as np

port = envpool.make("Taxi-v3", "gymnasium", num_envs=1000, seed=0)
seen = np.asarray(port.reset()[0]).reshape(-1)
reference = gymnasium.make("Taxi-v4")
asked = np.array([reference.reset(seed=seed)[0] for seed in range(1000)])
theirs, ours = (int((each // 4 % 5 == each % 4).sum()) for each in (asked, seen))
assert theirs == ours, f"of 1000 starts, brought already: Gymnasium {theirs}, EnvPool {ours}"
