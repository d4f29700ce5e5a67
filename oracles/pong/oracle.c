/* Drives PufferLib's Pong: pong.h is included unmodified, only its rand() is redirected here.
 *
 * A lane is one game with the buffers that the reference writes to. NumPy owns the memory
 * of all lanes and reads and writes their fields through the table of offsets below.
 * Compiled in two ways: draws injected from a hash, or with -DSTOCK the C library's rand().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int draw_for_serve(void);
#ifdef STOCK
static int library_rand(void) { return rand(); }
#endif
#define rand draw_for_serve
#include "pong.h"
#undef rand

typedef struct {
    Pong env;
    float obs[8];
    float action;
    float reward;
    unsigned char terminal;
    unsigned char replaying; /* draws repeat: the same step is played once more */
    unsigned char injected;  /* STOCK: this game must not touch the library's stream */
    int32_t drawn;           /* the latest draw */
    uint32_t key;
    uint32_t draws;
} Game;

enum Happened { NOTHING, RESET, STEP };

typedef struct {
    Game now;
    Game before; /* as `now` was before the latest step, for events */
    unsigned char happened;
} Lane;

/* Fields that NumPy may access: name, offset in a Lane, NumPy type, array length (0: none). */
typedef struct {
    const char *name;
    uint64_t offset;
    const char *type;
    uint64_t length;
} Entry;

#define EXPORT __attribute__((visibility("default")))
#define ENV(name, type) {#name, offsetof(Lane, now.env.name), type, 0}

EXPORT const Entry lane_table[] = {
    ENV(paddle_yl, "f4"),
    ENV(paddle_yr, "f4"),
    ENV(ball_x, "f4"),
    ENV(ball_y, "f4"),
    ENV(ball_vx, "f4"),
    ENV(ball_vy, "f4"),
    ENV(paddle_dir, "f4"),
    ENV(score_l, "u4"),
    ENV(score_r, "u4"),
    ENV(tick, "i4"),
    ENV(n_bounces, "i4"),
    ENV(win, "i4"),
    {"log", offsetof(Lane, now.env.log), "f4", sizeof(Log) / sizeof(float)},
    {"last_obs", offsetof(Lane, now.obs), "f4", 8},
    {"rng_key", offsetof(Lane, now.key), "u4", 0},
    {"draws", offsetof(Lane, now.draws), "u4", 0},
    {"action", offsetof(Lane, now.action), "f4", 0},
    {"reward", offsetof(Lane, now.reward), "f4", 0},
    {"terminal", offsetof(Lane, now.terminal), "u1", 0},
    {"happened", offsetof(Lane, happened), "u1", 0},
    /* Settings, which module calls use to keep the rest of a step still. */
    ENV(width, "f4"),
    ENV(paddle_speed, "f4"),
    ENV(frameskip, "i4"),
    ENV(continuous, "i4"),
    {NULL, 0, NULL, 0},
};

EXPORT const uint64_t lane_size = sizeof(Lane);

/* ---- draws ---------------------------------------------------------------------------- */

static Game *playing; /* the game whose step or reset is running */

static uint32_t h32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static int draw_for_serve(void) {
    uint32_t k = playing->draws++;
    if (playing->replaying) {
        return playing->drawn;
    }
#ifdef STOCK
    if (!playing->injected) {
        return playing->drawn = library_rand();
    }
#endif
    return playing->drawn = (int32_t)(h32(playing->key ^ k * 0x9e3779b9u) >> 1);
}

/* ---- one game ------------------------------------------------------------------------- */

/* Point the reference at its buffers and make the game the one that draws. */
static Pong *enter(Game *game) {
    game->env.observations = game->obs;
    game->env.actions = &game->action;
    game->env.rewards = &game->reward;
    game->env.terminals = &game->terminal;
    playing = game;
    return &game->env;
}

/* Copies padding too, so that copies can be compared as bytes. */
static void copy_game(Game *to, const Game *from) {
    memcpy(to, from, sizeof *to);
}

/* The defaults of PufferLib's Python class; other fields are zero as after its calloc. */
static void init_game(Game *game, unsigned max_score, int frameskip, int continuous) {
    memset(game, 0, sizeof *game);
    Pong *env = enter(game);
    env->width = 500;
    env->height = 640;
    env->paddle_width = 20;
    env->paddle_height = 70;
    env->ball_width = 32;
    env->ball_height = 32;
    env->paddle_speed = 8;
    env->ball_initial_speed_x = 10;
    env->ball_initial_speed_y = 1;
    env->ball_max_speed_y = 13;
    env->ball_speed_y_increment = 3;
    env->max_score = max_score;
    env->frameskip = frameskip;
    env->continuous = continuous;
    init(env);
}

