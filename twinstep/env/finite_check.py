"""The check of `twinstep.make(..., debug=True)` before each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jax.core import Tracer

from twinstep.errors import UserError


def require_finite(what: str, values: Mapping[str, Any]) -> None:
    """Raise UserError naming the first number that is NaN or infinite.

    what: the call that received them. values: name -> array; integers pass. A value that JAX is
    tracing cannot be checked, which is an error too.
    """
    for name, value in values.items():
        if isinstance(value, Tracer):
            raise UserError(
                f"{what}: debug=True looks at numbers, which inside jit, vmap or scan do not exist "
                "yet; call it outside of them, or make the environment without debug"
            )
        array = np.asarray(value)
        if array.dtype.kind != "f" or np.isfinite(array).all():
            continue
        place = tuple(int(axis[0]) for axis in np.nonzero(~np.isfinite(array)))
        at = f"[{', '.join(map(str, place))}]" if place else ""
        raise UserError(f"{what}: {name}{at} is {array[place]}, not a finite number")
