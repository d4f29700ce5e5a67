"""Gymnasium's CartPole-v1 against EnvPool's, which chooses its starts itself."""

from __future__ import annotations

import envpool
import gymnasium
import numpy as np

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
from twinstep.inward import from_envpool, oracle_from_gym


def make_start(seed):
    """Return EnvPool's own first observation, which is CartPole's whole state."""
    number = int(seed[0] ^ seed[1]) & 0x7FFFFFFF
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=1, seed=[number])
    return {"state": pool.reset()[0][0]}


def contract(params):
    return Contract(
        version="pool_cart-v0",
        params=dict(params),
        action=Discrete(2),
        observation=Field("obs", "float32", (4,)),
        state=(),
        starts=(Field("state", "float32", (4,)),),
        make_start=make_start,
        randomness=Randomness("EnvPool's start is placed in the reference"),
        gates=(GateRule(Lockstep(atol=1e-4), fields="obs"),),
        horizon=600,
    )


def place(env, start):
    env.unwrapped.state = np.array(start.fields["state"], np.float64)
    return start.fields["state"]


def weaker():
    """Planted: a weaker push."""
    env = gymnasium.make("CartPole-v1")
    env.unwrapped.force_mag = 9.9
    return env


Oracle = oracle_from_gym("CartPole-v1", place=place)
Weaker = oracle_from_gym(weaker, place=place)
Pool = from_envpool("CartPole-v1")


def probe(params):
    return Probe({"gymnasium": gymnasium.__version__})


def declared(name, oracle):
    here = "twinstep.tests.inward.pool_cart"
    return Environment(
        name,
        contract,
        OracleRef("CartPole-v1", f"{here}:{oracle}", f"{here}:probe", "twinstep.tests.inward"),
        (CandidateRef("envpool", f"{here}:Pool"),),
    )


POOL_CART, WEAK_CART = declared("pool_cart", "Oracle"), declared("weak_cart", "Weaker")
