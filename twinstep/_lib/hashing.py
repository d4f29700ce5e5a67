"""Hash seeds and counters to pseudo-random words, the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np


def noise(seed: np.ndarray, t: int, salt: int) -> np.ndarray:
    """Hash (seed u32[..., 2], t, salt) to one pseudo-random word u32[...] per lane.

    Recorded traces hang on its bits (splitmix64's finaliser).
    """
    words = np.asarray(seed, np.uint64)
    mixed = words[..., 0] << np.uint64(32) | words[..., 1]
    steps = np.uint64((t << 20 ^ salt) & 0xFFFF_FFFF_FFFF_FFFF)
    with np.errstate(over="ignore"):
        x = mixed + (steps + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((x ^ (x >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)


def words(seeds: Any, count: Any, salt: int, xp: Any) -> Any:
    """Hash (seeds u32[N, 2], count u32[N], salt) to pseudo-random words u32[N]."""
    x = seeds[..., 0] * np.uint32(0x9E3779B1) + seeds[..., 1] * np.uint32(0x85EBCA77)
    return mixed(x + (count * np.uint32(8) + np.uint32(salt)) * np.uint32(0xC2B2AE3D))


def mixed(x: Any) -> Any:
    """Mix u32 words of any shape, of NumPy or JAX, into pseudo-random ones."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))
