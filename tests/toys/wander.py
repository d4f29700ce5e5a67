"""Wander: a walk on a ring that never ends, in float64, the same for every seed. A toy.

Ports of strangers look like this: no time limit, no chance, double precision.
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
    Environment,
    Field,
    Frame,
    GateRule,
    JaxCandidate,
    Lockstep,
    OracleRef,
    Parameter,
    Probe,
    Randomness,
    Variant,
)

PLACES = 7
#: The tolerance of the variant `tolerant`, and what planted lanes are off.
GATE, MORE = 1e-3, 0.375e-3


def contract(params):
    return Contract(
        version="wander-v0",
        params=dict(params),
        action=Discrete(3, ("stay", "left", "right")),
        observation=Field("obs", "float64", (2,), names=("place", "way")),
        state=(
            Field("place", "int32", low=0, high=PLACES - 1, step=1),
            Field("way", "float64", low=0.0, high=64.0, step=0.5),
        ),
        randomness=Randomness("none"),
        reward_dtype="float64",
        gates=(GateRule(Lockstep(atol=GATE), fields="reward"),) if params["tolerant"] else (),
        drivers=("random", "sticky"),
        horizon=60,
        truncates=False,
        ends=False,
        placed=64,
    )


class Oracle:
    """The reference: one walker in Python's numbers."""

    def __init__(self, contract):
        self.place, self.way = 0, 0.0

    def reset(self, start):
        self.place, self.way = 0, 0.0
        return self._frame(0.0)

    def load(self, state):
        self.place, self.way = int(state["place"]), float(state["way"])

    def step(self, action):
        move = (0, -1, 1)[int(action[0])]
        self.place = (self.place + move) % PLACES
        self.way += abs(move) * 0.5
        return self._frame(self.way - self.place)

    def close(self):
        pass

    def _frame(self, reward):
        return Frame(
            obs=np.array([[self.place, self.way]]),
            reward=np.array([reward]),
            terminated=np.bool_(False),
            truncated=np.bool_(False),
            acting=np.ones(1, bool),
            legal=None,
            state={"place": np.int32(self.place), "way": np.float64(self.way)},
        )


class State(NamedTuple):
    """A walker; luck: f64[], drawn by JAX as ports do, and of no effect."""

    place: jnp.ndarray
    way: jnp.ndarray
    reward: jnp.ndarray
    luck: jnp.ndarray


class Jax(JaxCandidate):
    """The walk in JAX; places: on how long a ring."""

    places = PLACES

    def __init__(self, contract):
        super().__init__(
            contract, reset=self._reset, step=self._step, frame=_frame, load=_load, dtype="float64"
        )

    def _reset(self, start):
        del start
        return _load({"place": jnp.int32(0), "way": jnp.float64(0.0)})

    def _step(self, state, action):
        move = jnp.array([0, -1, 1], jnp.int32)[action[0]]
        place = (state.place.astype(jnp.int32) + move) % jnp.int32(self.places)
        way = state.way + jnp.abs(move).astype(jnp.float64) * 0.5
        luck = jax.random.uniform(jax.random.key(state.place.astype(jnp.uint32)), (), jnp.float64)
        return State(place, way, way - place.astype(jnp.float64), luck)


class LongerRing(Jax):
    """Planted: one place more."""

    places = PLACES + 1


class OtherType(Jax):
    """Planted: the place is a truth value at reset, and a number from then on."""

    def _reset(self, start):
        return super()._reset(start)._replace(place=jnp.bool_(False))


class ByLane(Jax):
    """Planted: the second lane of a batch is paid more by so much; see `tolerant`."""

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        if len(actions) > 1:
            reward = np.array(frame.reward)
            reward[1] += MORE
            frame = frame._replace(reward=reward)
        return state, frame


class AtTheEdge(ByLane):
    """Planted: another error for everyone, of three quarters of the gate."""

    def _step(self, state, action):
        state = super()._step(state, action)
        return state._replace(reward=state.reward + 0.75 * GATE)


def _load(fields):
    return State(fields["place"], fields["way"], jnp.float64(0.0), jnp.float64(0.0))


def _frame(state):
    return Frame(
        obs=jnp.stack([state.place.astype(jnp.float64), state.way])[None],
        reward=state.reward[None],
        terminated=jnp.bool_(False),
        truncated=jnp.bool_(False),
        acting=jnp.ones(1, bool),
        legal=None,
        state={"place": state.place, "way": state.way},
    )


def probe(params):
    return Probe({"wander": "1"})


_HERE = "twinstep.tests.toys.wander"
WANDER = Environment(
    "wander",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("right", f"{_HERE}:Jax"),
        CandidateRef("longer", f"{_HERE}:LongerRing"),
        CandidateRef("bylane", f"{_HERE}:ByLane"),
        CandidateRef("edge", f"{_HERE}:AtTheEdge"),
        CandidateRef("othertype", f"{_HERE}:OtherType"),
    ),
    variants=(
        Variant("exact", {}, candidates=("right", "longer", "bylane", "othertype")),
        Variant("tolerant", {"tolerant": 1}, candidates=("edge",)),
    ),
    parameters=(Parameter("tolerant", 0, "1 for a tolerance of the reward"),),
)
