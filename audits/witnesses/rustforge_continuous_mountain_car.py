"""Gymnasium charges for the push that was asked for, RustForge for the one that was possible."""

import gymnasium
import numpy as np
import rustforge

answers = []
for env in (gymnasium.make("MountainCarContinuous-v0"), rustforge.make("MountainCarContinuous")):
    env.reset(seed=0)
    answers.append(float(env.step(np.array([1.5], np.float32))[1]))
assert answers[0] == answers[1], f"Gymnasium {answers[0]}, RustForge {answers[1]}"
