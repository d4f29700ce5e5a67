"""Match: a game of two in which each player names its own observation, in JAX only. A toy.

Both see a target of their own, 0 to 2. Only the first player decides in the first step, both do in
the second: a player whose action there is its target beats one whose is not (reward 1 and -1). An
action of the second player in the first step, where it does not decide, loses the game.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.env.make import Env
from twinstep.environment import CandidateRef, Environment, OracleRef, Variant
from twinstep.frames import Array, Frame
from twinstep.jax_candidate import JaxCandidate
from twinstep.project.registry import EnvVariant


class State(NamedTuple):
    target: Array
    clock: Array
    spoke: Array
    right: Array


def contract(params):
    return Contract(
        version="match-v0",
        params=dict(params),
        action=Discrete(3),
        observation=Field("obs", "float32", (4,)),
        state=(Field("clock", "int32"),),
        randomness=Randomness("threefry"),
        players=2,
        masked=True,
    )


class Match(JaxCandidate):
    def __init__(self, contract):
        def reset(start):
            key = jax.random.fold_in(jax.random.key(start.seed[0]), start.seed[1])
            target = jax.random.randint(key, (2,), 0, 3, jnp.int32)
            return State(target, jnp.int32(0), jnp.zeros((), bool), jnp.zeros(2, bool))

        def step(state, action):
            spoke = state.spoke | ((state.clock == 0) & (action[1] != 0))
            right = (action == state.target) & ~(spoke & (jnp.arange(2) == 1))
            return State(state.target, state.clock + 1, spoke, right)

        def frame(state):
            over = state.clock == 2
            won = state.right.astype(jnp.float32) - state.right[::-1].astype(jnp.float32)
            asked = jnp.array([state.clock < 2, state.clock == 1])
            seen = jax.nn.one_hot(state.target, 3, dtype=jnp.float32)
            clock = jnp.full((2, 1), state.clock.astype(jnp.float32))
            return Frame(
                obs=jnp.concatenate([seen, clock], 1),
                reward=jnp.where(over, won, 0.0),
                terminated=over,
                truncated=jnp.zeros((), bool),
                acting=asked,
                legal=jnp.broadcast_to(asked[:, None], (2, 3)),
                state={"clock": state.clock},
            )

        super().__init__(contract, reset=reset, step=step, frame=frame)


def make():
    """Return the environment as `twinstep.make` would."""
    here = "twinstep.tests.toys.match"
    oracle = OracleRef("none", f"{here}:Match", f"{here}:probe", "twinstep.tests.nothing")
    env = Environment("match", contract, oracle, (CandidateRef("jax", f"{here}:Match"),))
    return Env(EnvVariant(env, Variant("", {})), "jax", "same-step")
