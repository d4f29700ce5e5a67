"""A candidate made of one environment of a JAX library."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.inward._lane import Lane, first_observation
from twinstep.inward._library import Hooks, Library
from twinstep.jax_candidate import JaxCandidate


class Port(JaxCandidate):
    """A library's environment as a candidate; subclass it to add modules or an `explain`."""

    library: Any  # () -> Library
    hooks: Hooks

    def __init__(self, contract: Contract) -> None:
        lane = Lane(contract, type(self).library(), self.hooks)
        dtype = self.hooks.get("dtype", "float32")
        super().__init__(contract, **lane.functions(), dtype=dtype)

    @classmethod
    def begins(cls, seed: np.ndarray) -> np.ndarray:
        """Return what is compared of the library's observation where a seed's episode begins.

        seed: u32[2]. A `make_start` may ask it where the reference can be placed and the library
        cannot; `key=lambda start: start.seed` then says that the fields are its own.
        """
        return np.asarray(_first(cls)(Start(np.asarray(seed, np.uint32))))


@functools.cache
def _first(kind: type[Port]) -> Callable[[Start], Any]:
    """Return the function from a start to the first observation."""
    return first_observation(kind.library(), kind.hooks)


def port(name: str, library: Callable[[], Library], hooks: Hooks) -> type[Port]:
    """Return the class of a candidate. UserError for a hook that there is not.

    name: of the adapter's function. library: called once per candidate, when it is built.
    """
    known = list(Hooks.__annotations__)
    for hook in hooks:
        if hook not in known:
            raise UserError(f"{name} has no argument '{hook}' (it has {', '.join(known)})")
    if (dtype := hooks.get("dtype", "float32")) not in ("float32", "float64"):
        raise UserError(f"{name}: dtype={dtype!r}: write 'float32' or 'float64'")
    return type("Port", (Port,), {"library": staticmethod(library), "hooks": hooks})
