"""The 100th step ends the episode: bsuite terminates it, gymnax truncates it."""

import gymnax
import jax
from bsuite.environments.discounting_chain import DiscountingChain

reference, (port, rules) = DiscountingChain(0), gymnax.make("DiscountingChain-bsuite")
reference.reset()
state = port.reset_env(jax.random.key(0), rules)[1]
for _ in range(100):
    now = reference.step(0)
    state, ends = (answer := port.step_env(None, state, 0, rules))[1], answer[3]
assert (now.discount == 0) == ends, f"bsuite terminates {now.discount == 0}, gymnax {ends}"
