"""The row of random words that a reset or a step draws from, and how it goes on to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.contract import Field, Randomness, Role
from twinstep.errors import UserError

#: The state field that holds the words of the coming step, and the one that counts those drawn.
DRAWS, DRAWN = "draws", "drawn"


class Row:
    """The words u32[C] of one reset or step.

    columns: their number, where both sides draw in the same order; or names with numbers, where a
    port also draws what it then throws away. Both sides then say which place in their source draws
    which name. Words left over are not drawn later: the next step has a row of its own.

        ROW = Row({"ball": 1, "spawn": 3})
        Contract(
            starts=ROW.starts, make_start=ROW.make_start, state=(X, Y, *ROW.state),
            randomness=ROW.randomness, ...
        )
    """

    def __init__(self, columns: int | Mapping[str, int]) -> None:
        by_name = {"": columns} if isinstance(columns, int) else dict(columns)
        if not by_name or min(by_name.values()) < 1:
            raise UserError("chance: a row has at least one column, and so has each of its names")
        self.named = not isinstance(columns, int)
        #: Name -> number of columns; the one name is "" where there are none.
        self.columns: Mapping[str, int] = by_name
        #: Name -> its first column.
        self.first = dict(zip(by_name, np.cumsum([0, *by_name.values()]).tolist(), strict=False))
        self.size = sum(by_name.values())

    @property
    def starts(self) -> tuple[Field, ...]:
        """The fields of the contract's `starts`: the words of the reset."""
        return (Field(DRAWS, "uint32", (self.size,)),)

    @property
    def state(self) -> tuple[Field, ...]:
        """The fields of the contract's `state`: the words of the coming step.

        Where both sides draw in the same order there is also the number of words that the last
        reset or step drew, which must agree.
        """
        names = tuple(
            f"{name}_{n}" if many > 1 else name
            for name, many in self.columns.items()
            for n in range(many)
        )
        top = float(np.iinfo(np.uint32).max)
        words = Field(
            DRAWS, "uint32", (self.size,), low=0, high=top, names=names if self.named else ()
        )
        if self.named:
            return (words,)
        return words, Field(DRAWN, "int32", low=0, high=self.size, role=Role.DERIVED)

    @property
    def randomness(self) -> Randomness:
        """The contract's `randomness`."""
        if self.named:
            return Randomness("both sides draw from one row of words, by place in the source")
        return Randomness("both sides draw from one row of words, in the same order", draws=DRAWN)

    def make_start(self, seed: np.ndarray) -> dict[str, np.ndarray]:
        """Return the start's field `draws` u32[C] of a seed u32[2]."""
        rng = np.random.default_rng(np.asarray(seed, np.uint32))
        return {DRAWS: rng.integers(0, 2**32, self.size, np.uint32)}


def after(words: Any) -> Any:
    """Return the words u32[..., C] of the step that follows, as NumPy's or JAX's array.

    A bijection of each word, so that uniform words stay uniform: two multiplications by odd numbers
    between shifts, on the word and its column's number.
    """
    columns = np.arange(1, words.shape[-1] + 1, dtype=np.uint32)
    mixed = words + columns * np.uint32(0x9E3779B9)
    mixed = (mixed ^ (mixed >> 16)) * np.uint32(0x7FEB352D)
    mixed = (mixed ^ (mixed >> 15)) * np.uint32(0x846CA68B)
    return mixed ^ (mixed >> 16)
