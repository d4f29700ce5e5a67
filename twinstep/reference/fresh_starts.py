"""The oracle's child process, which also begins episodes of its own.

Apart from worker.py, whose source is part of every trace's key: fresh starts change no trace.
"""

from __future__ import annotations

import numpy as np

from twinstep.frames import flatten
from twinstep.reference import worker


class Host(worker.OracleHost):
    """Own the oracle and execute the parent's requests."""

    def fresh(self, seeds: np.ndarray) -> dict[str, np.ndarray]:
        """Begin an episode of the oracle's own from each seed u32[N, 2]; path -> [N, ...]."""
        rows = []
        for episode, seed in enumerate(seeds):
            self.beat(episode, 0)
            frame = flatten(self.oracle.fresh(seed))
            rows.append({path: np.array(value) for path, value in frame.items()})
        return {path: np.stack([row[path] for row in rows]) for path in rows[0]}


def serve(handle: int, life_file: str) -> None:
    """Serve requests until the pipe closes."""
    worker.OracleHost = Host
    worker.serve(handle, life_file)
