"""A hand of 21 with a usable ace takes a card: the ace is of use no more, but in EnvPool it is."""

import envpool
import gymnasium
import numpy as np

port = envpool.make("Blackjack-v1", "gymnasium", num_envs=4000, seed=1)
before = np.array(port.reset()[0])
hand = np.flatnonzero((before[:, 0] == 21) & (before[:, 2] == 1))
ours = int(port.step(np.ones(4000, np.int32))[0][hand, 2].sum())
reference, theirs = gymnasium.make("Blackjack-v1"), 0
for seed in range(len(hand)):
    reference.reset(seed=seed)
    reference.unwrapped.player = [1, 10]
    theirs += int(reference.step(1)[0][2])
assert theirs == ours, f"usable aces in {len(hand)} hands: Gymnasium {theirs}, EnvPool {ours}"
