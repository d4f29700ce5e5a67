"""python-chess against pgx's chess: pieces, legal moves, ends and rewards.

pgx ends a game at the third repetition and at 50 moves without progress, where python-chess leaves
both to a claim. Each player sees the board from the own side.
"""

import chess
import numpy as np

from audits.pair import declared, pins
from twinstep import Contract, Discrete, Field, Frame, Randomness
from twinstep.inward import from_pgx

#: An action is 73 * origin + plane. Nine planes promote to a rook, bishop or knight: straight on,
#: to the right, to the left. All others are 14 distances along four lines, and a knight's eight.
LESSER, SIDEWAYS = (chess.ROOK, chess.BISHOP, chess.KNIGHT), (0, 1, -1)
FAR = (*range(-7, 0), *range(1, 8))
LINES = [(far * x, far * y) for x, y in ((0, 1), (1, 0), (1, 1), (1, -1)) for far in FAR]
LEAPS = [(x * a, y) for x in (-1, 1) for a, b in ((2, 1), (1, 2)) for y in (-b, b)]

CONTRACT = Contract(
    version="pgx_chess-v0",
    params={},
    action=Discrete(64 * 73),
    observation=Field("obs", "bool", (8, 8, 12)),
    state=(),
    randomness=Randomness("none"),
    players=2,
    masked=True,
    illegal="it raises",
    truncates=False,
    # pgx ends every game after 512 moves.
    horizon=500,
)


class Oracle:
    """One game of python-chess."""

    def __init__(self, contract):
        self.board = chess.Board()

    def reset(self, start):
        self.board.reset()
        return self._frame()

    def step(self, action):
        self.board.push(self.moves[int(action[self._mover()])])
        return self._frame()

    def close(self):
        pass

    def _mover(self):
        return 0 if self.board.turn == chess.WHITE else 1

    def _square(self, square, player):
        """Return pgx's number of a square: files first, ranks from the player's side."""
        rank = chess.square_rank(square)
        return chess.square_file(square) * 8 + (rank if player == 0 else 7 - rank)

    def _label(self, move):
        begin, end = (self._square(at, self._mover()) for at in (move.from_square, move.to_square))
        across, up = (to - at for at, to in zip(divmod(begin, 8), divmod(end, 8), strict=True))
        if move.promotion in LESSER:
            return begin * 73 + 3 * LESSER.index(move.promotion) + SIDEWAYS.index(across)
        return begin * 73 + 9 + (LINES + LEAPS).index((across, up))

    def _pieces(self, player):
        seen = np.zeros((8, 8, 12), bool)
        for square, piece in self.board.piece_map().items():
            file, rank = divmod(self._square(square, player), 8)
            other = 6 * (piece.color != (player == 0))
            seen[7 - rank, file, piece.piece_type - 1 + other] = True
        return seen

    def _frame(self):
        board = self.board
        self.moves = {self._label(move): move for move in board.legal_moves}
        drawn = (
            board.is_insufficient_material()
            or board.halfmove_clock >= 100
            or board.is_repetition(3)
        )
        over = not self.moves or drawn
        acting = np.zeros(2, bool)
        legal = np.zeros((2, 64 * 73), bool)
        if not over:
            acting[self._mover()] = True
            legal[self._mover(), list(self.moves)] = True
        reward = np.zeros(2, np.float32)
        if board.is_checkmate():
            reward[:] = 1
            reward[self._mover()] = -1
        return Frame(
            obs=np.stack([self._pieces(player) for player in (0, 1)]),
            reward=reward,
            terminated=np.bool_(over),
            truncated=np.bool_(False),
            acting=acting,
            legal=legal,
            state={},
        )


Candidate = from_pgx("chess", observation=lambda seen: seen[..., :12] > 0)
probe = pins("chess", "pgx", "jax")
PAIR = declared(__name__, "python-chess", CONTRACT, slow_to_compile=True)
