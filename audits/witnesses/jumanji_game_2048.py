"""gymnasium-2048 begins with two tiles, jumanji with one."""

import gymnasium_2048.envs
import jax
import jumanji

observation, _ = gymnasium_2048.envs.TwentyFortyEightEnv().reset(seed=0)
state, _ = jumanji.make("Game2048-v1").reset(jax.random.key(0))
answers = [int((observation.argmax(-1) > 0).sum()), int((state.board > 0).sum())]
assert answers[0] == answers[1], f"gymnasium-2048 {answers[0]}, jumanji {answers[1]}"
