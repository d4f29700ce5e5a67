"""How many lanes are recorded and replayed together: fewer where a frame is large.

Most environments have frames of some hundred bytes. One with memory and pictures has fifty
thousand, and a hundred lanes of it would not fit into a small machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinstep.contract import Contract

#: Episodes per chunk at most; a candidate replays a chunk in one batch.
LANES = 128
#: Episodes that are asked again at once at most, and lanes of looks at single steps.
FEW = 32
#: Bytes of one window of frames that are held at once, in one of several copies.
BUDGET = 192 << 20
#: Steps of a recording under auto-reset at most.
LIMIT = 8192
#: Lanes of it at least: as many as the adapters are tried with.
FEWEST = 8


def frame_bytes(contract: Contract) -> int:
    """Return the bytes of one lane's frame."""
    return sum(
        np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
        for dtype, shape in contract.layout().values()
    )


def chunk_lanes(contract: Contract) -> int:
    """Return the episodes per chunk: LANES, or fewer so that a window of frames fits BUDGET."""
    steps = min(WINDOW, contract.horizon) + 1
    return int(np.clip(BUDGET // (frame_bytes(contract) * steps), 1, LANES))


def replay_batch(contract: Contract) -> int:
    """Return how many episodes are asked again at once, while shrinking."""
    return min(FEW, chunk_lanes(contract))


class AutoresetSize(NamedTuple):
    """Of a recording under auto-reset: lanes, and steps at least and at most."""

    lanes: int
    steps: int
    limit: int


def autoreset_size(contract: Contract) -> AutoresetSize:
    """Return the size of a recording under auto-reset, which is held in memory whole."""
    most, steps = contract.shipped
    lanes = BUDGET // (frame_bytes(contract) * (steps + 1))
    if lanes < most:
        # Rather shorter than few lanes, but long enough for one whole episode.
        steps = max(WINDOW, -(-min(contract.horizon, steps) // WINDOW) * WINDOW)
        lanes = BUDGET // (frame_bytes(contract) * (steps + 1))
    return AutoresetSize(int(np.clip(lanes, FEWEST, most)), steps, LIMIT)


#: Frames per window; also the length of the candidates' compiled rollouts.
WINDOW = 256
