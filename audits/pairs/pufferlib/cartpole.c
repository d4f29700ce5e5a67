// Calls PufferLib's cartpole.h, and keeps the state that an episode ends in: it is overwritten where
// the next start is drawn.
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
