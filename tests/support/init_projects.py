"""Starting points for tests of `twinstep init`: one environment twice, and one as a C header.

Slide: a block on a line, pushed left or right. Both sides add in float32, one sum at a time, so
that they agree bit for bit. An episode ends beyond 2, and is truncated after 12 steps.
"""

GYMNASIUM = """
import gymnasium
import numpy as np


class Slide(gymnasium.Env):
    def __init__(self, hidden=False):
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(-9, 9, (2,), np.float32)
        self.hidden = hidden
        self.state = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.winds = {"west": self.np_random.integers(0, 9) / 8 if self.hidden else 0.0}
        self.state = np.array([self.np_random.integers(-8, 9) / 8, 0], np.float32)
        return self.state.copy(), {}

    def step(self, action):
        at, speed = self.state
        speed = speed + np.float32((0.125 if action == 1 else -0.125) + self.winds["west"])
        self.state = np.array([at + speed, speed], np.float32)
        ended = bool(abs(self.state[0]) > 2)
        return self.state.copy(), -abs(float(at)), ended, False, {}


gymnasium.register("Slide-v0", Slide, max_episode_steps=12)
gymnasium.register("Hidden-v0", lambda: Slide(True), max_episode_steps=12)
"""

#: The functional interface of gymnax; `%s`: the way to report the time limit.
GYMNAX = """
import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    speed: object
    at: object
    time: object

    def replace(self, **more):
        return dataclasses.replace(self, **more)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Params:
    max_steps_in_episode: object = 12

    def replace(self, **more):
        return dataclasses.replace(self, **more)


class Discrete:
    n, shape = 2, ()


class Box:
    low, high, shape, dtype = -9.0, 9.0, (2,), jnp.float32


class Slide:
    def action_space(self, params):
        return Discrete()

    def observation_space(self, params):
        return Box()

    def reset_env(self, key, params):
        at = jax.random.randint(key, (), -8, 9).astype(jnp.float32) / 8
        state = State(jnp.float32(0), at, 0)
        return self.get_obs(state), state

    def get_obs(self, state, params=None, key=None):
        return jnp.array([state.at, state.speed])

    def step_env(self, key, state, action, params):
        speed = state.speed + jnp.where(action == 1, 0.125, -0.125)
        after = State(speed, state.at + speed, state.time + 1)
        ended = jnp.abs(after.at) > 2
        %s
        return self.get_obs(after), after, -jnp.abs(state.at), ended, {}


def make(id):
    if id != "Slide-v0":
        raise ValueError(f"{id} is not known")
    return Slide(), Params()
"""
#: 0.x: the end and the time limit are one; 1.0: a method tells the limit.
TOGETHER = "ended = ended | (after.time >= params.max_steps_in_episode)"
APART = "pass"
APARTLY = """
def is_truncated(self, state, params):
    return state.time >= params.max_steps_in_episode


Slide.is_truncated = is_truncated
"""

HEADER = """
#include <stdint.h>
#include "side.h"
typedef struct Walk { int32_t at, goal; uint32_t rng; float *obs; float reward; int done; } Walk;
static void walk_see(Walk *w) { w->obs[0] = w->at / 8.0f; w->obs[1] = w->goal / 8.0f; }
static void walk_reset(Walk *w) {
    w->rng = w->rng * 1664525u + 1013904223u;
    w->at = 0;
    w->goal = w->rng >> 8 & 1 ? SIDE : -SIDE;
    w->done = 0;
    walk_see(w);
}
static void walk_step(Walk *w, int action) {
    w->at += action ? 1 : -1;
    w->done = w->at == w->goal;
    w->reward = w->done ? 1.0f : -0.25f;
    walk_see(w);
}
"""
#: What is put into the generated oracle.c: (text there, text in its place).
FILLED_C = (
    ("FILL IN the struct: ", ""),
    ("typedef struct Env Reference", "typedef Walk Reference"),
    ("FILL IN the fields: ", ""),
    ("float obs[4];", "float obs[2];"),
    ("uint8_t truncated;", "uint8_t truncated;\n    int32_t at;"),
    (
        "/* FILL IN the reset: ",
        "env->obs = out->obs; env->rng = low; walk_reset(env); out->at = 0; /* ",
    ),
    (
        "/* FILL IN the step: ",
        "walk_step(env, *action); out->reward = env->reward; out->at = env->at; "
        "out->terminated = env->done; /* ",
    ),
)
FILLED_CONTRACT = (
    ("FILL IN the actions: ", ""),
    ("FILL IN the observation: ", ""),
    ('"float32", (4,)', '"float32", (2,)'),
    ("STATE: tuple[Field, ...] = ()", 'STATE = (Field("at", "int32", low=-20, high=20, step=1),)'),
    ("FILL IN the randomness: ", ""),
)
FILLED_JAX = (
    (
        "    obs: Array\n    reward",
        "    at: Array\n    goal: Array\n    obs: Array\n    reward",
    ),
    (
        '    raise NotImplementedError("write `reset` in twinstep_walk/fast/candidate.py")',
        "    drawn = start.seed[0] * jnp.uint32(1664525) + jnp.uint32(1013904223)\n"
        "    goal = jnp.where(drawn >> 8 & 1 == 1, 5, -5)\n"
        "    return _seen(jnp.int32(0), goal, jnp.float32(0), jnp.bool_(False))",
    ),
    (
        '    raise NotImplementedError("write `step` in twinstep_walk/fast/candidate.py")',
        "    at = state.at + jnp.where(action[0] == 1, 1, -1)\n"
        "    ended = at == state.goal\n"
        "    return _seen(at, state.goal, jnp.where(ended, 1.0, -0.25), ended)\n\n\n"
        "def _seen(at, goal, reward, ended):\n"
        "    obs = jnp.stack([at, goal]).astype(jnp.float32) / 8\n"
        "    return State(at, goal, obs, reward, ended, jnp.bool_(False))",
    ),
    ("        state={},", '        state={"at": state.at},'),
)


def fill(path, places):
    """Replace each place's text; it is an error if the template no longer contains the place."""
    text = path.read_text()
    for old, new in places:
        assert text.count(old) == 1, f"{path} has {text.count(old)} times: {old}"
        text = text.replace(old, new)
    path.write_text(text)
