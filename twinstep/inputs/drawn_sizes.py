"""Sizes of batches drawn anew in each run: a candidate that knows the usual ones is not ready."""

from __future__ import annotations

import math
import secrets

from twinstep.contract import Contract
from twinstep.inputs.batching import BUDGET, frame_bytes

_random = secrets.SystemRandom()


def drawn_sizes(contract: Contract, steps: int, count: int) -> list[int]:
    """Return so many sizes, of three kinds in turn: odd, one beyond a power of two, prime.

    The first kind is drawn too, and small sizes are as likely as large ones. The largest is one
    more than the contract's largest batch, or what fits into memory with `steps` frames.
    """
    most = min(contract.largest_batch + 1, max(3, BUDGET // (frame_bytes(contract) * (steps + 1))))
    kinds = (_odd, _beyond_a_power, _prime)
    first = _random.randrange(len(kinds))
    drawn = (kinds[(first + n) % len(kinds)](most) for n in range(count))
    return sorted({min(most, size) for size in drawn})


def _size(most: int) -> int:
    """Draw a size whose logarithm is uniform."""
    return round(math.exp(_random.uniform(math.log(2), math.log(most))))


def _odd(most: int) -> int:
    return _size(most) | 1


def _beyond_a_power(most: int) -> int:
    return (1 << _random.randint(1, max(1, most.bit_length() - 1))) + 1


def _prime(most: int) -> int:
    size = max(3, _size(most))
    while any(size % divisor == 0 for divisor in range(2, math.isqrt(size) + 1)):
        size += 1
    return size
