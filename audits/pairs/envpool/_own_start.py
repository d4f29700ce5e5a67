"""EnvPool draws its starts itself and cannot be placed: the reference begins where it does."""

import envpool
import numpy as np


def first_observation(name: str, seed: np.ndarray, **options) -> np.ndarray:
    """Return what an EnvPool observes first, made with the seed u32[2] as `from_envpool` does."""
    number = int(seed[0] ^ seed[1]) & 0x7FFFFFFF
    pool = envpool.make_gymnasium(name, num_envs=1, seed=[number], **options)
    return pool.reset()[0][0]
