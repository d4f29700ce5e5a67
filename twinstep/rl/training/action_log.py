"""Restore an environment outside compiled programs by replaying its logged actions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Discrete
from twinstep.env.timestep import TimeStep
from twinstep.errors import UserError

#: Number of replayed steps between two lines of progress.
_WORDS = 1000
#: Number of bytes per read.
_PART = 1 << 20


class Logged:
    """An arena that logs all actions to a file; otherwise like the arena.

    The file holds the actions [N, ...] of each step in the smallest dtype that fits. Actions after
    a checkpoint are overwritten when a run resumes from it.
    """

    def __init__(self, arena: Any, path: Path) -> None:
        self._arena, self._path = arena, path
        self._file: Any = None
        action = arena.contract.action
        whole = isinstance(action, Discrete)
        self._dtype = np.min_scalar_type(action.n - 1) if whole else np.dtype(action.dtype)
        self._hash = hashlib.sha256()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arena, name)

    def step(self, state: Any, actions: np.ndarray) -> tuple[Any, TimeStep]:
        """Log the actions and apply them."""
        if self._file is None:
            self._file = self._path.open("wb")
        row = np.ascontiguousarray(actions, self._dtype).tobytes()
        self._hash.update(row)
        self._file.write(row)
        return self._arena.step(state, actions)

    @property
    def digest(self) -> str:
        """The hash of all actions so far."""
        return self._hash.hexdigest()

    def again(
        self,
        states: Sequence[Any],
        lanes: int,
        steps: int,
        digest: str,
        progress: Callable[[str], None],
    ) -> tuple[tuple[Any, ...], list[TimeStep]]:
        """Replay the first `steps` actions of the file; return the states after them, and the last
        step of each.

        states: of a reset from the same seeds, which share the lanes evenly and stepped in turn.
        digest: the log's hash at that time. UserError if the file does not hold these actions.
        """
        states, action = list(states), self._arena.contract.action
        shape = (lanes // len(states), *action.shape)
        size = math.prod(shape) * self._dtype.itemsize
        self._read(steps * len(states) * size, digest)
        shown: list[Any] = [None] * len(states)
        for step in range(steps):
            for which, state in enumerate(states):
                row = np.frombuffer(self._file.read(size), self._dtype).reshape(shape)
                states[which], shown[which] = self._arena.step(state, row.astype(action.dtype))
            if step % _WORDS == 0:
                progress(f"playing again what was played: step {step:,} of {steps:,}")
        return tuple(states), shown

    def _read(self, size: int, digest: str) -> None:
        """Open the file at its beginning; its first `size` bytes must match the digest."""
        try:
            self._file = self._path.open("r+b")
        except OSError as error:
            raise UserError(f"{self._path} cannot be read ({error.strerror})") from error
        left = size
        while left and (part := self._file.read(min(left, _PART))):
            self._hash.update(part)
            left -= len(part)
        if self.digest != digest:
            problem = "lacks" if left else "holds others than"
            raise UserError(
                f"{self._path} {problem} the actions that led to the checkpoint: begin anew"
            )
        self._file.seek(0)

    def flush(self) -> None:
        """Flush the log to disk."""
        if self._file:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
