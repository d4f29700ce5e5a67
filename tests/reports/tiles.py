"""2048 on nine cells: tiles slide and merge, then a new one appears."""

import numpy as np

from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.tests.reports.rules import SHIPPED, Rules, declared, hashed

SIDE = 3


def slid(line):
    """Return a line slid to its front, and what its merges are worth."""
    tiles, out, worth = [tile for tile in line if tile], [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tiles.pop(0)
            tile += 1
            worth += 2**tile
        out.append(tile)
    return [*out, *[0] * (len(line) - len(out))], worth


def moved(board, way):
    """Return the board after a move, 0 left, 1 up, 2 right, 3 down, and its worth."""
    turned = np.rot90(board, way)
    rows = [slid(row.tolist()) for row in turned]
    return np.rot90(np.array([row for row, _ in rows], np.int32), -way), sum(w for _, w in rows)


class Tiles(Rules):
    def begin(self, seed):
        self.board = np.zeros((SIDE, SIDE), np.int32)
        self.word, self.draws = np.uint32(hashed(seed) % 2**32), 0
        self.clock = 0
        self.add()
        self.mask = self.may()

    def add(self):
        """Put a new tile into a free cell."""
        free = np.flatnonzero(self.board == 0)
        if len(free):
            number = hashed(self.word, self.draws)
            self.board = self.board.copy()
            self.board.flat[free[number % len(free)]] = 1 + (number // 64 % 10 == 0)
        self.draws += 1

    def may(self):
        return np.array([(moved(self.board, way)[0] != self.board).any() for way in range(4)])

    def play(self, action):
        board, worth = moved(self.board, int(action))
        goes = (board != self.board).any()
        self.board, self.clock = board, self.clock + 1
        self.changed(goes)
        return float(worth), not self.mask.any(), self.clock >= 20

    def changed(self, goes):
        if goes:
            self.add()
        self.mask = self.may()

    def legal(self):
        return self.mask

    def seen(self):
        return self.board


class Early(Tiles):
    """jumanji 127: the mask is that before the new tile."""

    def changed(self, goes):
        self.mask = self.may()
        if goes:
            self.add()


class Always(Tiles):
    """jumanji 127: a tile appears after an impossible move, too."""

    def changed(self, goes):
        super().changed(True)


def contract(params):
    return Contract(
        version="tiles-v0",
        params=dict(params),
        action=Discrete(4, ("left", "up", "right", "down")),
        observation=Field("obs", "int32", (SIDE, SIDE)),
        state=(
            Field("board", "int32", (SIDE, SIDE), low=0, high=9, step=1),
            Field("word", "uint32"),
            Field("draws", "int32", low=0, high=200, step=1),
            Field("clock", "int32", low=0, high=19, step=1),
        ),
        masked=True,
        randomness=Randomness(
            "both hash the seed", draws="draws", parts={"start": ("state.board",)}
        ),
        horizon=20,
        placed=0,
        shipped=SHIPPED,
    )


HOOKS = {"fields": {name: name for name in ("board", "word", "draws", "clock")}}
Oracle = oracle_from_gym(Tiles, **HOOKS)
Right = from_gym(Tiles, **HOOKS)
Before = from_gym(Early, **HOOKS)
Spawns = from_gym(Always, **HOOKS)
ENV = declared("tiles", contract, ("Right", "Before", "Spawns"))
