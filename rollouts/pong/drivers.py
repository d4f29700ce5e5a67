"""A policy that plays Pong well and untidily: it wins most games and visits the edges.

Random actions reach few rallies: a ball that is not returned never gets fast, and the rules
for fast, clipped and lifted balls stay untried. This policy goes where the ball will arrive,
meets it with a moving paddle to make it faster, and sometimes with an edge, flat, or with a
near miss.
"""

from __future__ import annotations

import numpy as np

from twinstep.contract import Box, Contract
from twinstep.drivers import Act, Look, noise
from twinstep.frames import Frame, Start

SPEED = 8.0  # of a paddle, pixels a frame
BALL_X = 10.0  # speed of the ball along x, pixels a frame
RIGHT = 468.0  # the ball's left edge where it touches the right side
FLOOR = 608.0  # the ball's top edge where it touches the lower wall
#: Where the paddle's top may stand from the ball's top: beyond these it misses.
REACH = (-69.0, 31.0)
CENTRE = -19.0
#: Offsets that touch by a pixel, or miss by one.
EDGES = np.array([-69.0, 31.0, -68.0, 30.0, -69.0, 31.0, -70.0, 32.0])


def tracking(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Return act(frame, t) -> actions [N, 1] for oracle frames of `contract`.

    Its plan for a rally depends on the seed and on the frame's counts of draws and bounces,
    its slips on the seed and t. `look` is not used.
    """
    seed = np.asarray(starts.seed, np.uint32)
    frames = int(contract.params["frameskip"])
    box = contract.action if isinstance(contract.action, Box) else None
    # Two lanes in three play to win within the horizon, the third one experiments.
    eager = noise(seed, 0, 7) % 3 < 2
    dtype, _ = contract.action_layout()

    def act(frame: Frame, t: int) -> np.ndarray:
        state = {name: np.asarray(value) for name, value in frame.state.items()}
        rally = _rally(seed, state)
        left, ball_y, ball_vy = _impact(state)
        swing, offset = _plan(rally, ball_vy, eager)
        if box is not None:
            scales = np.array([1.0, 0.7, 0.31, box.beyond])
            swing = swing * np.where(
                eager, scales[3 * _pick(rally, 5, 2)], scales[_pick(rally, 5, 4)]
            )
        paddle = state["paddle_yr"].astype(np.float64)
        # Frames of the step in which the ball arrives, up to its arrival.
        last = (left - 1) % frames + 1
        ready = ball_y + offset - swing * SPEED * last
        direction = np.clip((ready - paddle) / (SPEED * frames), -1.0, 1.0)
        if box is None:
            direction = np.round(direction)
        arrives = left <= frames
        direction = np.where(arrives, _meet(paddle, ball_y, offset, swing, left, box), direction)
        slips = noise(seed, t, 1)
        slip = slips % np.where(eager, np.uint32(512), np.uint32(64)) == 0
        direction = np.where(slip, (slips >> 8) % 3 - 1.0, direction)
        if box is None:
            # 0 stays, 1 is up (y grows), 2 is down.
            return np.where(direction < 0, 2, direction).astype(dtype)[:, None]
        return direction.astype(dtype)[:, None]

    return act


def _rally(seed: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
    """Return u32[N, 2], a seed for the ball's present flight."""
    flight = state["draws"].astype(np.uint32) * np.uint32(4096) + (
        state["n_bounces"].astype(np.uint32) + (state["ball_vx"] > 0)
    ).astype(np.uint32)
    return np.stack([seed[:, 0] ^ flight, seed[:, 1]], -1)


def _pick(rally: np.ndarray, salt: int, count: int) -> np.ndarray:
    return (noise(rally, 0, salt) % np.uint32(count)).astype(np.int64)


def _impact(state: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return frames until the ball reaches the right side, and its y and vy there.

    Folds the flight at the walls, which is slightly wrong and corrects itself on the way.
    """
    x, y, vx, vy = (
        state[name].astype(np.float64) for name in ("ball_x", "ball_y", "ball_vx", "ball_vy")
    )
    way = np.where(vx > 0, RIGHT - x, x + RIGHT)
    left = np.maximum(np.floor(way / BALL_X) + 1, 1)
    far = (y + vy * left) % (2 * FLOOR)
    turned = far > FLOOR
    return left, np.where(turned, 2 * FLOOR - far, far), np.where(turned, -vy, vy)


def _plan(rally: np.ndarray, vy: np.ndarray, eager: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the paddle's direction when it meets the ball, and the place of the meeting."""
    faster = np.where(vy == 0, 1.0 - 2.0 * _pick(rally, 2, 2), np.sign(vy))
    style = _pick(rally, 3, 10)
    swing = np.where(eager | (style < 8), faster, np.where(style == 8, 0.0, -faster))
    somewhere = REACH[0] + 10 + _pick(rally, 4, 81)
    edge = EDGES[_pick(rally, 4, len(EDGES))]
    return swing, np.where(_pick(rally, 6, 60) < np.where(eager, 1, 10), edge, somewhere)


def _meet(
    paddle: np.ndarray,
    ball_y: np.ndarray,
    offset: np.ndarray,
    swing: np.ndarray,
    left: np.ndarray,
    box: Box | None,
) -> np.ndarray:
    """Return the direction for the step of the impact: the swing, if it still hits.

    Otherwise the nearest to the ball's middle, or for a planned edge the nearest to that.
    """

    def there(direction: np.ndarray) -> np.ndarray:
        return np.clip(paddle + direction * SPEED * left, -35, 605) - ball_y

    planned = there(swing)
    edge = (offset <= REACH[0] + 1) | (offset >= REACH[1] - 1)
    hits = (planned >= REACH[0]) & (planned <= REACH[1])
    keeps = np.where(edge, np.abs(planned - offset) < 1, hits)
    goal = np.where(edge, offset, CENTRE)
    if box is not None:
        best = np.clip((ball_y + goal - paddle) / (SPEED * left), -1.0, 1.0)
    else:
        options = np.array([-1.0, 0.0, 1.0])[:, None]
        best = options[np.abs(there(options) - goal).argmin(0), 0]
    return np.where(keeps, swing, best)
