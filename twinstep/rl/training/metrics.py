"""A run's curves: `metrics.csv`, reproducible byte for byte, and TensorBoard's event files."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from twinstep._lib import paths
from twinstep.errors import UserError

#: See ppo.Trained.
NAMES = ("reward", "return", "entropy", "value_loss", "ratio_kl")
HEADER = ",".join(("batch", "steps", "seed", *NAMES))
_RETURN = HEADER.split(",").index("return")


class Metrics:
    """The curves of one run. Only TensorBoard gets times, so that a resumed run has the same CSV.

    seeds: the training seeds, S. size: environment steps of a batch. done: number of batches to
    keep from the file; later rows belong to no checkpoint. digest: the hash after these batches.
    """

    def __init__(
        self, folder: Path, seeds: tuple[int, ...], size: int, done: int, digest: str = ""
    ) -> None:
        self._seeds, self._size, self._done = seeds, size, done
        path = folder / "metrics.csv"
        kept = _lines(path)[: done * len(seeds)] if done else []
        if len(kept) < done * len(seeds):
            raise UserError(f"{path} lacks batches that the checkpoint has: begin anew")
        #: Mean return of the latest episodes of each policy, f64[S]; NaN where none has ended.
        self.returns = np.full(len(seeds), np.nan)
        self._hash = hashlib.sha256("".join(line + "\n" for line in kept).encode())
        if done and self.digest != digest:
            raise UserError(f"{path} is not the curve that led to the checkpoint: begin anew")
        for row, line in enumerate(kept):
            if word := line.split(",")[_RETURN]:
                self.returns[row % len(seeds)] = float(word)
        paths.write_atomically(path, ("\n".join([HEADER, *kept]) + "\n").encode())
        self._file = path.open("a")
        self._boards = _boards(folder, seeds, done * size)

    def add(self, rows: Mapping[str, np.ndarray], speed: float) -> None:
        """Add batches, name -> f32[B, S]; speed: environment steps per second, of all policies."""
        for batch in range(len(rows["reward"])):
            self._done += 1
            steps = self._done * self._size
            for place, seed in enumerate(self._seeds):
                values = {name: float(rows[name][batch, place]) for name in NAMES}
                if not math.isnan(values["return"]):
                    self.returns[place] = values["return"]
                words = ["" if math.isnan(v) else f"{v:.9g}" for v in values.values()]
                line = ",".join([str(self._done), str(steps), str(seed), *words]) + "\n"
                self._hash.update(line.encode())
                self._file.write(line)
                if self._boards:
                    for name, value in (*values.items(), ("steps_per_second", speed)):
                        if not math.isnan(value):
                            self._boards[place].add_scalar(f"train/{name}", value, steps)

    @property
    def digest(self) -> str:
        """The hash of all rows so far."""
        return self._hash.hexdigest()

    def flush(self) -> None:
        """Flush the added rows to disk."""
        self._file.flush()
        for board in self._boards:
            board.flush()

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        for board in self._boards:
            board.close()


def _lines(path: Path) -> list[str]:
    """Return a curve's rows. UserError if the file cannot be read."""
    try:
        return path.read_text().splitlines()[1:]
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "no text"
        raise UserError(f"{path} cannot be read ({problem}): begin anew") from error


def _boards(folder: Path, seeds: tuple[int, ...], step: int) -> list[Any]:
    """Return a writer for each seed; [] if tensorboardX is not installed."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        return []
    return [
        SummaryWriter(str(folder / "tensorboard" / f"seed{seed}"), purge_step=step or None)
        for seed in seeds
    ]
