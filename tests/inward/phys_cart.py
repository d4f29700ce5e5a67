"""Gymnasium's CartPole-v1 against its own port in JAX, `gymnasium.envs.phys2d`."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional, CartPoleParams

from twinstep import (
    CandidateRef,
    Contract,
    Discrete,
    Environment,
    Field,
    GateRule,
    Lockstep,
    OracleRef,
    Probe,
    Randomness,
)
from twinstep.inward import from_functional, oracle_from_gym

NAMES = ("x", "x_dot", "theta", "theta_dot")
RANGES = (2.4, 3.0, 0.2, 3.0)


def make_start(seed):
    unit = np.random.default_rng(seed).random(4)
    return {"state": ((unit - 0.5) / 10).astype(np.float32)}


def contract(params):
    return Contract(
        version="phys_cart-v0",
        params=dict(params),
        action=Discrete(2),
        observation=Field("obs", "float32", (4,), names=NAMES),
        state=tuple(
            Field(n, "float32", low=-r, high=r) for n, r in zip(NAMES, RANGES, strict=True)
        ),
        starts=(Field("state", "float32", (4,)),),
        make_start=make_start,
        randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
        gates=tuple(GateRule(Lockstep(atol=1e-5), fields=each) for each in ("obs", "state.*")),
        truncates=False,  # a functional environment knows no time limit
        horizon=200,
        placed=64,
    )


def place(env, start):
    env.state = np.array(start.fields["state"], np.float64)
    return env.state.astype(np.float32)


# The pair: a line or two for each side.
Oracle = oracle_from_gym(
    lambda: gymnasium.make("CartPole-v1").unwrapped,
    place=place,
    fields={name: f"state[{at}]" for at, name in enumerate(NAMES)},
)


def port(params=None):
    return from_functional(
        CartPoleFunctional(),
        params,
        place=lambda state, start: start.fields["state"],
        fields={name: f"[{at}]" for at, name in enumerate(NAMES)},
    )


Phys, Mended = port(), port(CartPoleParams(polemass_length=0.1 * 0.5))


def probe(params):
    return Probe({"gymnasium": gymnasium.__version__})


_HERE = "twinstep.tests.inward.phys_cart"
PHYS_CART = Environment(
    "phys_cart",
    contract,
    OracleRef("CartPole-v1", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.inward"),
    (CandidateRef("phys2d", f"{_HERE}:Phys"), CandidateRef("mended", f"{_HERE}:Mended")),
)
