"""MinAtar's Freeway against gymnax's, which draws new cars in every step and throws most away."""

import jax.numpy as jnp

from audits.pair import declared, pins
from audits.references.minatar import GAME, MinAtar
from twinstep import Contract, Discrete, Field
from twinstep.chance import Row
from twinstep.inward import from_gymnax, oracle_from_gym

ROW = Row({"speeds": 8, "sides": 8})

CONTRACT = Contract(
    version="gymnax_freeway-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "bool", (10, 10, 7)),
    state=(
        Field("pos", "int32", low=0, high=9, step=1),
        Field("move_timer", "int32", low=0, high=3, step=1),
        Field("cars", "int32", (8, 4)),
        Field("left", "int32", low=0, high=2500, step=1),
        *ROW.state,
    ),
    starts=ROW.starts,
    make_start=ROW.make_start,
    randomness=ROW.randomness,
    truncates=False,
    # Cars drawn number by number have a speed that is not the size of their velocity.
    placed=0,
    horizon=2600,
)
Oracle = oracle_from_gym(
    lambda: MinAtar("freeway"),
    chance=ROW,
    sites={"freeway.py:119": "speeds", "freeway.py:120": "sides"},
    install=lambda env, draws: setattr(env.game, "random", draws.random_state()),
    fields={
        "pos": GAME.format("pos"),
        "move_timer": GAME.format("move_timer"),
        "cars": GAME.format("cars"),
        "left": GAME.format("terminate_timer"),
    },
)
Candidate = from_gymnax(
    "Freeway-MinAtar",
    chance=ROW,
    sites={
        **{f"freeway.py:{line}": "speeds" for line in (85, 112)},
        **{f"freeway.py:{line}": "sides" for line in (86, 113)},
    },
    observation=lambda obs: obs > 0,
    fields={
        "pos": "pos",
        "move_timer": "move_timer",
        "cars": "cars",
        "left": lambda state: 2500 - state.time,
    },
    load=lambda state, fields: state.replace(
        pos=fields["pos"],
        move_timer=fields["move_timer"],
        cars=fields["cars"].astype(jnp.int32),
        time=2500 - fields["left"],
    ),
)
probe = pins("MinAtar", "gymnax", "jax")
PAIR = declared(__name__, "MinAtar freeway", CONTRACT)
