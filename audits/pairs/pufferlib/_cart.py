"""PufferLib's CartPole behind ctypes, with Gymnasium's interface.

It begins again within the step that ends an episode. The state before that is seen where it draws
the next start.
"""

import ctypes

import numpy as np

from audits.pairs.pufferlib._header import library

DRIVER = """
#include <stdlib.h>
static int watched(void);
#define rand watched
#include "cartpole.h"
#undef rand
static Cartpole *now;
static float before[4];
static int over;
static int watched(void) {
    if (!over) {
        over = 1;
        before[0] = now->x, before[1] = now->x_dot;
        before[2] = now->theta, before[3] = now->theta_dot;
    }
    return rand();
}
#define SHOWN __attribute__((visibility("default")))
SHOWN Cartpole *make(void) {
    Cartpole *env = calloc(1, sizeof *env);
    allocate(env);
    return env;
}
SHOWN void end(Cartpole *env) { free_allocated(env); free(env); }
SHOWN void reset(Cartpole *env, unsigned seed, float *state) {
    srand(seed), now = env, over = 1;
    c_reset(env);
    state[0] = env->x, state[1] = env->x_dot, state[2] = env->theta, state[3] = env->theta_dot;
}
SHOWN void place(Cartpole *env, const float *state, int tick) {
    env->x = state[0], env->x_dot = state[1], env->theta = state[2], env->theta_dot = state[3];
    env->tick = tick;
}
SHOWN void step(Cartpole *env, float action, float *state, float *reward, unsigned char *terminal) {
    now = env, over = 0, env->actions[0] = action;
    c_step(env);
    const float after[4] = {env->x, env->x_dot, env->theta, env->theta_dot};
    memcpy(state, over ? before : after, sizeof after);
    *reward = env->rewards[0], *terminal = env->terminals[0];
}
"""
C = library("cartpole", DRIVER)
C.make.restype = ctypes.c_void_p


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Cart:
    """One episode of PufferLib's, with Gymnasium's interface."""

    def __init__(self):
        self.env, self.state, self.time = ctypes.c_void_p(C.make()), np.zeros(4, np.float32), 0
        self._reward, self._terminal = np.zeros(1, np.float32), np.zeros(1, np.uint8)

    def reset(self, seed=None):
        self.state, self.time = np.zeros(4, np.float32), 0
        C.reset(self.env, ctypes.c_uint(seed or 0), pointer(self.state))
        return self.state.copy(), {}

    def step(self, action):
        # Whoever puts it into a state may give numbers of another type.
        self.state = np.array(self.state, np.float32)
        results = (pointer(each) for each in (self.state, self._reward, self._terminal))
        C.place(self.env, pointer(self.state), self.time)
        C.step(self.env, ctypes.c_float(action), *results)
        self.time += 1
        # It has a field for an end by time, and never sets it.
        return self.state.copy(), float(self._reward[0]), bool(self._terminal[0]), False, {}

    def close(self):
        C.end(self.env)
