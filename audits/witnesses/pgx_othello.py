"""Neither side can move: OpenSpiel's game is over, and pgx asks both to pass first."""

import jax
import pgx
import pyspiel

ACTIONS = [
    26,
    18,
    19,
    34,
    41,
    21,
    29,
    33,
    13,
    48,
    42,
    50,
    49,
    43,
    57,
    12,
    25,
    14,
    20,
    45,
    51,
    24,
    44,
    59,
    4,
    32,
    52,
    37,
    30,
    38,
    5,
    60,
    10,
    31,
    23,
    6,
    40,
    7,
    15,
    3,
    11,
    56,
    16,
    8,
    58,
    39,
    22,
    2,
    54,
    46,
    61,
    53,
    9,
    1,
    47,
    55,
    17,
    62,
    63,
]
reference = pyspiel.load_game("othello").new_initial_state()
port = pgx.make("othello")
step, state = jax.jit(port.step), port.init(jax.random.key(0))
for action in ACTIONS:
    reference.apply_action(action)
    state = step(state, action)
theirs, ours = reference.is_terminal(), bool(state.terminated)
assert theirs == ours, f"over after {len(ACTIONS)} moves: OpenSpiel {theirs}, pgx {ours}"
