"""Shelf: sixteen places that one fills by hand while most steps empty one. A toy.

Action 0 waits, action k fills place k - 1. Three steps in four one place is emptied, drawn by a key
in the state. Random play keeps half of the shelf empty and never sees it full. After 100 steps the
game is cut.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from twinstep import (
    CandidateRef,
    Contract,
    Discrete,
    Environment,
    Field,
    Frame,
    JaxCandidate,
    OracleRef,
    Probe,
    Randomness,
)

PLACES, STEPS = 16, 100


def contract(params):
    return Contract(
        version="shelf-v0",
        params=dict(params),
        action=Discrete(PLACES + 1),
        observation=Field("obs", "int32", (PLACES,)),
        state=(
            Field("shelf", "int32", (PLACES,)),
            Field("clock", "int32", low=0, high=STEPS - 1, step=1),
            Field("key", "uint32"),
        ),
        randomness=Randomness("a key", parts={"key": ("state.key",)}),
        drivers=("random",),
        horizon=STEPS + 1,
    )


def _next(key, uint):
    """Return the next key: a step of a congruential generator in 32 bits."""
    return key * uint(1664525) + uint(1013904223)


class Oracle:
    """The reference: one shelf, in NumPy."""

    def __init__(self, contract):
        self.shelf, self.clock, self.key = np.zeros(PLACES, np.int32), 0, np.uint32(0)

    def reset(self, start):
        key = np.uint32(start.seed[0]) ^ np.uint32(start.seed[1])
        self.load({"shelf": np.zeros(PLACES, np.int32), "clock": 0, "key": key})
        return self._frame(0)

    def load(self, state):
        self.shelf = np.array(state["shelf"], np.int32)
        self.clock, self.key = int(state["clock"]), np.uint32(state["key"])

    def step(self, action):
        with np.errstate(over="ignore"):
            self.key = _next(self.key, np.uint32)
        if self.key >> 30:
            self.shelf[(self.key >> 20) % PLACES] = 0
        if action[0]:
            self.shelf[action[0] - 1] = 1
        self.clock += 1
        return self._frame(int(self.shelf.sum()))

    def close(self):
        pass

    def _frame(self, reward):
        return Frame(
            obs=self.shelf[None].copy(),
            reward=np.array([reward], np.float32),
            terminated=np.bool_(False),
            truncated=np.bool_(self.clock >= STEPS),
            acting=np.ones(1, bool),
            legal=None,
            state={"shelf": self.shelf.copy(), "clock": np.int32(self.clock), "key": self.key},
        )


class State(NamedTuple):
    """A shelf; paid: the last reward."""

    shelf: jnp.ndarray
    clock: jnp.ndarray
    key: jnp.ndarray
    paid: jnp.ndarray


class Jax(JaxCandidate):
    """The shelf in JAX; most: places that hold."""

    most = PLACES

    def __init__(self, contract):
        super().__init__(contract, reset=_reset, step=self._step, frame=_frame, load=_load)

    def _step(self, state, action):
        key = _next(state.key, jnp.uint32)
        emptied = (jnp.arange(PLACES) == (key >> 20) % PLACES) & (key >> 30 > 0)
        shelf = jnp.where(emptied, 0, state.shelf)
        shelf = jnp.where(jnp.arange(PLACES) == action[0] - 1, 1, shelf)
        shelf = jnp.where(shelf.sum() > self.most, state.shelf, shelf)
        return State(shelf, state.clock + 1, key, shelf.sum().astype(jnp.float32))


class NeverFull(Jax):
    """Planted: the last free place is not filled."""

    most = PLACES - 1


def _reset(start):
    none = jnp.zeros(PLACES, jnp.int32)
    return _load({"shelf": none, "clock": jnp.int32(0), "key": start.seed[0] ^ start.seed[1]})


def _load(fields):
    return State(fields["shelf"], fields["clock"], fields["key"], jnp.float32(0))


def _frame(state):
    return Frame(
        obs=state.shelf[None],
        reward=state.paid[None],
        terminated=jnp.bool_(False),
        truncated=state.clock >= STEPS,
        acting=jnp.ones(1, bool),
        legal=None,
        state={"shelf": state.shelf, "clock": state.clock, "key": state.key},
    )


def probe(params):
    return Probe({"shelf": "1"})


_HERE = "twinstep.tests.toys.shelf"
SHELF = Environment(
    "shelf",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (CandidateRef("right", f"{_HERE}:Jax"), CandidateRef("never_full", f"{_HERE}:NeverFull")),
)
