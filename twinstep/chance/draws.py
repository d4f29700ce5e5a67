"""Draws of a reference, or of a port that is no JAX program, from the row of its step."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.chance.row import DRAWN, DRAWS, Row, after
from twinstep.chance.sites import Columns, require_names
from twinstep.errors import UserError


class Draws:
    """The draws of one environment.

    row: as in the contract. sites: place in the source -> name in the row, for a row with names;
    a place is `file.py:88`, a function's name, or its qualified name. Use:

        draws = Draws(ROW)
        env.unwrapped.np_random = draws.generator()
        draws.put(start.fields["draws"])
        with draws:
            env.reset()  # without a seed, which would make a new generator
        state = draws.state()
    """

    #: The draws whose `with` is open, for C functions, which belong to no environment.
    active: Draws | None = None

    def __init__(self, row: Row, sites: Mapping[str, str] | None = None) -> None:
        require_names(row, sites or {})
        self._row, self._sites = row, sites or {}
        self._words = np.zeros(row.size, np.uint32)
        self._columns: Columns | None = None
        self._drawn = 0
        self._failed: UserError | None = None

    def put(self, words: Any) -> None:
        """Set the words u32[C] of the reset or step that comes; a number stands for all."""
        self._words = np.broadcast_to(np.asarray(words, np.uint32), self._row.size).copy()
        self._drawn = 0

    def state(self) -> dict[str, Any]:
        """Return the fields of `Frame.state`: the words of the next step, and how many were drawn.

        The second is there for a row without names.
        """
        fields: dict[str, Any] = {DRAWS: self._words.copy()}
        return fields if self._row.named else fields | {DRAWN: np.int32(self._drawn)}

    def __enter__(self) -> Draws:
        self._columns = Columns(self._row, self._sites)
        Draws.active, self._failed = self, None
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        columns, self._columns, Draws.active = self._columns, None, None
        if columns is not None:
            self._drawn = columns.drawn
        self._words = after(self._words)
        if self._failed is not None and kind is None:
            raise self._failed

    def take(self, count: int, what: str) -> np.ndarray:
        """Return the next words u32[count]; what: the function that asks.

        UserError outside of `with`, or if the row has no more.
        """
        if self._columns is None:
            raise UserError(
                f"chance: {what} is called outside of a reset or a step: open `with draws:` there"
            )
        return self._words[self._columns.take(count, what)]

    def lent(self) -> dict[str, Any]:
        """Return what another process draws from: each name's next words, and the places.

        It says what it has taken to `taken`. UserError outside of `with`.
        """
        if self._columns is None:
            raise UserError("chance: a call that draws is outside of a reset or a step")
        columns = {
            name: {"words": self._words[part].tolist(), "most": self._row.columns[name]}
            for name, part in self._columns.left().items()
        }
        return {"columns": columns, "sites": dict(self._sites)}

    def taken(self, counts: Mapping[str, int]) -> None:
        """Count words that another process has taken: name -> how many."""
        if self._columns is not None:
            self._columns.advance(counts)

    def take_in_c(self, count: int, what: str) -> np.ndarray:
        """Return words as `take` does. An error is raised at the end of `with`: C cannot raise."""
        try:
            return self.take(count, what)
        except UserError as error:
            self._failed = self._failed or error
            return np.zeros(count, np.uint32)

    def generator(self) -> np.random.Generator:
        """Return a stand-in for `numpy.random.Generator`."""
        from twinstep.chance.numpy_random import generator

        return generator(self)

    def random_state(self) -> np.random.RandomState:
        """Return a stand-in for `numpy.random.RandomState`, or for the module `numpy.random`."""
        from twinstep.chance.numpy_random import random_state

        return random_state(self)

    def python_random(self) -> random.Random:
        """Return a stand-in for `random.Random`, or for the module `random`."""
        from twinstep.chance.python_random import python_random

        return python_random(self)
