"""Gymnasium's MountainCarContinuous-v0 against gymnax's, which stops the car at the wrong end."""

from __future__ import annotations

from importlib.metadata import version

import jax.numpy as jnp
import numpy as np
from gymnax.environments.classic_control.continuous_mountain_car import ContinuousMountainCar

from twinstep import (
    Box,
    CandidateRef,
    Contract,
    Environment,
    Field,
    GateRule,
    Lockstep,
    OracleRef,
    Probe,
    Randomness,
)
from twinstep.inward import from_gymnax, oracle_from_gym

NAMES = ("position", "velocity")


def make_start(seed):
    position = np.random.default_rng(seed).uniform(-1.15, -0.4)
    return {"state": np.array([position, 0], np.float32)}


def contract(params):
    return Contract(
        version="car-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, (1,)),
        observation=Field("obs", "float32", (2,), names=NAMES),
        state=(
            Field("position", "float32", low=-1.2, high=0.6),
            Field("velocity", "float32", low=-0.07, high=0.07),
            Field("time", "int32", low=0, high=998, step=1),
        ),
        starts=(Field("state", "float32", (2,)),),
        make_start=make_start,
        randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
        gates=(GateRule(Lockstep(atol=1e-4, rtol=1e-4)),),
        horizon=150,
        placed=64,
    )


def place(env, start):
    env.unwrapped.state = np.array(start.fields["state"], np.float32)
    return env.unwrapped.state


def load(env, fields):
    env.unwrapped.state = np.array([fields[name] for name in NAMES], np.float32)
    env._elapsed_steps = int(fields["time"])


Oracle = oracle_from_gym(
    "MountainCarContinuous-v0",
    place=place,
    fields={
        "position": "unwrapped.state[0]",
        "velocity": "unwrapped.state[1]",
        "time": "_elapsed_steps",
    },
    load=load,
)


def placed(state, start):
    position, velocity = start.fields["state"]
    return state.replace(position=position, velocity=velocity)


FIELDS = {name: name for name in (*NAMES, "time")}
Gymnax = from_gymnax("MountainCarContinuous-v0", place=placed, fields=FIELDS)


class WallMended(ContinuousMountainCar):
    """The wall is where the car is leftmost, and costs no speed that it needs at the goal."""

    def step_env(self, key, state, action, params):
        push = jnp.clip(action[0], params.min_action, params.max_action)
        pull = jnp.cos(3 * state.position) * params.gravity
        velocity = state.velocity + push * params.power - pull
        velocity = jnp.clip(velocity, -params.max_speed, params.max_speed)
        position = jnp.clip(state.position + velocity, params.min_position, params.max_position)
        velocity = jnp.where((position == params.min_position) & (velocity < 0), 0.0, velocity)
        state = state.replace(position=position, velocity=velocity, time=state.time + 1)
        over = self.is_terminated(state, params)
        return self.get_obs(state), state, 100.0 * over - 0.1 * action[0] ** 2, over, {}


Mended = from_gymnax(WallMended(), place=placed, fields=FIELDS)


def probe(params):
    return Probe({name: version(name) for name in ("gymnasium", "gymnax")})


_HERE = "twinstep.tests.inward.car"
CAR = Environment(
    "car",
    contract,
    OracleRef(
        "MountainCarContinuous-v0", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.inward"
    ),
    (CandidateRef("gymnax", f"{_HERE}:Gymnax"), CandidateRef("mended", f"{_HERE}:Mended")),
)
