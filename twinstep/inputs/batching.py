"""Sizes of batches that are recorded and replayed together: fewer lanes for larger frames.

Most environments have frames of a few hundred bytes. Memory and pictures make fifty thousand, and
a hundred lanes of them would not fit into a small machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinstep.contract import Contract

#: Maximum episodes per chunk; a candidate replays a chunk in one batch.
LANES = 128
#: Maximum episodes of one batch while shrinking, and lanes where single steps are examined.
FEW = 32
#: Bytes of one window of frames in memory, in each of several copies.
BUDGET = 192 << 20
#: Maximum steps of a recording under auto-reset.
LIMIT = 8192
#: Its minimum lanes: as many as the adapters are tested with.
FEWEST = 8


def frame_bytes(contract: Contract) -> int:
    """Return the bytes of one lane's frame."""
    return sum(
        np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
        for dtype, shape in contract.layout().values()
    )


def chunk_lanes(contract: Contract) -> int:
    """Return the episodes per chunk: LANES, or fewer if a window of frames exceeds BUDGET."""
    steps = min(WINDOW, contract.horizon) + 1
    return int(np.clip(BUDGET // (frame_bytes(contract) * steps), 1, LANES))


def replay_batch(contract: Contract) -> int:
    """Return the number of episodes replayed at once while shrinking."""
    return min(FEW, chunk_lanes(contract))


class AutoresetSize(NamedTuple):
    """The size of a recording under auto-reset: lanes, minimum steps and maximum steps."""

    lanes: int
    steps: int
    limit: int


def autoreset_size(contract: Contract) -> AutoresetSize:
    """Return the size of a recording under auto-reset, which must fit into memory whole."""
    most, steps = contract.shipped
    lanes = BUDGET // (frame_bytes(contract) * (steps + 1))
    if lanes < most:
        # Fewer steps come before fewer lanes, but enough for one whole episode.
        steps = max(WINDOW, -(-min(contract.horizon, steps) // WINDOW) * WINDOW)
        lanes = BUDGET // (frame_bytes(contract) * (steps + 1))
    return AutoresetSize(int(np.clip(lanes, FEWEST, most)), steps, LIMIT)


#: Frames per window; also the length of the candidates' compiled rollouts.
WINDOW = 256
