"""An environment outside compiled programs, brought back by playing its actions again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Discrete
from twinstep.errors import UserError
from twinstep.timestep import TimeStep

#: Steps played again between two words on the progress.
_WORDS = 1000


class Logged:
    """An arena that writes all actions it is given to a file; else as the arena.

    The file holds the actions [N, ...] of one step after the other, as small as they fit. What was
    written behind a checkpoint is written over when a run goes on from it.
    """

    def __init__(self, arena: Any, path: Path) -> None:
        self._arena, self._path = arena, path
        self._file: Any = None
        action = arena.contract.action
        whole = isinstance(action, Discrete)
        self._dtype = np.min_scalar_type(action.n - 1) if whole else np.dtype(action.dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arena, name)

    def step(self, state: Any, actions: np.ndarray) -> tuple[Any, TimeStep]:
        """Write the actions and apply them."""
        if self._file is None:
            self._file = self._path.open("wb")
        self._file.write(np.ascontiguousarray(actions, self._dtype).tobytes())
        return self._arena.step(state, actions)

    def again(
        self, states: Sequence[Any], lanes: int, steps: int, progress: Callable[[str], None]
    ) -> tuple[Any, ...]:
        """Apply the first `steps` actions of the file; return the states after them.

        states: of a reset from the same seeds, which share the lanes evenly and stepped in turn.
        UserError if the file is shorter.
        """
        states, action = list(states), self._arena.contract.action
        shape = (lanes // len(states), *action.shape)
        size = math.prod(shape) * self._dtype.itemsize
        try:
            self._file = self._path.open("r+b")
        except OSError as error:
            raise UserError(f"{self._path} cannot be read ({error.strerror})") from error
        for step in range(steps):
            for which, state in enumerate(states):
                row = self._file.read(size)
                if len(row) < size:
                    raise UserError(f"{self._path} lacks steps that the checkpoint has: begin anew")
                played = np.frombuffer(row, self._dtype).reshape(shape).astype(action.dtype)
                states[which], _ = self._arena.step(state, played)
            if step % _WORDS == 0:
                progress(f"playing again what was played: step {step:,} of {steps:,}")
        return tuple(states)

    def flush(self) -> None:
        """Let the disk have what was written."""
        if self._file:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
