"""The step in which the pole falls earns 1 in Gymnasium and 0 in PufferLib."""

import gymnasium

from audits.pairs.pufferlib._cart import Cart  # PufferLib's header through ctypes

answers = []
for env in (gymnasium.make("CartPole-v1"), Cart()):
    env.reset(seed=0)
    while not (last := env.step(0))[2]:
        pass
    answers.append(last[1])
assert answers[0] == answers[1], f"Gymnasium {answers[0]}, PufferLib {answers[1]}"
