"""Linear systems with the tree's sparsity: L^T D L without fill, leaves first."""

from __future__ import annotations

from twinstep.generated.halfcheetah.inertia import ANCESTORS, Matrix
from twinstep.generated.halfcheetah.kinematics import Number


def solved(entries: Matrix, right: list[Number]) -> list[Number]:
    """Return x[9] with matrix x = right, for a symmetric positive definite matrix."""
    left, inverse = dict(entries), {}
    x = list(right)
    for k in range(8, -1, -1):
        inverse[k] = 1.0 / left[k, k]
        factors = {i: left[k, i] * inverse[k] for i in ANCESTORS[k]}
        for i in ANCESTORS[k]:
            for j in (i, *ANCESTORS[i]):
                left[i, j] = left[i, j] - factors[i] * left[k, j]
            x[i] = x[i] - factors[i] * x[k]
            left[k, i] = factors[i]
    for k in range(9):
        x[k] = x[k] * inverse[k]
        for i in ANCESTORS[k]:
            x[k] = x[k] - left[k, i] * x[i]
    return x
