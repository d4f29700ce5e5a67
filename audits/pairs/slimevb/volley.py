"""slimevolleygym, where both players are given actions, against slimevb's JAX backend.

Row 0 is the left player. Each serve takes two words. slimevolleygym has one word for all
ends: one by time is called truncated here, as slimevb does.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
from slime_volleyball.backend import set_backend
from slime_volleyball.core import step_pipeline
from slimevolleygym.slimevolley import SlimeVolleyEnv

from audits.pair import declared, pins, rounding
from twinstep import Contract, Discrete, Field, Frame, JaxCandidate
from twinstep.chance import Draws, JaxDraws, Row

ROW = Row({"serve": 2})
LIVES, LIMIT, STILL = 5, 3000, 30
#: Forward, backward, jump.
MOVES = [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 0]]
BALL, PLAYER = ("x", "y", "vx", "vy", "prev_x", "prev_y"), ("x", "y", "vx", "vy")
#: Field of the state -> its range.
NUMBERS = {
    "ball_x": (-23.5, 23.5),
    "ball_y": (2.0, 47.5),
    "ball_vx": (-20.0, 20.0),
    "ball_vy": (-20.0, 20.0),
    "ball_prev_x": (-23.5, 23.5),
    "ball_prev_y": (2.0, 47.5),
    "left_x": (-22.5, -2.0),
    "left_y": (1.5, 4.0),
    "left_vx": (-17.5, 17.5),
    "left_vy": (-13.5, 13.5),
    "right_x": (2.0, 22.5),
    "right_y": (1.5, 4.0),
    "right_vx": (-17.5, 17.5),
    "right_vy": (-13.5, 13.5),
}

CONTRACT = Contract(
    version="slimevb_volley-v0",
    params={},
    action=Discrete(6, ("stay", "forward", "forward and up", "up", "backward and up", "backward")),
    observation=Field("obs", "float32", (12,)),
    state=(
        *(Field(name, "float64", low=low, high=high) for name, (low, high) in NUMBERS.items()),
        Field("lives", "int32", (2,), low=1, high=LIVES, step=1),
        Field("delay", "int32", low=0, high=STILL, step=1),
        Field("time", "int32", low=0, high=LIMIT - 1, step=1),
        *ROW.state,
    ),
    starts=ROW.starts,
    make_start=ROW.make_start,
    randomness=ROW.randomness,
    players=2,
    gates=rounding({"obs": 1e-5, **{f"state.{name}": 1e-4 for name in NUMBERS}}),
    # Numbers drawn one by one are impossible: a ball that is held has not moved.
    placed=0,
    horizon=1000,
)


class Oracle:
    """One game of slimevolleygym."""

    def __init__(self, contract):
        self._env = SlimeVolleyEnv()
        self._draws = Draws(ROW, {"Game.newMatch": "serve", "Game.reset": "serve"})
        self._env.game.np_random = self._draws.generator()

    def reset(self, start):
        self._draws.put(start.fields["draws"])
        with self._draws:
            self._env.reset()
        return self._frame(0.0, False)

    def step(self, action):
        left, right = (MOVES[int(move)] for move in action)
        with self._draws:
            _, reward, _, _ = self._env.step(right, left)
        return self._frame(reward, self._env.t >= LIMIT)

    def load(self, state):
        env, game = self._env, self._env.game
        self._draws.put(0)
        with self._draws:
            env.reset()
        players = game.agent_left, game.agent_right
        for thing, prefix, keys in self._things():
            for key in keys:
                setattr(thing, key, float(state[f"{prefix}_{key}"]))
        for player, lives in zip(players, state["lives"], strict=True):
            player.life = int(lives)
        game.delayScreen.life, env.t = int(state["delay"]), int(state["time"])
        for player, other in (players, players[::-1]):
            player.updateState(game.ball, other)
        self._draws.put(state["draws"])
        return self._frame(0.0, False)

    def close(self):
        pass

    def _things(self):
        game = self._env.game
        yield game.ball, "ball", BALL
        yield game.agent_left, "left", PLAYER
        yield game.agent_right, "right", PLAYER

    def _frame(self, reward, truncated):
        game = self._env.game
        players = game.agent_left, game.agent_right
        return Frame(
            obs=np.array([player.getObservation() for player in players], np.float32),
            reward=np.array([-reward, reward], np.float32),
            terminated=np.bool_(min(player.life for player in players) <= 0),
            truncated=np.bool_(truncated),
            acting=np.ones(2, bool),
            legal=None,
            state={
                **{
                    f"{prefix}_{key}": np.float64(getattr(thing, key))
                    for thing, prefix, keys in self._things()
                    for key in keys
                },
                "lives": np.array([player.life for player in players], np.int32),
                "delay": np.int32(game.delayScreen.life),
                "time": np.int32(self._env.t),
                **self._draws.state(),
            },
        )


def Candidate(contract, dtype="float32"):  # noqa: N802
    """Return slimevb's game; its state is its own, with what a frame shows of the last step."""
    set_backend("jax")
    draws = JaxDraws(ROW, {"_backend_rng_ball_vel": "serve"})
    nothing = jnp.zeros(2, jnp.float32), jnp.zeros(2, bool), jnp.zeros(2, bool)

    def begun(words):
        with draws.of(words) as drawn:
            obs, inner, _ = step_pipeline.reset(drawn.key, LIMIT, LIVES)
        return inner, (obs, *nothing), drawn.state()

    def step(state, action):
        inner, _, row = state
        with draws.of(row["draws"]) as drawn:
            moves = jnp.asarray(MOVES, jnp.float32)[action]
            obs, inner, *now, _ = step_pipeline.step(inner, moves)
        return inner, (obs, *now), drawn.state()

    def load(fields):
        inner, _, _ = begun(fields["draws"])
        ball, left, right = (
            jnp.stack([fields[f"{prefix}_{key}"] for key in keys]).astype(jnp.float32)
            for prefix, keys in (("ball", BALL), ("left", PLAYER), ("right", PLAYER))
        )
        both = jnp.stack([left, right])
        inner = dataclasses.replace(
            inner,
            ball_pos=ball[:2],
            ball_vel=ball[2:4],
            ball_prev_pos=ball[4:],
            agent_pos=both[:, :2],
            agent_vel=both[:, 2:],
            agent_life=fields["lives"],
            delay_life=fields["delay"],
            time=fields["time"],
        )
        obs = step_pipeline.compute_observations(
            inner.agent_pos, inner.agent_vel, inner.ball_pos, inner.ball_vel, None, None
        )
        return inner, (obs, *nothing), {"draws": fields["draws"]}

    def frame(state):
        inner, (obs, reward, terminated, truncated), row = state
        agents = jnp.concatenate([inner.agent_pos, inner.agent_vel], 1).ravel()
        ball = jnp.concatenate([inner.ball_pos, inner.ball_vel, inner.ball_prev_pos])
        numbers = jnp.concatenate([ball, agents])
        return Frame(
            obs=obs,
            reward=reward,
            terminated=terminated[0],
            truncated=truncated[0],
            acting=jnp.ones(2, bool),
            legal=None,
            state={
                **dict(zip(NUMBERS, numbers, strict=True)),
                "lives": inner.agent_life,
                "delay": inner.delay_life,
                "time": inner.time,
                **row,
            },
        )

    def reset(start):
        return begun(start.fields["draws"])

    return JaxCandidate(contract, reset=reset, step=step, frame=frame, load=load, dtype=dtype)


probe = pins("slimevolleygym", "slimevb", "jax")
PAIR = declared(__name__, "slimevolleygym", CONTRACT)
