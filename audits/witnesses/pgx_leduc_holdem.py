"""After a fold in the first round, pgx's last observation shows the card that was never dealt."""

import jax
import pgx
import pyspiel

reference, port = pyspiel.load_game("leduc_poker").new_initial_state(), pgx.make("leduc_holdem")
for action in (1, 0, 2, 0):  # deal two cards, raise, fold
    reference.apply_action(action)
state = port.init(jax.random.PRNGKey(0))
for action in (1, 2):  # raise, fold
    state = port.step(state, action)
theirs, ours = sum(reference.observation_tensor(0)[8:14]), int(port.observe(state, 0)[3:6].sum())
assert theirs == ours, f"public cards seen: OpenSpiel {theirs:.0f}, pgx {ours}"
