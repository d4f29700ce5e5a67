"""Map drawn actions to legal ones, for random play under a legal action mask."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

_BITS = 32


def kept(actions: np.ndarray, illegal: np.ndarray) -> np.ndarray:
    """Mark actions i32[...] that `played` gives back as they are, where bool[...] `illegal`.

    A marked action is negative.
    """
    return np.where(illegal, ~actions, actions).astype(actions.dtype)


def played(actions: np.ndarray, legal: np.ndarray | None) -> np.ndarray:
    """Return `legalise` of actions [..., P], and those that `kept` marked as they were."""
    if legal is None:
        return actions
    marked = actions < 0
    return np.where(marked, ~actions, legalise(np.where(marked, 0, actions), legal))


def is_illegal(actions: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return bool[..., P]: which actions [..., P] of players who decide the mask forbids.

    legal: bool[..., P, A].
    """
    asked = np.take_along_axis(legal, actions[..., None].astype(np.int64), -1)[..., 0]
    return ~asked & legal.any(-1)


def legalise(actions: Any, legal: Any, arrays: ModuleType = np) -> Any:
    """Map each action [..., P] to a legal one: itself, else the (action mod count)-th legal.

    legal: bool[..., P, A], None if all are; arrays: numpy or jax.numpy. Players without a legal
    action, who do not decide now, get 0. The mapping keeps shrunk action lists playable: dropping
    a step never makes the rest illegal.
    """
    if legal is None:
        return actions
    nth = nth_legal(actions, legal, arrays).astype(actions.dtype)
    place = actions[..., None].astype(arrays.int32)
    fits = arrays.take_along_axis(legal, place, -1)[..., 0]
    return arrays.where(fits, actions, nth)


def nth_legal(number: Any, legal: Any, arrays: ModuleType = np) -> Any:
    """Return the (number mod count)-th legal action i32[...], 0 where none is legal.

    number: non-negative integers [...]. legal: bool[..., A].
    """
    # Bits of words, not running sums of the mask: in XLA their cost grows with the mask's width.
    words = _packed(legal, arrays)
    counts = arrays.bitwise_count(words).astype(arrays.int32)
    least = [arrays.zeros_like(counts[..., 0])]
    for place in range(counts.shape[-1]):
        least.append(least[-1] + counts[..., place])
    rank = (number % arrays.maximum(least[-1], 1).astype(number.dtype)).astype(arrays.int32)
    word, base, before = words[..., 0], arrays.zeros_like(rank), arrays.zeros_like(rank)
    for place in range(1, counts.shape[-1]):
        later = rank >= least[place]
        word = arrays.where(later, words[..., place], word)
        base = arrays.where(later, _BITS * place, base)
        before = arrays.where(later, least[place], before)
    left, nth = rank - before, arrays.zeros_like(rank)
    for step in (16, 8, 4, 2, 1):
        low = word >> nth.astype(arrays.uint32) & arrays.uint32((1 << step) - 1)
        skipped = arrays.bitwise_count(low).astype(arrays.int32)
        higher = left >= skipped
        left = arrays.where(higher, left - skipped, left)
        nth = arrays.where(higher, nth + step, nth)
    return arrays.where(least[-1] == 0, arrays.zeros_like(nth), base + nth)


def _packed(legal: Any, arrays: ModuleType) -> Any:
    """Pack a mask bool[..., A] into words u32[..., ceil(A / 32)], the first action in bit 0."""
    missing = -legal.shape[-1] % _BITS
    whole = arrays.concatenate([legal, arrays.zeros((*legal.shape[:-1], missing), bool)], -1)
    bits = arrays.uint32(1) << arrays.arange(_BITS, dtype=arrays.uint32)
    rows = whole.reshape(*legal.shape[:-1], -1, _BITS)
    return arrays.where(rows, bits, arrays.uint32(0)).sum(-1, dtype=arrays.uint32)
