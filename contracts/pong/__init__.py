"""Contract of pong-v0: PufferLib 3.0.0's C Pong (`pufferlib/ocean/pong/pong.h`).

Facts about the reference are in its source, lines as of that version:
* The state is float32 throughout; without continuous actions it holds only whole numbers.
* A serve draws once (`rand() % 2 - 1`, line 111). No other randomness exists.
* Draws are injected: the k-th of an episode is h32(rng_key ^ k * 0x9e3779b9) >> 1, with
  k = `draws` counted from 0 and rng_key = h32(seed[0] ^ h32(seed[1])). h32 is the 32-bit
  hash x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16. The oracle
  and candidates each implement it.
* XLA flushes subnormal numbers to zero on a CPU, and the C keeps them. The grids here draw none,
and play cannot show one: it could only arise in ball_vy, where the paddle's direction is
added (line 198), and there everything below 0.01 becomes 3 (line 200).
* The step resets by itself at an episode's end. The terminal frame here is the episode's
  own: the scores as they stood, the round reset as after any point (with its one draw), the
  observation stale (lines 177-185 and 208-216 return before `compute_observations`). `restart`
  zeroes both scores and refreshes the observation, with reward 0 and not terminated; the
  round, win, paddle_dir and draws stay, so it draws nothing. Its state and observation are
  bit for bit those that the reference returns in place of the terminal frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contract import (
    Box,
    Contract,
    Discrete,
    Field,
    Measure,
    Module,
    Randomness,
    Role,
)
from twinstep.errors import UserError
from twinstep.gates import GateRule, Lockstep
from twinstep.plans import Transfer

OBSERVATION = (
    "paddle_left",
    "paddle_right",
    "ball_x",
    "ball_y",
    "ball_vx",
    "ball_vy",
    "score_left",
    "score_right",
)

EVENTS = (
    "agent_bounce",
    "opponent_bounce",
    "wall_bounce",
    "corner_bounce",  # wall and paddle in one frame
    "point_won",
    "point_lost",
    "game_won",
    "game_lost",
    "agent_paddle_clipped",
    "opponent_paddle_clipped",
    "vy_limited",  # |vy| was held at 13
    "flat_ball_lifted",  # |vy| < 0.01 at the right paddle became 3
    "flat_serve",  # a serve with vy = 0
    "ball_clipped_x",
    "ball_clipped_y",
    # A bounce and a point never share a step: the ball takes 46 frames from side to side.
)

#: Length of the injected table of draws with rng=stock: an episode serves at most
#: 2 * max_score - 1 times, and its restart once more.
STOCK_DRAWS = 64


def _state(params: Mapping[str, Any]) -> tuple[Field, ...]:
    grid = 0.0 if params["continuous"] else 1.0
    last = params["max_score"] - 1

    def real(name: str, low: float, high: float, step: float = grid, doc: str = "") -> Field:
        return Field(name, "float32", low=low, high=high, step=step, doc=doc)

    def whole(name: str, dtype: str, high: int, doc: str = "") -> Field:
        return Field(name, dtype, low=0, high=high, step=1, doc=doc)

    return (
        real("paddle_yl", -35, 605, doc="top of the left (opponent's) paddle"),
        real("paddle_yr", -35, 605, doc="top of the right (agent's) paddle"),
        real("ball_x", -10, 468, step=1, doc="left edge of the ball; never clipped on the left"),
        real("ball_y", -13, 621, doc="top of the ball; may leave [0, 608] for a frame"),
        real("ball_vx", -10, 10, step=20),
        real("ball_vy", -13, 13),
        real("paddle_dir", -1, 1, doc="the last action's direction; survives resets"),
        whole("score_l", "uint32", last),
        whole("score_r", "uint32", last),
        whole("tick", "int32", 3000, "steps since the last serve, not of the episode"),
        whole("n_bounces", "int32", 200, "both sides' bounces since the last serve"),
        whole("win", "int32", 1, "1 if the agent won the last point; survives resets"),
        Field(
            "last_obs",
            "float32",
            (8,),
            low=-13 / 640,
            high=1,
            names=OBSERVATION,
            doc="the observation buffer: after a point it still holds the frame before",
        ),
        Field("rng_key", "uint32", low=0, high=2**32 - 1, step=1, doc="key of the draws"),
        Field(
            "draws",
            "uint32",
            low=0,
            # A restart keeps the count: it grows for as long as a lane is played.
            high=STOCK_DRAWS - 1 if params["rng"] == "stock" else 2**32 - 1,
            step=1,
            doc="draws made so far",
        ),
        Field(
            "log",
            "float32",
            (5,),
            low=0,
            high=100,
            role=Role.IRRELEVANT,
            names=("perf", "score", "episode_return", "episode_length", "n"),
            doc="the reference's own statistics; written at an episode's end, never read",
        ),
    )


#: Inputs at which a side's collision changes its behaviour: the paddle's height, the ball's size,
#: the field's edges, the ball's clip, the speed's limit and increment.
_LANDMARKS = (0.0, 32.0, 70.0, 468.0, 500.0, 608.0, 13.0, 3.0)


def _modules(params: Mapping[str, Any], state: tuple[Field, ...]) -> tuple[Module, ...]:
    field = {f.name: f for f in state}
    if params["continuous"]:
        action = Field("action", "float32", low=-1.5, high=1.5)
    else:
        action = Field("action", "int32", low=0, high=2, step=1)
    reward = Field("reward", "float32")
    point = Field("point", "bool", doc="a point was scored: the step ends here")
    terminated = Field("terminated", "bool")

    def pick(*names: str) -> tuple[Field, ...]:
        return tuple(field[name] for name in names)

    # Beyond the sides by as much as a frame moves the ball. Always whole, because serves, clips
    # and vx are.
    moved = Field("ball_x", "float32", low=-10, high=478, step=1)
    # The oracle's own move is set up to end at these; on this grid no sum rounds.
    fine = 1 / 64 if params["continuous"] else 1.0
    moved_y = Field("ball_y", "float32", low=-13, high=621, step=fine)
    bounced_vy = Field("ball_vy", "float32", low=-13, high=13, step=fine)
    return (
        Module(
            "agent_paddle",
            inputs=(field["paddle_yr"], action),
            outputs=pick("paddle_yr", "paddle_dir"),
            landmarks=(-35.0, 605.0, 8.0),
            source="pong.h:128-140,143,151-152",
            doc="Moves the agent's paddle by 8 in the action's direction, clipped.",
        ),
        Module(
            "opponent_paddle",
            inputs=pick("paddle_yl", "ball_y"),
            outputs=pick("paddle_yl"),
            landmarks=(-35.0, 605.0, 8.0, 35.0),
            source="pong.h:146-148,153-154",
            doc="Follows the ball's top edge with its centre, at most 8 a frame, clipped.",
        ),
        Module(
            "ball",
            inputs=pick("ball_x", "ball_y", "ball_vx", "ball_vy"),
            outputs=pick("ball_x", "ball_y", "ball_vy"),
            landmarks=(0.0, 608.0, 13.0),
            source="pong.h:157-163",
            doc="Moves the ball; past the top or bottom edge vy changes its sign.",
        ),
        Module(
            "left_side",
            inputs=(
                moved,
                *pick("ball_y", "ball_vx", "paddle_yl", "score_r", "win", "n_bounces"),
            ),
            outputs=(
                *pick("ball_vx", "n_bounces", "score_r", "win"),
                reward,
                point,
                terminated,
            ),
            needs=("opponent_paddle", "ball"),
            landmarks=_LANDMARKS,
            source="pong.h:166-187",
            doc="Bounce on the opponent's paddle, or the agent's point. Inputs are the values "
            "after both paddles and the ball moved. ball_vx and n_bounces are 0 after a point.",
        ),
        Module(
            "right_side",
            inputs=(
                moved,
                moved_y,
                field["ball_vx"],
                bounced_vy,
                *pick("paddle_yr", "paddle_dir", "score_l", "win", "n_bounces"),
            ),
            outputs=(
                *pick("ball_x", "ball_y", "ball_vx", "ball_vy", "n_bounces", "score_l", "win"),
                reward,
                point,
                terminated,
            ),
            needs=("agent_paddle", "ball", "left_side"),
            landmarks=_LANDMARKS,
            source="pong.h:190-222",
            doc="Bounce on the agent's paddle (which changes vy), or the opponent's point. "
            "Inputs are the values after both paddles and the ball moved. The ball's four "
            "fields and n_bounces are 0 after a point.",
        ),
        Module(
            "serve",
            inputs=pick("rng_key", "draws"),
            outputs=pick(
                "paddle_yl",
                "paddle_yr",
                "ball_x",
                "ball_y",
                "ball_vx",
                "ball_vy",
                "tick",
                "n_bounces",
                "draws",
            ),
            needs=("left_side", "right_side"),
            # Values where a count of fewer than 32 bits wraps, and where a float32 loses ones.
            landmarks=(128.0, 256.0, 2.0**15, 2.0**16, 2.0**24, 2.0**31),
            source="pong.h:105-114",
            doc="The round's reset: one draw decides vy, -1 or 0.",
        ),
        Module(
            "observe",
            inputs=pick(
                "paddle_yl",
                "paddle_yr",
                "ball_x",
                "ball_y",
                "ball_vx",
                "ball_vy",
                "score_l",
                "score_r",
            ),
            outputs=(Field("obs", "float32", (8,), names=OBSERVATION),),
            needs=("serve",),
            source="pong.h:94-103",
            doc="Six true float32 divisions and two whole-number ones.",
        ),
    )


def contract(params: Mapping[str, Any]) -> Contract:
    """Return the contract of pong-v0; UserError if the parameters are inconsistent."""
    _require(params)
    state = _state(params)
    modules = _modules(params, state)
    stock = params["rng"] == "stock"
    if stock:
        # The C library's generator has no key and is not part of the reference's state.
        state = tuple(f for f in state if f.name != "rng_key")
        modules = tuple(m for m in modules if m.name != "serve")
    return Contract(
        version="pong-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, beyond=1.5)
        if params["continuous"]
        else Discrete(3, ("stay", "up", "down")),
        observation=Field("obs", "float32", (8,), names=OBSERVATION),
        state=state,
        modules=modules,
        starts=(Field("draw_table", "uint32", (STOCK_DRAWS,)),) if stock else (),
        make_start=_stock_start if stock else None,
        randomness=Randomness(
            "the C library's srand(seed) and rand(), replayed from a table"
            if stock
            else "one injected draw a serve, h32(rng_key ^ draws * 0x9e3779b9) >> 1",
            draws="draws",
            parts={"serve": ("state.ball_vy",)},
        ),
        # XLA may use a division of 2 ulp on a GPU; the state holds no quotient.
        gates=(
            GateRule(Lockstep(atol=2e-7), fields="obs", platform="gpu"),
            GateRule(Lockstep(atol=2e-7), fields="state.last_obs", platform="gpu"),
        ),
        events=EVENTS,
        measures=(
            Measure("largest |vy|", "state.ball_vy"),
            Measure("longest rally", "state.n_bounces", "max"),
        ),
        drivers=("random", "sticky", "tracking", "seeking"),
        horizon=8000 // params["frameskip"],
        reset_mode="same-step",
        truncates=False,
        # A table of draws is long enough for one episode.
        auto_resets=("off",) if stock else ("off", "same-step", "next-step"),
        source_view="verbatim",
        transfer=_transfer(params),
    )


def _transfer(params: Mapping[str, Any]) -> Transfer | None:
    """Return level 4's requirements: the game as PufferLib trains it.

    A score is the difference in points; a bounce's reward of 0.1 is shaping.
    """
    trained = {"frameskip": 8, "continuous": False, "max_score": 21, "rng": "hash"}
    if dict(params) != trained:
        return None
    return Transfer(margin=1.0, solved=19.0, counted=0.5)


def _require(params: Mapping[str, Any]) -> None:
    for name, least in (("frameskip", 1), ("max_score", 1)):
        if params[name] < least:
            raise UserError(f"{name}={params[name]}: at least {least} is needed")
    if params["rng"] == "stock" and 2 * params["max_score"] > STOCK_DRAWS:
        raise UserError(
            f"max_score={params['max_score']} with rng=stock: at most {STOCK_DRAWS // 2}, "
            "the length of the table of draws"
        )


def _stock_start(seed: np.ndarray) -> dict[str, np.ndarray]:
    """Return the first draws of glibc's rand() after srand(seed[0])."""
    return {"draw_table": glibc_rand(int(seed[0]), STOCK_DRAWS)}


def glibc_rand(seed: int, count: int) -> np.ndarray:
    """Return `count` values of glibc's `rand()` after `srand(seed)`, u32[count].

    Its default generator adds the values 3 and 31 places back; the first 34 come from a
    Lehmer generator, the next 310 are discarded, and the lowest bit is dropped.
    """
    word = seed or 1
    table = [word - (1 << 32) if word >= 1 << 31 else word]
    for _ in range(30):
        high, low = divmod(abs(table[-1]), 127773)
        if table[-1] < 0:
            high, low = -high, -low
        word = 16807 * low - 2836 * high
        table.append(word + 2147483647 if word < 0 else word)
    table += table[:3]
    for place in range(34, 344 + count):
        table.append((table[place - 31] + table[place - 3]) & 0xFFFFFFFF)
    return np.array([(value & 0xFFFFFFFF) >> 1 for value in table[344:]], np.uint32)
