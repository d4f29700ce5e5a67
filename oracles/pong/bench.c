/* Plays PufferLib's Pong for `twinstep bench`: many steps in one call, every observation kept.
 *
 * The step is pong.h's own c_step, with its own auto-reset and the draws that oracle.c
 * injects. The game's buffers are copied to a row of [T, N, ...] after it: a row in
 * place of the buffer would be slower, because the compiler then must assume that a write to
 * the observation changes the game.
 */
#include "oracle.c"

/* A Game is the first part of a Lane: lane_table's offsets hold here too. */
EXPORT const uint64_t game_size = sizeof(Game);

/* Begin the episode of each seed[n][2]. */
EXPORT void bench_begin(Game *games, int64_t n, const uint32_t *seed, unsigned max_score,
                        int frameskip, int continuous) {
    for (int64_t i = 0; i < n; i++) {
        init_game(&games[i], max_score, frameskip, continuous);
        games[i].key = h32(seed[2 * i] ^ h32(seed[2 * i + 1]));
        c_reset(enter(&games[i]));
    }
}

/* Play `steps` steps of games[n], `block` games at a time: all steps of a block before the
* next one begins; block = n plays step by step. A row of the arrays has `row` games, these n
* among them. */
EXPORT void bench_play(Game *games, int64_t n, int64_t steps, int64_t row, int64_t block,
                       const float *actions, float *obs, float *rewards,
                       unsigned char *terminals) {
    for (int64_t first = 0; first < n; first += block) {
        int64_t last = first + block < n ? first + block : n;
        for (int64_t t = 0; t < steps; t++) {
            for (int64_t i = first; i < last; i++) {
                Game *game = &games[i];
                Pong *env = enter(game);
                game->action = actions[t * row + i];
                c_step(env);
                memcpy(obs + 8 * (t * row + i), game->obs, 32);
                rewards[t * row + i] = game->reward;
                terminals[t * row + i] = game->terminal;
            }
        }
    }
}
