"""The number of draws that the generator made between two states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

MULTIPLIER, INCREMENT, WORD = 0x5D588B656C078965, 0x269EC3, 2**64
#: A step draws far fewer.
MOST = 512


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> int | None:
    """Return the number of draws between two states' seeds u32[2]; None if beyond MOST."""
    x, wanted = (
        int(np.asarray(state["seed"])[0]) << 32 | int(np.asarray(state["seed"])[1])
        for state in (before, after)
    )
    for count in range(MOST + 1):
        if x == wanted:
            return count
        x = (x * MULTIPLIER + INCREMENT) % WORD
    return None
