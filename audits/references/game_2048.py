"""gymnasium-2048 as the reference of 2048's ports.

A tile is its power of two, 0 for an empty cell. Each takes two words: its cell, then its value.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium_2048.envs import TwentyFortyEightEnv

from twinstep import Contract, Discrete, Field
from twinstep.chance import Draws, Row
from twinstep.inward import oracle_from_gym

#: A reset draws two tiles.
ROW = Row({"tile": 4})
#: In gymnasium-2048's order.
MOVES = ("up", "right", "down", "left")


class Mirrored:
    """A generator whose real numbers are read from above: the ports' small ones give a 2."""

    def __init__(self, draws: Draws) -> None:
        self._generator = draws.generator()

    def choice(self, count: int) -> int:
        return self._generator.choice(count)

    def random(self) -> float:
        return 1 - self._generator.random()


def game(version: str, moves: tuple[str, ...] = MOVES) -> tuple[Contract, Any]:
    """Return contract and oracle. moves: the port's order of actions."""
    numbers = [MOVES.index(name) for name in moves]
    contract = Contract(
        version=version,
        params={},
        action=Discrete(4, moves),
        observation=Field("obs", "int32", (4, 4)),
        # No driver makes a larger tile than 2,048.
        state=(Field("board", "int32", (4, 4), low=0, high=11, step=1), *ROW.state),
        starts=ROW.starts,
        make_start=ROW.make_start,
        randomness=ROW.randomness,
        masked=True,
        illegal="it leaves the board",
        truncates=False,
        horizon=1000,
    )
    make = TwentyFortyEightEnv

    def load(env: gym.Env, fields: Any) -> None:
        env.unwrapped.board = fields["board"].astype(np.uint8)

    oracle = oracle_from_gym(
        make,
        chance=ROW,
        sites={"_spawn_tile": "tile"},
        install=lambda env, draws: setattr(env, "np_random", Mirrored(draws)),
        act=lambda action: numbers[int(action)],
        observation=lambda obs: obs.argmax(-1).astype(np.int32),
        legal=lambda env: np.array([make.apply_action(env.board, n)[2] for n in numbers]),
        fields={"board": lambda env: env.board.astype(np.int32)},
        load=load,
    )
    return contract, oracle
