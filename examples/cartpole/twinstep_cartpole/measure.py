"""Count where JAX's float64 arithmetic differs from NumPy's here, the basis of the exactness.

python -m twinstep_cartpole.measure [COUNT]     COUNT numbers each, ten million if left out
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from twinstep.exact import divided, rounded
from twinstep_cartpole.fast import generator, rules

#: Numbers compared at a time.
BLOCK = 500_000

#: The same expression of a, b, c in NumPy and in JAX.
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sin(a)": (lambda a, b, c: np.sin(a), lambda a, b, c: jnp.sin(a)),
    "cos(a)": (lambda a, b, c: np.cos(a), lambda a, b, c: jnp.cos(a)),
    "a * b + c, plain": (lambda a, b, c: a * b + c, lambda a, b, c: a * b + c),
    "a * b + c, behind lax.optimization_barrier": (
        lambda a, b, c: a * b + c,
        lambda a, b, c: lax.optimization_barrier(a * b) + c,
    ),
    "a * b + c, behind lax.reduce_precision": (
        lambda a, b, c: a * b + c,
        lambda a, b, c: lax.reduce_precision(a * b, 11, 52) + c,
    ),
    "a * b + c, rounded": (lambda a, b, c: a * b + c, lambda a, b, c: rounded(a * b) + c),
    "a * b - b * c, plain": (lambda a, b, c: a * b - b * c, lambda a, b, c: a * b - b * c),
    "a * b - b * c, rounded": (
        lambda a, b, c: a * b - b * c,
        lambda a, b, c: rounded(a * b) - rounded(b * c),
    ),
    "b / 1.1, plain": (lambda a, b, c: b / rules.MASS, lambda a, b, c: b / rules.MASS),
    "b / 1.1, divided": (lambda a, b, c: b / rules.MASS, lambda a, b, c: divided(b, rules.MASS)),
}


def differing(name: str, count: int) -> int:
    """Return the count of differing results in `count`, for a in [-0.3, 0.3], b, c in [-6, 6]."""
    reference, compiled = CASES[name][0], jax.jit(jax.vmap(CASES[name][1]))
    rng, total = np.random.default_rng(0), 0
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        numbers = [rng.uniform(-reach, reach, size) for reach in (0.3, 6.0, 6.0)]
        with jax.enable_x64(True):
            got = np.asarray(compiled(*numbers))
        total += int((got.view(np.int64) != reference(*numbers).view(np.int64)).sum())
    return total


def differing_starts(count: int) -> int:
    """Return the count of 64-bit seeds in `count` with other numbers than NumPy's generator."""
    seeds = np.random.default_rng(1).integers(0, 2**32, (count, 2), np.uint32)
    seeds[: count // 8, 1] = 0  # a seed of one word
    with jax.enable_x64(True):
        got = np.asarray(jax.jit(jax.vmap(_four))(seeds))
    whole = seeds.astype(object) @ np.array([1, 2**32], object)
    want = np.stack([np.random.default_rng(seed).random(4) for seed in whole])
    return int((got != want).any(1).sum())


def _four(seed: Any) -> Any:
    numbers, drawn = generator.seeded(seed), []
    for _ in range(4):
        numbers, unit = generator.uniform(numbers)
        drawn.append(unit)
    return jnp.stack(drawn)


def main() -> None:
    """Print every count."""
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    print(f"of {count:,} each, JAX differs from NumPy in")
    for name in CASES:
        print(f"{differing(name, count):12,}  {name}")
    starts = max(count // 100, 1)
    print(f"{differing_starts(starts):12,}  first four numbers of a seed, of {starts:,}")


if __name__ == "__main__":
    main()
