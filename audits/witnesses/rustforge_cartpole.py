"""The step in which the pole falls earns 1 in Gymnasium and 0 in RustForge."""

import gymnasium
import rustforge

answers = []
for env in (gymnasium.make("CartPole-v1"), rustforge.make("CartPole")):
    env.reset(seed=0)
    while not (last := env.step(0))[2]:
        pass
    answers.append(last[1])
assert answers[0] == answers[1], f"Gymnasium {answers[0]}, RustForge {answers[1]}"