/* The auto-reset without its serve, which the final point's frame already holds. */
static void restart_game(Game *game) {
    Pong *env = enter(game);
    env->score_l = 0;
    env->score_r = 0;
    game->reward = 0;
    game->terminal = 0;
    compute_observations(env);
}

/* Return whether both games are in the same state: everything the reference may read or write,
* except its pointers, and the reward and terminal flag of the step. */
static bool same_game(const Game *a, const Game *b) {
    Pong x, y;
    memcpy(&x, &a->env, sizeof x);
    memcpy(&y, &b->env, sizeof y);
    x.observations = y.observations = x.actions = y.actions = x.rewards = y.rewards = NULL;
    x.terminals = y.terminals = NULL;
    return memcmp(&x, &y, sizeof x) == 0 && memcmp(a->obs, b->obs, sizeof a->obs) == 0 &&
           a->key == b->key && a->draws == b->draws && a->drawn == b->drawn;
}

/* One step. At an episode's end the reference resets inside its step, so its frame is not
 * the episode's own. That one is found by playing the same step with a limit one point
 * higher, which makes the point an ordinary one. Returns false if restarting from it
 * did not give exactly what the reference's auto-reset gave. */
static bool step_lane(Lane *lane) {
    Game *now = &lane->now;
    copy_game(&lane->before, now);
    lane->happened = STEP;
    c_step(enter(now));
    if (!now->terminal) {
        return true;
    }
    Game after;
    copy_game(&after, now);
    copy_game(now, &lane->before);
    now->replaying = 1;
    now->drawn = after.drawn;
    now->env.max_score += 1;
    c_step(enter(now));
    now->env.max_score -= 1;
    now->replaying = 0;
    now->terminal = 1;
    memcpy(&now->env.log, &after.env.log, sizeof(Log)); /* written only at the real end */

    Game restarted;
    copy_game(&restarted, now);
    restart_game(&restarted);
    return now->reward == after.reward && same_game(&restarted, &after);
}

/* ---- events --------------------------------------------------------------------------- */

/* In the order of contract.EVENTS. */
enum Event {
    AGENT_BOUNCE,
    OPPONENT_BOUNCE,
    WALL_BOUNCE,
    CORNER_BOUNCE,
    POINT_WON,
    POINT_LOST,
    GAME_WON,
    GAME_LOST,
    AGENT_PADDLE_CLIPPED,
    OPPONENT_PADDLE_CLIPPED,
    VY_LIMITED,
    FLAT_BALL_LIFTED,
    FLAT_SERVE,
    BALL_CLIPPED_X,
    BALL_CLIPPED_Y,
    EVENTS
};

EXPORT const uint64_t event_count = EVENTS;

/* Play one frame of `game` and mark its events. The reference reports no events, so
 * the same frame is played in three games and their values compared:
 *   game   as it is (with a limit out of reach, so that no frame resets the episode);
 *   calm   with the ball standing in mid-field: only paddles, walls and the vertical move
 *          act. A wall bounce is a change of vy's sign bit;
 *   loose  as calm, and paddles without limits: a paddle that differs from calm was clipped.
 * The difference of calm and game is the effect of the two sides on the ball. Returns whether a
 * point was scored, which ends the step. */
