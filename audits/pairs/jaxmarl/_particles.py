"""One particle environment on both sides; its state is all positions, velocities and the clock.

Both know one end, by time: it counts as a truncation.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jaxmarl
import numpy as np

from audits.pair import uniform
from twinstep import Contract, Discrete, Field, Frame, JaxCandidate, Randomness


def contract(name: str, agents: int, landmarks: int, size: int, gates: Any) -> Contract:
    """Return the contract of a scenario whose agents each see `size` numbers."""
    entities = agents + landmarks
    return Contract(
        version=f"jaxmarl_{name}-v0",
        params={},
        action=Discrete(5, ("stay", "left", "right", "down", "up")),
        observation=Field("obs", "float32", (size,)),
        state=(
            Field("positions", "float64", (entities, 2), low=-1.5, high=1.5),
            Field("velocities", "float64", (agents, 2), low=-1.0, high=1.0),
            Field("time", "int32", low=0, high=24, step=1),
        ),
        randomness=Randomness("positions are placed in both", parts={"start": ("obs",)}),
        players=agents,
        gates=gates,
        horizon=30,
        placed=2048,
        **uniform(np.full((entities, 2), -1.0), 1.0),
    )


class Particles:
    """One of mpe2's parallel environments as an oracle. make: its `parallel_env`."""

    make: Callable[[], Any]

    def __init__(self, contract: Contract) -> None:
        self._env = type(self).make()
        self._env.reset(seed=0)
        self._raw = self._env.aec_env.unwrapped

    def reset(self, start):
        velocities = np.zeros((len(self._raw.world.agents), 2))
        return self.load({"positions": start.fields["state"], "velocities": velocities, "time": 0})

    def step(self, action):
        names = list(self._env.agents)
        moves = {name: int(move) for name, move in zip(names, action, strict=True)}
        seen, rewards, _, truncated, _ = self._env.step(moves)
        return self._frame(
            [seen[name] for name in names],
            [rewards[name] for name in names],
            any(truncated.values()),
        )

    def load(self, state):
        self._env.reset(seed=0)
        self._raw.steps = int(state["time"])
        world = self._raw.world
        for entity, position in zip(world.entities, state["positions"], strict=True):
            entity.state.p_pos = np.array(position, np.float64)
        for agent, velocity in zip(world.agents, state["velocities"], strict=True):
            agent.state.p_vel = np.array(velocity, np.float64)
        seen = [self._raw.scenario.observation(agent, world) for agent in world.agents]
        return self._frame(seen, [0.0] * len(seen), False)

    def close(self):
        self._env.close()

    def _frame(self, seen, rewards, truncated):
        world = self._raw.world
        return Frame(
            obs=np.array(seen, np.float32),
            reward=np.array(rewards, np.float32),
            terminated=np.bool_(False),
            truncated=np.bool_(truncated),
            acting=np.ones(len(rewards), bool),
            legal=None,
            state={
                "positions": np.array([entity.state.p_pos for entity in world.entities]),
                "velocities": np.array([agent.state.p_vel for agent in world.agents]),
                "time": np.int32(self._raw.steps),
            },
        )


def candidate(name: str) -> Callable[..., JaxCandidate]:
    """Return the factory of one of JaxMARL's environments."""

    def build(contract: Contract, dtype: str = "float32") -> JaxCandidate:
        port, players = jaxmarl.make(name), contract.players

        def placed(positions, velocities, time):
            _, inner = port.reset(jax.random.key(0))
            still = jnp.zeros((len(positions) - players, 2), dtype)
            inner = inner.replace(
                p_pos=positions.astype(dtype),
                p_vel=jnp.concatenate([velocities.astype(dtype), still]),
                step=time,
            )
            nothing = jnp.zeros(players, jnp.float32)
            return inner, rows(port.get_obs(inner)), nothing, jnp.bool_(False)

        def rows(named):
            return jnp.stack([named[agent] for agent in port.agents]).astype(jnp.float32)

        def reset(start):
            return placed(start.fields["state"], jnp.zeros((players, 2)), jnp.int32(0))

        def load(fields):
            return placed(fields["positions"], fields["velocities"], fields["time"])

        def step(state, action):
            moves = {agent: action[place] for place, agent in enumerate(port.agents)}
            seen, inner, reward, done, _ = port.step_env(jax.random.key(0), state[0], moves)
            inner = inner.replace(step=jnp.int32(inner.step))
            return inner, rows(seen), rows(reward), done["__all__"]

        def frame(state):
            inner, seen, reward, truncated = state
            return Frame(
                obs=seen,
                reward=reward,
                terminated=jnp.bool_(False),
                truncated=truncated,
                acting=jnp.ones(players, bool),
                legal=None,
                state={
                    "positions": inner.p_pos,
                    "velocities": inner.p_vel[:players],
                    "time": inner.step,
                },
            )

        return JaxCandidate(contract, reset=reset, step=step, frame=frame, load=load, dtype=dtype)

    return build
