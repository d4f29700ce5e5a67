"""A board that comes again ends the game: OpenSpiel calls it drawn, pgx lost for who repeats it."""

import jax
import pgx
import pyspiel

ACTIONS = [23, 47, 24, 49, 28, 57, 80, 39, 65, 40, 67, 42, 75, 15, 58, 64, 56, 81, 63, 66, 48, 57]
reference = pyspiel.load_game("go(board_size=9)").new_initial_state()
port = pgx.make("go_9x9")
step, state = jax.jit(port.step), port.init(jax.random.key(0))
first = int(state.current_player)
for action in ACTIONS:
    reference.apply_action(action)
    state = step(state, action)
theirs, ours = reference.returns(), [float(state.rewards[first]), float(state.rewards[1 - first])]
assert theirs == ours, f"after {len(ACTIONS)} moves: OpenSpiel {theirs}, pgx {ours}"
