"""A game in C behind a binary library, which rolls with `rand` by itself, and its ports in JAX."""

from __future__ import annotations

import atexit
import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

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
    JaxCandidate,
    OracleRef,
    Probe,
)
from twinstep.chance import Draws, JaxDraws, Row, interpose

ROW = Row({"roll": 2, "slip": 1})
SITES = {"rand": "roll", "drand48": "slip"}
GOAL = 30
SOURCE = """
#include <stdlib.h>
#include <time.h>
static int at;
int pig_at(void) { return at; }
void pig_place(int value) { at = value; }
void pig_reset(void) { srand(time(NULL)); at = rand() % 3; }
int pig_step(int action) {
    int before = at;
    at += 1 + rand() % 6;
    if (action) at += 1 + rand() % 6;
    if (drand48() < 0.25) at -= 2;
    return at - before;
}
"""


@functools.cache
def library() -> ctypes.CDLL:
    """Return the compiled game with its draws answered."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "pig.c").write_text(SOURCE)
    built = folder / "pig.so"
    flags = ("-O2", "-shared", "-fPIC", "-s")
    subprocess.run(["cc", *flags, str(folder / "pig.c"), "-o", str(built)], check=True)
    loaded = ctypes.CDLL(str(built))
    interpose(loaded)
    return loaded


class Oracle:
    """One game of the library at a time."""

    def __init__(self, contract):
        self._game, self._draws = library(), Draws(ROW, SITES)

    def reset(self, start):
        self._draws.put(start.fields["draws"])
        with self._draws:
            self._game.pig_reset()
        return self._frame(0)

    def step(self, action):
        with self._draws:
            reward = self._game.pig_step(int(action[0]))
        return self._frame(reward)

    def load(self, state):
        self._game.pig_place(int(state["at"]))
        self._draws.put(state["draws"])

    def close(self):
        pass

    def _frame(self, reward):
        at = np.int32(self._game.pig_at())
        return Frame(
            obs=at[None],
            reward=np.array([reward], np.float32),
            terminated=np.bool_(at >= GOAL),
            truncated=np.bool_(False),
            acting=np.ones(1, bool),
            legal=None,
            state={"at": at, **self._draws.state()},
        )


def _candidate(sides):
    draws = JaxDraws(ROW, {"reset": "roll", "roll": "roll", "slip": "slip"})

    def roll(key):
        return (jax.random.bits(key) >> 1) % sides + 1

    def slip(key):
        return jax.random.uniform(key) < 0.25

    def reset(start):
        with draws.of(start.fields["draws"]) as step:
            at = (jax.random.bits(step.key) >> 1) % 3
        return _state(at.astype(jnp.int32), jnp.float32(0), step)

    def play(state, action):
        with draws.of(state["draws"]) as step:
            first, second = (roll(step.key).astype(jnp.int32) for _ in range(2))
            moved = first + jnp.where(action[0] == 1, second, 0)
            moved -= jnp.where(slip(step.key), 2, 0)
        return _state(state["at"] + moved, moved.astype(jnp.float32), step)

    def load(fields):
        return {"at": fields["at"], "draws": fields["draws"], "reward": jnp.float32(0)}

    def _state(at, reward, step):
        return {"at": at, "reward": reward, **step.state()}

    def frame(state):
        return Frame(
            obs=state["at"][None],
            reward=state["reward"][None],
            terminated=state["at"] >= GOAL,
            truncated=jnp.bool_(False),
            acting=jnp.ones(1, bool),
            legal=None,
            state={"at": state["at"], "draws": state["draws"]},
        )

    return {"reset": reset, "step": play, "frame": frame, "load": load}


class Right(JaxCandidate):
    """The right port."""

    def __init__(self, contract):
        super().__init__(contract, **_candidate(6))


class Wrong(JaxCandidate):
    """Planted: a die with five sides."""

    def __init__(self, contract):
        super().__init__(contract, **_candidate(5))


def contract(params):
    return Contract(
        version="pig-v0",
        params=dict(params),
        action=Discrete(2),
        observation=Field("obs", "int32"),
        state=(Field("at", "int32", low=-2, high=GOAL - 1, step=1), *ROW.state),
        starts=ROW.starts,
        make_start=ROW.make_start,
        randomness=ROW.randomness,
        horizon=60,
        placed=64,
    )


def probe(params):
    return Probe({})


_HERE = "twinstep.tests.chance.pig"
PIG = Environment(
    "pig",
    contract,
    OracleRef("pig", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.chance"),
    (CandidateRef("right", f"{_HERE}:Right"), CandidateRef("wrong", f"{_HERE}:Wrong")),
)
