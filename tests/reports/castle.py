"""A rank of eight squares with a king and rooks: they move along it, and may castle."""

import numpy as np

from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.tests.reports.rules import SHIPPED, Rules, declared, hashed

EMPTY, ROOK, KING, OTHER = range(4)
#: Castling's action -> the rook's square, the king's next one, the rook's next one.
CASTLINGS = {64: (0, 2, 3), 65: (7, 6, 5)}
LIMIT = 24


class Castle(Rules):
    """Action 8 * from + to moves a piece."""

    def begin(self, seed):
        self.rank = np.array([ROOK, EMPTY, EMPTY, EMPTY, KING, EMPTY, EMPTY, ROOK], np.int32)
        self.rank[(2, 3, 5, 6)[hashed(seed) % 4]] = OTHER
        self.rights = np.ones(2, np.int32)
        self.clock = 0

    def legal(self):
        mask = np.zeros(66, bool)
        for piece in np.flatnonzero(self.rank):
            for way in (-1, 1):
                to = piece + way
                while 0 <= to < 8 and self.rank[to] == EMPTY:
                    mask[8 * piece + to] = True
                    if self.rank[piece] == KING:
                        break
                    to += way
        for side, action in enumerate(CASTLINGS):
            mask[action] = self.rights[side] and not self.between(CASTLINGS[action][0]).any()
        return mask

    def between(self, rook):
        """Return the squares between the king, who has not moved, and a rook's."""
        return self.rank[min(rook, 4) + 1 : max(rook, 4)]

    def play(self, action):
        self.clock += 1
        if action in CASTLINGS:
            rook, king, beside = CASTLINGS[action]
            self.rank[[4, king]] = EMPTY, KING
            self.castled(rook, beside)
            self.rights[:] = 0
            return 1.0, False, self.clock >= LIMIT
        begin, end = divmod(int(action), 8)
        self.rank[[begin, end]] = EMPTY, self.rank[begin]
        gone = {0: (0,), 7: (1,), 4: (0, 1)}
        for side in gone.get(begin, ()):
            self.rights[side] = 0
        return 0.0, False, self.clock >= LIMIT

    def castled(self, rook, beside):
        self.rank[[rook, beside]] = EMPTY, ROOK

    def seen(self):
        return np.concatenate([self.rank, self.rights])


class Through(Castle):
    """open_spiel 1125: castling jumps over a rook: only the king's own way is looked at."""

    def between(self, rook):
        return super().between(rook)[-2:] if rook == 0 else super().between(rook)


class Left(Castle):
    """pgx 982: after castling the rook is forgotten where it was."""

    def castled(self, rook, beside):
        pass


class Raising(Castle):
    """pgx 982 again, in a port that raises where its rook is missing."""

    def castled(self, rook, beside):
        raise IndexError(f"no rook beside the king on {rook}")


def contract(params):
    return Contract(
        version="castle-v0",
        params=dict(params),
        action=Discrete(66),
        observation=Field("obs", "int32", (10,), names=(*"abcdefgh", "long", "short")),
        state=(
            Field("rank", "int32", (8,), low=0, high=3, step=1),
            Field("rights", "int32", (2,), low=0, high=1, step=1),
            Field("clock", "int32", low=0, high=LIMIT - 1, step=1),
        ),
        masked=True,
        illegal="no position follows",
        randomness=Randomness("both hash the seed", parts={"start": ("obs",)}),
        horizon=LIMIT,
        placed=0,
        shipped=SHIPPED,
    )


HOOKS = {"fields": {name: name for name in ("rank", "rights", "clock")}}
Oracle = oracle_from_gym(Castle, **HOOKS)
Right = from_gym(Castle, **HOOKS)
Jumps = from_gym(Through, **HOOKS)
Forgets = from_gym(Left, **HOOKS)
Raises = from_gym(Raising, **HOOKS)
ENV = declared("castle", contract, ("Right", "Jumps", "Forgets", "Raises"))
