"""Gymnasium's CartPole-v1 as an oracle, beside candidates made of the same objects."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from twinstep import (
    CandidateRef,
    Contract,
    Discrete,
    Environment,
    Field,
    OracleRef,
    Probe,
    Randomness,
)
from twinstep.inward import from_gym, from_vector, oracle_from_gym

NAMES = ("x", "x_dot", "theta", "theta_dot")
RANGES = (2.4, 3.0, 0.2, 3.0)
FIELDS = {name: f"unwrapped.state[{place}]" for place, name in enumerate(NAMES)}
FIELDS["clock"] = "_elapsed_steps"


def make_start(seed):
    unit = np.random.default_rng(seed).random(4)
    return {"state": (unit - 0.5) / 10}


def contract(params):
    return Contract(
        version="cartpole-v0",
        params=dict(params),
        action=Discrete(2),
        observation=Field("obs", "float32", (4,), names=NAMES),
        state=(
            *(Field(n, "float64", low=-r, high=r) for n, r in zip(NAMES, RANGES, strict=True)),
            Field("clock", "int32", low=0, high=499, step=1),
        ),
        starts=(Field("state", "float64", (4,)),),
        make_start=make_start,
        randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
        horizon=600,
        placed=64,
    )


def place(env, start):
    env.unwrapped.state = np.array(start.fields["state"], np.float64)
    return env.unwrapped.state.astype(np.float32)


def place_all(envs, starts):
    rows = enumerate(envs.envs)
    return np.stack([place(env, starts._replace(fields=_row(starts, lane))) for lane, env in rows])


def _row(starts, lane):
    return {name: values[lane] for name, values in starts.fields.items()}


def heavier():
    """Planted: a stronger gravity."""
    env = gymnasium.make("CartPole-v1")
    env.unwrapped.gravity = 9.81
    return env


class Wide(CartPoleEnv):
    """Planted: starts of its own are ten times as wide."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options={"low": -0.5, "high": 0.5})


def wide():
    return TimeLimit(Wide(), 500)


def show_all(envs):
    states = np.array([env.unwrapped.state for env in envs.envs])
    clocks = np.array([env._elapsed_steps for env in envs.envs])
    return dict(zip(NAMES, states.T, strict=True)) | {"clock": clocks}


def load_all(envs, fields):
    states = np.stack([fields[name] for name in NAMES], 1)
    for env, state, clock in zip(envs.envs, states, fields["clock"], strict=True):
        env.unwrapped.state, env._elapsed_steps = np.array(state), int(clock)


def vectors(mode):
    def make(count):
        one = lambda: gymnasium.make("CartPole-v1")  # noqa: E731
        return SyncVectorEnv([one] * count, autoreset_mode=mode)

    return from_vector(make, place=place_all, fields=show_all, load=load_all)


Oracle = oracle_from_gym("CartPole-v1", place=place, fields=FIELDS)
Objects = from_gym("CartPole-v1", place=place, fields=FIELDS)
Heavier = from_gym(heavier, place=place, fields=FIELDS)
Wider = from_gym(wide, place=place, fields=FIELDS)
NextStep, Disabled = (vectors(m) for m in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED))


def probe(params):
    return Probe({"gymnasium": gymnasium.__version__})


_HERE = "twinstep.tests.inward.cartpole"
CARTPOLE = Environment(
    "cartpole",
    contract,
    OracleRef("CartPole-v1", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.inward"),
    tuple(
        CandidateRef(name, f"{_HERE}:{kind}")
        for name, kind in (
            ("objects", "Objects"),
            ("heavier", "Heavier"),
            ("wide", "Wider"),
            ("next", "NextStep"),
            ("disabled", "Disabled"),
        )
    ),
)
