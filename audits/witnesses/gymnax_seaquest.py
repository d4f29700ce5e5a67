"""Surfacing without divers ends the game: MinAtar leaves the oxygen alone, gymnax refills it."""

import gymnax
import jax
from minatar import Environment

DOWN, UP = 4, 2
reference, (port, rules) = Environment("seaquest", 0.0), gymnax.make("Seaquest-MinAtar")
state, key = port.reset_env(jax.random.key(0), rules)[1], jax.random.key(0)
for action in (DOWN, UP):
    theirs = reference.act(action)[1], int(reference.env.oxygen)
    after = port.step_env(key, state, action, rules)
    state, ours = after[1], (bool(after[3]), int(after[1].oxygen))
assert theirs == ours, f"game over, oxygen: MinAtar {theirs}, gymnax {ours}"
