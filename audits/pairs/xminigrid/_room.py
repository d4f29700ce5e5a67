"""One room on both sides, which begins where MiniGrid's seed puts everything.

The views of the two libraries differ by intent (XLand-MiniGrid sees through walls, and nothing
beyond the room), so the room as a whole is compared: a tile a cell in XLand-MiniGrid's numbers, and
in `state` the agent.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xminigrid
from minigrid.core.constants import OBJECT_TO_IDX

from audits.pair import drifting
from audits.references import minigrid
from twinstep import Contract, Discrete, Field, Frame, JaxCandidate, Randomness
from twinstep.inward import oracle_from_gym

#: MiniGrid's object -> XLand-MiniGrid's tile and colour. Doors: open, closed, locked.
TILES = {"empty": (1, 7), "wall": (2, 6), "goal": (6, 2), "key": (7, 5)}
DOORS = ((10, 5), (9, 5), (8, 5))
#: MiniGrid's action -> XLand-MiniGrid's; `done` has none.
ACTIONS = (2, 1, 0, 3, 4, 5)


def tiles(env: Any) -> np.ndarray:
    """Return MiniGrid's room in XLand-MiniGrid's numbers, uint8[H, W, 2]."""
    cells = env.unwrapped.grid.encode().transpose(1, 0, 2)
    known = {OBJECT_TO_IDX[name]: pair for name, pair in TILES.items()}
    door = OBJECT_TO_IDX["door"]
    rows = [[DOORS[c[2]] if c[0] == door else known[c[0]] for c in row] for row in cells]
    return np.array(rows, np.uint8)


def agent(env: Any) -> dict[str, np.ndarray]:
    """Return MiniGrid's agent in XLand-MiniGrid's numbers."""
    env = env.unwrapped
    carried = TILES[env.carrying.type][0] if env.carrying else 0
    return {
        "position": np.array(env.agent_pos[::-1], np.int32),
        "direction": np.int32((env.agent_dir + 1) % 4),
        "pocket": np.uint8(carried),
        "time": np.int32(env.step_count),
    }


def contract(name: str, minigrid_id: str, size: int, limit: int) -> Contract:
    """Return the contract of a square room with a step limit."""

    def make_start(seed):
        env = minigrid.make(minigrid_id)
        env.reset(seed=int(seed[0]))
        seen = agent(env)
        return {"tiles": tiles(env)} | {n: seen[n] for n in ("position", "direction")}

    return Contract(
        version=f"xminigrid_{name}-v0",
        # XLand-MiniGrid computes the reward in float32.
        gates=drifting(1e-6, "reward"),
        params={},
        action=Discrete(6, ("left", "right", "forward", "pickup", "drop", "toggle")),
        observation=Field("obs", "uint8", (size, size)),
        state=(
            Field("position", "int32", (2,), low=1, high=size - 2, step=1),
            Field("direction", "int32", low=0, high=3, step=1),
            Field("pocket", "uint8", low=0, high=12, step=1),
            Field("time", "int32", low=0, high=limit, step=1),
        ),
        starts=(
            Field("tiles", "uint8", (size, size, 2)),
            Field("position", "int32", (2,)),
            Field("direction", "int32"),
        ),
        make_start=make_start,
        randomness=Randomness("MiniGrid's start is placed in XLand-MiniGrid"),
        horizon=limit,
    )


class Whole:
    """MiniGrid's environment, observed as the room's tiles."""

    def __init__(self, name: str) -> None:
        self.env = minigrid.make(name)

    def reset(self, seed=None):
        self.env.reset(seed=seed)
        return tiles(self.env)[..., 0], {}

    def step(self, action):
        _, *rest = self.env.step(action)
        return tiles(self.env)[..., 0], *rest


def oracle(name: str) -> Any:
    """Return the oracle of one of MiniGrid's IDs."""
    return oracle_from_gym(
        partial(Whole, name),
        seed=lambda start: int(start.seed[0]),
        fields=lambda whole: agent(whole.env),
    )


class State(NamedTuple):
    """One episode: XLand-MiniGrid's time step, and whether the episode has reached its goal."""

    now: Any
    reached: Any


def candidate(name: str) -> Callable[..., JaxCandidate]:
    """Return the factory of one of XLand-MiniGrid's IDs."""

    def build(contract: Contract) -> JaxCandidate:
        port, rules = xminigrid.make(name)

        def reset(start):
            now, given = port.reset(rules, jax.random.key(0)), start.fields
            agent = now.state.agent.replace(
                position=given["position"], direction=given["direction"]
            )
            state = now.state.replace(grid=given["tiles"], agent=agent, step_num=jnp.int32(0))
            return pinned(now.replace(state=state))

        def step(state, action):
            return pinned(port.step(rules, state.now, jnp.array(ACTIONS)[action[0]]))

        def pinned(now):
            typed = {"step_type": jnp.uint8, "reward": jnp.float32, "discount": jnp.float32}
            now = now.replace(**{k: jnp.asarray(getattr(now, k), t) for k, t in typed.items()})
            inner = now.state.replace(step_num=jnp.asarray(now.state.step_num, jnp.int32))
            return State(now.replace(state=inner), now.discount == 0)

        def frame(state):
            now, reached = state
            inner = now.state
            return Frame(
                obs=inner.grid[None, ..., 0].astype(jnp.uint8),
                reward=now.reward[None],
                terminated=reached,
                truncated=inner.step_num >= rules.max_steps,
                acting=jnp.ones(1, bool),
                legal=None,
                state={
                    "position": inner.agent.position.astype(jnp.int32),
                    "direction": inner.agent.direction.astype(jnp.int32),
                    "pocket": inner.agent.pocket[0].astype(jnp.uint8),
                    "time": inner.step_num,
                },
            )

        return JaxCandidate(contract, reset=reset, step=step, frame=frame)

    return build
