"""A pawn's double step that nothing can take en passant: pgx counts the position as another one.

The position after the second move comes three times, which ends pgx's games; pgx sees it twice.
"""

import chess
import jax
import pgx

MOVES = ["g1f3", "a7a5", "f3g1", "b8a6", "g1f3", "a6b8", "f3g1", "b8a6", "g1f3", "a6b8"]
#: The same in pgx's numbers: 73 * origin + plane, from the mover's side.
ACTIONS = [3572, 90, 3137, 652, 3572, 217, 3137, 652, 3572, 217]
reference, port = chess.Board(), pgx.make("chess")
step, state = jax.jit(port.step), port.init(jax.random.key(0))
for move, action in zip(MOVES, ACTIONS, strict=True):
    reference.push_uci(move)
    state = step(state, action)
theirs, ours = reference.is_repetition(3), bool(state.terminated)
assert theirs == ours, f"third repetition: python-chess {theirs}, pgx {ours}"
