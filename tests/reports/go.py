"""Go on a small board, by area, where no position may come again."""

import numpy as np

from twinstep import Contract, Discrete, Field, Frame, Randomness
from twinstep.frames import flatten, unflatten
from twinstep.tests.reports.rules import SHIPPED, declared

SIDE = 4
PASS, LIMIT = SIDE * SIDE, 60
NEAR = [
    [y * SIDE + x for y, x in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
     if 0 <= y < SIDE and 0 <= x < SIDE]
    for i in range(SIDE) for j in range(SIDE)
]  # fmt: skip


def group(board, point):
    """Return the stones that are joined with one, and whether they have a liberty."""
    found, todo, free = {point}, [point], False
    while todo:
        for other in NEAR[todo.pop()]:
            free |= board[other] == 0
            if board[other] == board[point] and other not in found:
                found.add(other)
                todo.append(other)
    return found, free


def placed(board, point, colour):
    """Return the board after a stone, None where it would take its own liberties."""
    after = list(board)
    after[point] = colour
    for other in NEAR[point]:
        if after[other] == -colour:
            stones, free = group(after, other)
            if not free:
                after = [0 if at in stones else stone for at, stone in enumerate(after)]
    return tuple(after) if group(after, point)[1] else None


class Go:
    """One game: black is player 0."""

    memory = LIMIT + 1

    def __init__(self):
        self.board, self.turn, self.passes = (0,) * PASS, 0, 0
        self.past, self.clock, self.score = [self.board], 0, 0.0

    def legal(self):
        mask = np.zeros((2, PASS + 1), bool)
        mask[self.turn, PASS] = not self.over
        known = set(self.past[-self.memory :])
        for point in range(0 if self.over else PASS):
            if self.board[point] == 0:
                after = placed(self.board, point, 1 - 2 * self.turn)
                mask[self.turn, point] = after is not None and after not in known
        return mask

    @property
    def over(self):
        return self.passes == 2 or self.clock == LIMIT

    def play(self, actions):
        action = int(actions[self.turn])
        self.passes = self.passes + 1 if action == PASS else 0
        if action != PASS:
            self.board = placed(self.board, action, 1 - 2 * self.turn)
        self.past.append(self.board)
        self.turn, self.clock = 1 - self.turn, self.clock + 1
        self.score = float(sum(self.board)) if self.passes == 2 else 0.0

    def frame(self):
        legal = self.legal()
        return Frame(
            obs=np.array([self.board, np.negative(self.board)], np.int32),
            reward=np.array([self.score, -self.score], np.float32),
            terminated=np.bool_(self.passes == 2),
            truncated=np.bool_(self.clock == LIMIT and self.passes < 2),
            acting=legal.any(-1),
            legal=legal,
            state={},
        )


class Oracle:
    """The reference: one game."""

    def __init__(self, contract):
        self.game = Go()

    def reset(self, start):
        self.game = Go()
        return self.game.frame()

    def step(self, action):
        self.game.play(action)
        return self.game.frame()

    def close(self):
        pass


class Right:
    """A port: some games."""

    dtype, platform, any_size, game = "float64", "cpu", True, Go

    def __init__(self, contract):
        pass

    def reset(self, starts):
        games = [self.game() for _ in starts.seed]
        return games, self._frame(games)

    def step(self, games, actions):
        for game, action in zip(games, np.asarray(actions), strict=True):
            if not game.over:
                game.play(action)
        return games, self._frame(games)

    def _frame(self, games):
        rows = [flatten(game.frame()) for game in games]
        return unflatten({path: np.stack([row[path] for row in rows]) for path in rows[0]})


class Short(Go):
    memory = 8


class Forgets(Right):
    """pgx 1164: positions of more than eight moves before are forgotten."""

    game = Short


def contract(params):
    return Contract(
        version="go-v0",
        params=dict(params),
        action=Discrete(PASS + 1),
        observation=Field("obs", "int32", (PASS,)),
        state=(),
        players=2,
        masked=True,
        illegal="no position follows",
        randomness=Randomness("there is no chance"),
        horizon=LIMIT,
        placed=0,
        shipped=SHIPPED,
    )


ENV = declared("go", contract, ("Right", "Forgets"))
