"""Lots: a walker by dice whom nobody can place, and each side throws its own. A toy.

A bold throw moves by the die and pays it; a careful one moves 1 if the die shows more than 3. One
faces north or south, keeps facing so in four steps of five, and begins at place 0 to 4. At place 30
the walk ends.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep import (
    CandidateRef,
    Contract,
    Discrete,
    Distribution,
    Environment,
    Field,
    Frame,
    GateRule,
    JaxCandidate,
    OracleRef,
    Probe,
    Randomness,
)

END = 30


def contract(params):
    return Contract(
        version="lots-v0",
        params=dict(params),
        action=Discrete(2, ("careful", "bold")),
        observation=Field("obs", "int32", (2,), names=("place", "side")),
        state=(),
        randomness=Randomness("each side's own"),
        gates=(GateRule(Distribution(episodes=400, steps=12)),),
        drivers=("random", "sticky"),
        horizon=60,
        truncates=False,
    )


class Oracle:
    """The reference: one walker, with NumPy's generator."""

    def __init__(self, contract):
        self.place = self.side = 0

    def reset(self, start):
        self.dice = np.random.default_rng(np.asarray(start.seed))
        self.place, self.side = int(self.dice.integers(5)), int(self.dice.integers(2))
        return self._frame(0)

    def step(self, action):
        die = int(self.dice.integers(1, 7))
        paid = die if action[0] else 0
        self.place += die if action[0] else int(die > 3)
        self.side ^= int(self.dice.random() < 0.2)
        return self._frame(paid)

    def close(self):
        pass

    def _frame(self, reward):
        return Frame(
            obs=np.array([[self.place, self.side]], np.int32),
            reward=np.array([reward], np.float32),
            terminated=np.bool_(self.place >= END),
            truncated=np.bool_(False),
            acting=np.ones(1, bool),
            legal=None,
            state={},
        )


class State(NamedTuple):
    """A walker and its key."""

    place: jnp.ndarray
    side: jnp.ndarray
    reward: jnp.ndarray
    key: jnp.ndarray


class Jax(JaxCandidate):
    """The walk in JAX, with keys of its own. The numbers are what planted bugs change."""

    begin, faces, turns, careful = 5, 6, 0.2, 3

    def __init__(self, contract):
        super().__init__(contract, reset=self._reset, step=self._step, frame=_frame)

    def _reset(self, start):
        key = jax.random.fold_in(jax.random.key(start.seed[0]), start.seed[1])
        key, one, two = jax.random.split(key, 3)
        place = jax.random.randint(one, (), 0, self.begin, jnp.int32)
        side = jax.random.randint(two, (), 0, 2, jnp.int32)
        return State(place, side, jnp.float32(0), jax.random.key_data(key))

    def _step(self, state, action):
        key, one, two = jax.random.split(jax.random.wrap_key_data(state.key), 3)
        die = jax.random.randint(one, (), 1, 1 + self.faces, jnp.int32)
        bold = action[0] == 1
        move = jnp.where(bold, die, (die > self.careful).astype(jnp.int32))
        turned = (jax.random.uniform(two) < self.turns).astype(jnp.int32)
        return State(
            state.place + move,
            state.side ^ turned,
            jnp.where(bold, die, 0).astype(jnp.float32),
            jax.random.key_data(key),
        )


class BeginsFarther(Jax):
    """Planted: one begins at place 0 to 5."""

    begin = 6


class FiveFaces(Jax):
    """Planted: a die without a six."""

    faces = 5


class Turns(Jax):
    """Planted: one turns in four steps of five: each side is still faced half of the time."""

    turns = 0.8


def _frame(state):
    return Frame(
        obs=jnp.stack([state.place, state.side])[None],
        reward=state.reward[None],
        terminated=state.place >= END,
        truncated=jnp.bool_(False),
        acting=jnp.ones(1, bool),
        legal=None,
        state={},
    )


def probe(params):
    return Probe({"lots": "1"})


_HERE = "twinstep.tests.toys.lots"
LOTS = Environment(
    "lots",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("right", f"{_HERE}:Jax"),
        CandidateRef("farther", f"{_HERE}:BeginsFarther"),
        CandidateRef("five", f"{_HERE}:FiveFaces"),
        CandidateRef("turns", f"{_HERE}:Turns"),
    ),
)
