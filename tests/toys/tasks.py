"""Three tasks that PPO must solve, in JAX only. Toys.

`cue`: the first observation shows -1 or 1; three steps later action 0 or 1 must name it
(reward 1). Action 2 is never legal and costs 100. Terminated.
`aim`: the observation is a target in [-1.5, 1.5]; the reward is minus the squared distance of a
real action in [-2, 2]. Truncated after 4 steps; each step has a new target.
`endless`: reward 0 for the first step and 1 for later ones, truncated every 4 steps; observed
as 0 at a start and as 1 later.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.contract import Box, Contract, Discrete, Field, Randomness
from twinstep.env.make import Env
from twinstep.environment import CandidateRef, Environment, OracleRef, Variant
from twinstep.frames import Array, Frame
from twinstep.jax_candidate import JaxCandidate
from twinstep.project.registry import EnvVariant

LENGTH = 4


class State(NamedTuple):
    key: Array
    clock: Array
    secret: Array
    reward: Array


def contract(params):
    task = params["task"]
    return Contract(
        version="tasks-v0",
        params=dict(params),
        action=Box(-2.0, 2.0, (1,)) if task == "aim" else Discrete(3),
        observation=Field("obs", "float32", (2,)),
        state=(Field("clock", "int32"), Field("secret", "float32")),
        randomness=Randomness("threefry"),
        masked=task == "cue",
    )


class Tasks(JaxCandidate):
    def __init__(self, contract):
        task = contract.params["task"]

        def draw(key, clock):
            unit = jax.random.uniform(jax.random.fold_in(key, clock), (), jnp.float32, -1.5, 1.5)
            return jnp.sign(unit) if task == "cue" else unit

        def reset(start):
            key = jax.random.fold_in(jax.random.key(start.seed[0]), start.seed[1])
            zero = jnp.int32(0)
            return State(jax.random.key_data(key), zero, draw(key, zero), jnp.float32(0))

        def step(state, action):
            clock = state.clock + 1
            key = jax.random.wrap_key_data(state.key)
            if task == "cue":
                said = jnp.where(action[0] == 0, -1.0, 1.0)
                right = (said == state.secret) & (clock == LENGTH)
                reward = jnp.where(action[0] == 2, -100.0, right.astype(jnp.float32))
                return state._replace(clock=clock, reward=reward.astype(jnp.float32))
            if task == "aim":
                reward = -((action[0, 0] - state.secret) ** 2)
                return State(state.key, clock, draw(key, clock), reward)
            return state._replace(clock=clock, reward=(clock > 1).astype(jnp.float32))

        def frame(state):
            shown = {
                "cue": jnp.where(state.clock == 0, state.secret, 0.0),
                "aim": state.secret,
                "endless": (state.clock > 0).astype(jnp.float32),
            }[task]
            over = state.clock >= LENGTH
            never = jnp.zeros((), bool)
            return Frame(
                obs=jnp.stack([shown, jnp.float32(1)])[None],
                reward=state.reward[None],
                terminated=over if task == "cue" else never,
                truncated=never if task == "cue" else over,
                acting=jnp.ones(1, bool),
                legal=jnp.array([[True, True, False]]) if task == "cue" else None,
                state={"clock": state.clock, "secret": state.secret},
            )

        super().__init__(contract, reset=reset, step=step, frame=frame)


def make(task):
    """Return the environment as `twinstep.make` would."""
    here = "twinstep.tests.toys.tasks"
    oracle = OracleRef("none", f"{here}:Tasks", f"{here}:probe", "twinstep.tests.nothing")
    env = Environment("tasks", contract, oracle, (CandidateRef("jax", f"{here}:Tasks"),))
    return Env(EnvVariant(env, Variant("", {"task": task})), "jax", "same-step")


class OnHost:
    """An environment like one that runs outside JAX; each step takes `seconds` longer.

    independent: whether halves of the lanes may be stepped apart. stepped: lanes of each step.
    """

    def __init__(self, inner, seconds=0.0, independent=True):
        self._inner, self._seconds = inner, seconds
        self.traceable, self.independent = False, independent
        self.stepped = []

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def step(self, state, actions):
        self.stepped.append(len(actions))
        time.sleep(self._seconds)
        return jax.tree.map(np.asarray, self._inner.step(state, actions))
