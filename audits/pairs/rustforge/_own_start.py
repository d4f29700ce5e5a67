"""RustForge draws its starts itself and cannot be placed: the reference begins where it does."""

import numpy as np
import rustforge


def number(start) -> int:
    """Return the seed of a start as RustForge takes it."""
    return int(start.seed[0])


def first_observation(name: str, seed: np.ndarray) -> np.ndarray:
    """Return what a RustForge environment observes first. seed: u32[2]."""
    return rustforge.make(name).reset(seed=int(seed[0]))[0]
