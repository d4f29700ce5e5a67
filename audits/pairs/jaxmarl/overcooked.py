"""overcooked_ai's cramped room against JaxMARL's; both begin in the same placed kitchen."""

import warnings

import jax
import jax.numpy as jnp
import jaxmarl
from jaxmarl.environments.overcooked.common import DIR_TO_VEC, OBJECT_INDEX_TO_VEC, OBJECT_TO_INDEX

from audits.pair import declared, pins
from audits.references.overcooked import COUNTERS, POT, Overcooked, contract
from twinstep import Frame, JaxCandidate

CONTRACT = contract("jaxmarl_overcooked-v0")
#: Code -> JaxMARL's number of what is held, and of what lies on a counter: a soup has three onions.
_NAMES = ("empty", "onion", "plate", "dish", "dish", "dish")
HELD = jnp.array([OBJECT_TO_INDEX[name] for name in _NAMES])
LYING = HELD.at[0].set(OBJECT_TO_INDEX["wall"])
#: JaxMARL's number -> code.
CODES = jnp.zeros(len(OBJECT_TO_INDEX), jnp.int32).at[HELD].set(jnp.array([0, 1, 2, 5, 5, 5]))
#: A pot's number counts down from 23: three onions, then twenty steps.
EMPTY, FULL = 23, 20


def Candidate(contract, dtype="float32"):  # noqa: N802
    """Return JaxMARL's kitchen; its state is its own and the last reward."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a second version of the game
        port = jaxmarl.make("overcooked")
    _, begun = port.reset(jax.random.key(0))
    border = (begun.maze_map.shape[0] - port.height) // 2
    rows, columns = (jnp.array([place[n] + border for place in COUNTERS]) for n in (1, 0))
    pot = POT[1] + border, POT[0] + border

    def load(fields):
        cells = fields["at"][:, 1] + border, fields["at"][:, 0] + border
        before = begun.agent_pos[:, 1] + border, begun.agent_pos[:, 0] + border
        status = jnp.where(fields["onions"] < 3, EMPTY - fields["onions"], FULL)
        status = jnp.where(fields["left"] >= 0, fields["left"], status)
        facing = fields["facing"]
        agents = begun.maze_map[before].at[:, 2].set(facing.astype(jnp.uint8))
        kitchen = (
            begun.maze_map.at[before]
            .set(OBJECT_INDEX_TO_VEC[OBJECT_TO_INDEX["empty"]])
            .at[cells]
            .set(agents)
            .at[rows, columns]
            .set(OBJECT_INDEX_TO_VEC[LYING[fields["counters"]]])
            .at[*pot, 2]
            .set(status.astype(jnp.uint8))
        )
        inner = begun.replace(
            agent_pos=fields["at"].astype(begun.agent_pos.dtype),
            agent_dir=DIR_TO_VEC[facing],
            agent_dir_idx=facing.astype(begun.agent_dir_idx.dtype),
            agent_inv=HELD[fields["held"]].astype(begun.agent_inv.dtype),
            maze_map=kitchen,
            step=fields["time"].astype(begun.step.dtype),
        )
        return inner, jnp.zeros(2, jnp.float32)

    def reset(start):
        return load({**start.fields, "time": jnp.int32(0)})

    def step(state, action):
        moves = dict(zip(port.agents, action, strict=True))
        _, inner, reward, _, _ = port.step_env(jax.random.key(0), state[0], moves)
        same = jax.tree.map(lambda new, old: new.astype(old.dtype), inner, state[0])
        return same, jnp.stack([reward[name] for name in port.agents]).astype(jnp.float32)

    def frame(state):
        inner, reward = state
        held = CODES[inner.agent_inv]
        status = inner.maze_map[*pot, 2].astype(jnp.int32)
        return Frame(
            obs=jnp.stack([held, held]),
            reward=reward,
            terminated=jnp.bool_(False),
            truncated=inner.done,
            acting=jnp.ones(2, bool),
            legal=None,
            state={
                "at": inner.agent_pos.astype(jnp.int32),
                "facing": inner.agent_dir_idx.astype(jnp.int32),
                "held": held,
                "counters": CODES[inner.maze_map[rows, columns, 0]],
                "onions": jnp.minimum(EMPTY - status, 3),
                "left": jnp.where(status < FULL, status, -1),
                "time": inner.step.astype(jnp.int32),
            },
        )

    return JaxCandidate(contract, reset=reset, step=step, frame=frame, load=load, dtype=dtype)


Oracle = Overcooked
probe = pins("overcooked-ai", "jaxmarl", "jax")
PAIR = declared(__name__, "overcooked_ai cramped_room", CONTRACT)
