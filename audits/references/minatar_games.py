"""The contracts of MinAtar's games that several libraries port, and their oracles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from audits.references.minatar import GAME, MinAtar
from twinstep import Contract, Discrete, Distribution, Field, GateRule, Randomness
from twinstep.inward import oracle_from_gym

BREAKOUT = ("ball_y", "ball_x", "ball_dir", "pos", "last_y", "last_x", "strike", "brick_map")
_MAPS = ("f_bullet_map", "e_bullet_map", "alien_map")
#: Name -> range.
_NUMBERS = {
    "pos": (0, 9),
    "alien_dir": (-1, 1),
    "enemy_move_interval": (6, 12),
    "alien_move_timer": (0, 12),
    "alien_shot_timer": (0, 10),
    "shot_timer": (0, 5),
    "ramp_index": (0, 6),
}
SPACE_INVADERS = (*_MAPS, *_NUMBERS)
#: Boards drawn cell by cell are impossible. gymnax ends an episode after 1,000 steps, MinAtar never
#: does by time.
_COMMON: dict[str, Any] = {"params": {}, "truncates": False, "placed": 0, "horizon": 900}


def drawn(
    version: str, name: str, channels: int, actions: int, ends: bool = True
) -> tuple[Contract, Any]:
    """Return contract and oracle of a game whose draws no row of words gives to a port.

    Its first 200 steps are compared in distribution. ends: whether episodes end so soon.
    """
    contract = Contract(
        version=version,
        params={},
        action=Discrete(actions),
        observation=Field("obs", "bool", (10, 10, channels)),
        state=(),
        randomness=Randomness("each side's own"),
        gates=(GateRule(Distribution(steps=200)),),
        truncates=False,
        ends=ends,
        horizon=200,
    )
    return contract, oracle_from_gym(lambda: MinAtar(name))


def breakout(version: str) -> tuple[Contract, Any]:
    """Return contract and oracle of Breakout; the drawn side of the ball is part of the start."""
    places = [Field(name, "int32", low=0, high=9, step=1) for name in BREAKOUT[:6]]
    places[2] = Field("ball_dir", "int32", low=0, high=3, step=1)
    contract = Contract(
        version=version,
        action=Discrete(3),
        observation=Field("obs", "bool", (10, 10, 4)),
        state=(
            *places,
            Field("strike", "bool"),
            Field("brick_map", "float32", (10, 10), low=0, high=1, step=1),
        ),
        starts=(Field("side", "int32"),),
        make_start=lambda seed: {"side": np.int32(seed[0] & 1)},
        randomness=Randomness("the side is placed in both", parts={"side": ("obs",)}),
        **_COMMON,
    )

    def place(env: Any, start: Any) -> np.ndarray:
        side = int(start.fields["side"])
        env.game.ball_x, env.game.ball_dir = ((0, 2), (9, 3))[side]
        env.game.last_x = env.game.ball_x
        return env.game.state()

    fields = {name: GAME.format(name) for name in BREAKOUT}
    return contract, oracle_from_gym(lambda: MinAtar("breakout"), place=place, fields=fields)


def ball_at(prefix: str) -> Callable[[Any, Any], Any]:
    """Return the `place` of a port whose state has the fields of MinAtar's with a prefix."""

    def place(state: Any, start: Any) -> Any:
        side = start.fields["side"]
        values = {"ball_x": 9 * side, "last_x": 9 * side, "ball_dir": jnp.where(side, 3, 2)}
        return state.replace(**{prefix + name: value for name, value in values.items()})

    return place


def space_invaders(version: str) -> tuple[Contract, Any]:
    """Return contract and oracle of Space Invaders, which draws nothing."""
    contract = Contract(
        version=version,
        action=Discrete(4),
        observation=Field("obs", "bool", (10, 10, 6)),
        state=(
            *(Field(name, "float32", (10, 10), low=0, high=1, step=1) for name in _MAPS),
            *(Field(n, "int32", low=a, high=b, step=1) for n, (a, b) in _NUMBERS.items()),
        ),
        randomness=Randomness("none"),
        **_COMMON,
    )
    fields = {name: GAME.format(name) for name in SPACE_INVADERS}
    return contract, oracle_from_gym(lambda: MinAtar("space_invaders"), fields=fields)