static bool frame_events(Game *game, unsigned limit, unsigned char *out) {
    Game calm, loose;
    float ball_x = game->env.ball_x + game->env.ball_vx;
    int bounces = game->env.n_bounces;
    bool was_negative = signbit(game->env.ball_vy);
    copy_game(&calm, game);
    calm.env.ball_x = 240;
    calm.env.ball_vx = 0;
    copy_game(&loose, &calm);
    loose.env.min_paddle_y = -1e6f;
    loose.env.max_paddle_y = 1e6f;
    c_step(enter(&calm));
    c_step(enter(&loose));
    c_step(enter(game));

    const Pong *env = &game->env;
    bool won = game->reward == 1.0f, lost = game->reward == -1.0f, point = won || lost;
    bool bounced = !point && env->n_bounces != bounces;
    bool agent = bounced && game->reward != 0, opponent = bounced && !agent;
    bool wall = (bool)signbit(calm.env.ball_vy) != was_negative;
    /* The value of vy if a bounce only added to it. */
    float vy = calm.env.ball_vy + env->ball_speed_y_increment * env->paddle_dir;
    bool limited = fabsf(env->ball_vy) == env->ball_max_speed_y;

    out[AGENT_BOUNCE] |= agent;
    out[OPPONENT_BOUNCE] |= opponent;
    out[WALL_BOUNCE] |= wall;
    out[CORNER_BOUNCE] |= wall && bounced;
    out[POINT_WON] |= won;
    out[POINT_LOST] |= lost;
    out[GAME_WON] |= won && env->score_r == limit;
    out[GAME_LOST] |= lost && env->score_l == limit;
    out[AGENT_PADDLE_CLIPPED] |= loose.env.paddle_yr != calm.env.paddle_yr;
    out[OPPONENT_PADDLE_CLIPPED] |= loose.env.paddle_yl != calm.env.paddle_yl;
    out[VY_LIMITED] |= agent && env->ball_vy != vy && limited;
    out[FLAT_BALL_LIFTED] |= agent && env->ball_vy != vy && !limited;
    out[FLAT_SERVE] |= point && env->ball_vy == 0;
    out[BALL_CLIPPED_X] |= agent && env->ball_x != ball_x;
    out[BALL_CLIPPED_Y] |= agent && env->ball_y != calm.env.ball_y;
    return point;
}

/* ---- lanes ---------------------------------------------------------------------------- */

EXPORT void lanes_init(Lane *lanes, int64_t n, unsigned max_score, int frameskip, int continuous) {
    for (int64_t i = 0; i < n; i++) {
        memset(&lanes[i], 0, sizeof lanes[i]);
        init_game(&lanes[i].now, max_score, frameskip, continuous);
    }
}

/* Begin the episode of each seed[n][2] in a game as new. */
EXPORT void lanes_reset(Lane *lanes, int64_t n, const uint32_t *seed) {
    for (int64_t i = 0; i < n; i++) {
        Game *game = &lanes[i].now;
        const Pong *env = &game->env;
        init_game(game, env->max_score, env->frameskip, env->continuous);
#ifdef STOCK
        srand(seed[2 * i]);
#endif
        game->key = h32(seed[2 * i] ^ h32(seed[2 * i + 1]));
        c_reset(enter(game));
        lanes[i].happened = RESET;
    }
}

/* Step the live lanes with their `action`. Returns -1, or a lane whose terminal frame does
 * not restart as the reference did. */
EXPORT int64_t lanes_step(Lane *lanes, int64_t n, const unsigned char *live) {
    int64_t wrong = -1;
    for (int64_t i = 0; i < n; i++) {
        lanes[i].happened = NOTHING;
        if (live[i] && !step_lane(&lanes[i])) {
            wrong = i;
        }
    }
    return wrong;
}

/* Restart the lanes with wanted[n] set. */
EXPORT void lanes_restart(Lane *lanes, int64_t n, const unsigned char *wanted) {
    for (int64_t i = 0; i < n; i++) {
        lanes[i].happened = NOTHING;
        if (wanted[i]) {
            restart_game(&lanes[i].now);
        }
    }
}

/* Fill out[n][EVENTS] with the events of the latest reset or step of each lane. */
EXPORT void lanes_events(const Lane *lanes, int64_t n, unsigned char *out) {
    memset(out, 0, (size_t)n * EVENTS);
    for (int64_t i = 0; i < n; i++, out += EVENTS) {
        if (lanes[i].happened == RESET) {
            out[FLAT_SERVE] = lanes[i].now.env.ball_vy == 0;
        } else if (lanes[i].happened == STEP) {
            Game game;
            copy_game(&game, &lanes[i].before);
            game.replaying = 1;
            game.drawn = lanes[i].now.drawn;
            unsigned limit = game.env.max_score;
            int frames = game.env.frameskip;
            game.env.max_score = UINT32_MAX;
            game.env.frameskip = 1;
            game.action = lanes[i].now.action;
            for (int frame = 0; frame < frames && !frame_events(&game, limit, out); frame++) {
            }
        }
    }
}

/* ---- module calls: the others are steps of lanes placed for them ----------------------- */

/* Make every draw of these lanes an injected one, also with -DSTOCK. */
EXPORT void lanes_inject(Lane *lanes, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        lanes[i].now.injected = 1;
    }
}

EXPORT void lanes_serve(Lane *lanes, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        reset_round(enter(&lanes[i].now));
    }
}

EXPORT void lanes_observe(Lane *lanes, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        compute_observations(enter(&lanes[i].now));
    }
}
