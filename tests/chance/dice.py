"""A small game that draws while it plays: a reference with NumPy, and a port in JAX.

A token runs to 20. Each step rolls a die and, by the action, a second one; on a multiple of five
the token slides by the first of a shuffled list; then it jumps by a weighted choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from twinstep import CandidateRef, Contract, Discrete, Environment, Field, OracleRef, Probe
from twinstep.chance import Row
from twinstep.inward import from_gymnax, oracle_from_gym

GOAL = 20
MOVES = (-2, 0, 1, 3)
WEIGHTS = (0.5, 0.25, 0.25)
NAMED = Row({"begin": 1, "die": 2, "slide": 4, "jump": 2})
SITES = {"Dice.reset": "begin", "Dice._roll": "die", "Dice._slide": "slide", "Dice._jump": "jump"}
PORT_SITES = {"begin": "begin", "roll": "die", "slide": "slide", "move": "jump"}
#: Of the steady reference, which draws everything in every step, and its port likewise.
ORDERED = Row(9)
FIELDS = {"at": "unwrapped.at", "noise": "unwrapped.noise"}


class Dice(gymnasium.Env):
    """The reference, with NumPy's generator."""

    observation_space = gymnasium.spaces.Box(-100, 100, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(1, 4))
        self.noise = 0.0
        return self._seen(), {}

    def step(self, action):
        self.at += self._roll()
        if action == 1:
            self.at += self._roll()
        if self.at % 5 == 0:
            self.at += self._slide()
        return self._jump()

    def _jump(self):
        self.noise = float(np.float32(self.np_random.normal()))
        jump = int(self.np_random.choice(3, p=WEIGHTS))
        self.at += jump
        return self._seen(), float(jump), self.at >= GOAL, False, {}

    def _roll(self):
        return int(self.np_random.integers(1, 7))

    def _slide(self):
        moves = list(MOVES)
        self.np_random.shuffle(moves)
        return moves[0]

    def _seen(self):
        return np.array([self.at, self.noise], np.float32)


class Steady(Dice):
    """A reference that draws as much in every step."""

    def step(self, action):
        first, second, slide = self._roll(), self._roll(), self._slide()
        self.at += first + second * int(action)
        self.at += slide if self.at % 5 == 0 else 0
        return self._jump()


class Inner(NamedTuple):
    """A state of the port."""

    at: Any
    noise: Any


class DicePort:
    """The port, with gymnax's methods. It draws both dice and the list in every step.

    sides: of a die; the right number is 6. again: whether a last number is drawn and thrown away.
    """

    default_params = None

    def __init__(self, sides=6, again=False):
        self.sides, self.again = sides, again

    def reset_env(self, key, params):
        return self._seen(inner := begin(key)), inner

    def step_env(self, key, inner, action, params):
        inner, jump = move(key, inner, action, self.sides)
        if self.again:
            jax.random.uniform(key)
        return self._seen(inner), inner, jump.astype(jnp.float32), inner.at >= GOAL, {}

    def is_truncated(self, inner, params):
        return jnp.bool_(False)

    def action_space(self, params):
        return gymnasium.spaces.Discrete(2)

    def get_obs(self, inner, params=None, key=None):
        return self._seen(inner)

    def _seen(self, inner):
        return jnp.stack([inner.at.astype(jnp.float32), inner.noise])


@jax.jit
def begin(key):
    key, now = jax.random.split(key)
    return Inner(jax.random.randint(now, (), 1, 4), jnp.float32(0))


def roll(key, sides):
    return jax.random.randint(key, (), 1, sides + 1)


@jax.jit
def slide(key):
    return jax.random.permutation(key, jnp.array(MOVES))[0]


def move(key, inner, action, sides):
    first, second, third, fourth, fifth = jax.random.split(key, 5)
    at = inner.at + roll(first, sides)
    other = roll(second, sides)
    at = jnp.where(action == 1, at + other, at)
    at = jnp.where(at % 5 == 0, at + slide(third), at)
    noise = jax.random.normal(fourth, dtype=jnp.float32)
    jump = jax.random.choice(fifth, 3, p=jnp.array(WEIGHTS))
    return Inner(at + jump, noise), jump


def _contract(row):
    def contract(params):
        at = Field("at", "int32", low=-2, high=GOAL - 1, step=1)
        noise = Field("noise", "float32", low=-3, high=3)
        return Contract(
            version="dice-v0",
            params=dict(params),
            action=Discrete(2),
            observation=Field("obs", "float32", (2,), names=("at", "noise")),
            state=(at, noise, *row.state),
            starts=row.starts,
            make_start=row.make_start,
            randomness=row.randomness,
            horizon=100,
            placed=64,
        )

    return contract


def probe(params):
    return Probe({"gymnasium": gymnasium.__version__})


Oracle = oracle_from_gym(Dice, chance=NAMED, sites=SITES, fields=FIELDS)
SteadyOracle = oracle_from_gym(Steady, chance=ORDERED, fields=FIELDS)
_NAMES = {"at": "at", "noise": "noise"}
Right = from_gymnax(DicePort(), chance=NAMED, sites=PORT_SITES, fields=_NAMES)
Seven = from_gymnax(DicePort(sides=7), chance=NAMED, sites=PORT_SITES, fields=_NAMES)
SteadyRight = from_gymnax(DicePort(), chance=ORDERED, fields=_NAMES)
Again = from_gymnax(DicePort(again=True), chance=ORDERED, fields=_NAMES)

_HERE = "twinstep.tests.chance.dice"


def _environment(name, row, oracle, *kinds):
    return Environment(
        name,
        _contract(row),
        OracleRef("Dice", f"{_HERE}:{oracle}", f"{_HERE}:probe", "twinstep.tests.chance"),
        tuple(CandidateRef(kind.lower(), f"{_HERE}:{kind}") for kind in kinds),
    )


DICE = _environment("dice", NAMED, "Oracle", "Right", "Seven")
STEADY = _environment("steady", ORDERED, "SteadyOracle", "SteadyRight", "Again")
