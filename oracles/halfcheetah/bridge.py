"""Gymnasium's HalfCheetah-v5 as an oracle: one real environment, and many side by side.

The one episode is `gymnasium.make`'s own, wrappers included. Lanes leave the wrappers out:
each has its own MuJoCo state, stepped by the same library on the same model, and takes its
reward from the environment's own function. Both give the same bits.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.halfcheetah import modules, places
from twinstep.oracles.halfcheetah.modules import mujoco

WORD = 2**32
#: Threads that step lanes: MuJoCo's steps run without Python's lock, the code around them does
#: not.
THREADS = 2
#: Body that touches the floor -> its event.
TOUCHES = {
    "bfoot": "back_foot",
    "ffoot": "front_foot",
    "head": "head",
    "torso": "torso",
    "fshin": "front_shin",
    "bshin": "back_shin",
    "bthigh": "back_thigh",
    "fthigh": "front_thigh",
}


def environment(contract: Contract) -> gymnasium.Env:
    """Return a new HalfCheetah-v5 that can be stepped."""
    # Stepping past the end is intended; the reference warns of it.
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    # MuJoCo would write its warnings of bad numbers to a file in the working folder.
    mujoco.set_mju_user_warning(lambda text: None)
    env = gymnasium.make(
        "HalfCheetah-v5",
        max_episode_steps=contract.params["max_episode_steps"],
        disable_env_checker=True,  # it only warns
    )
    env.reset(seed=0)
    return env


def inner(env: gymnasium.Env) -> Any:
    """Return the environment without its wrappers, whose model and data are MuJoCo's."""
    return env.unwrapped


def integer(seed: Any) -> int:
    """Return the integer of a seed u32[2], the low word first."""
    low, high = (int(word) for word in seed)
    return low + high * WORD


class Watch:
    """Record of events in MuJoCo states, row by row, for a contract's events.

    A state keeps the contacts and limits with which its latest forces were found: after a step
    those at the beginning of the last substep, after a reset those of the start.
    """

    def __init__(self, model: Any, contract: Contract, rows: int) -> None:
        self._names = contract.events
        self._limit = contract.params["max_episode_steps"]
        self._geoms = [TOUCHES.get(model.geom(n).name, "") for n in range(model.ngeom)]
        self._touches = np.zeros((rows, model.ngeom), bool)
        self._contacts, self._limits = np.zeros(rows, int), np.zeros(rows, int)
        self._noted = np.zeros(rows, bool)

    def note(self, row: int, data: Any) -> None:
        """Record the events of this state."""
        contacts = data.ncon
        self._contacts[row], self._limits[row] = contacts, data.nl
        self._touches[row] = False
        if contacts:
            self._touches[row, data.contact.geom[:, 1]] = True
        self._noted[row] = True

    def forget(self, row: int) -> None:
        """Clear the record, as after a load."""
        self._noted[row] = False

    def events(self, angle: np.ndarray, elapsed: np.ndarray) -> np.ndarray:
        """Return bool[rows, E] for the torsos' angles and the steps played.

        KeyError if the contract has an event that is unknown here.
        """
        happened = dict(zip(self._geoms, self._touches.T, strict=True))
        happened["limit"] = self._limits >= 1
        happened["two_limits"] = self._limits >= 2
        happened["three_contacts"] = self._contacts >= 3
        happened["upside_down"] = np.cos(angle) < 0  # the angle counts turns
        happened["truncated"] = elapsed >= self._limit
        return np.stack([happened[name] for name in self._names], 1) & self._noted[:, None]


class HalfCheetahLanes:
    """`count` episodes side by side; see protocols.Lanes. Frames are copies, never views.

    mujoco.rollout would step all of them in one call and give the same qpos and qvel, but it
    does not hand back the acceleration that the solver starts from next (qacc_warmstart),
    without which an episode does not continue bit for bit.
    """

    def __init__(self, contract: Contract, count: int, threads: int = THREADS) -> None:
        self._env = environment(contract)
        self._contract = contract
        self._limit = contract.params["max_episode_steps"]
        self._model = inner(self._env).model
        self._skip, self._dt = inner(self._env).frame_skip, inner(self._env).dt
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._threads = threads
        self._data: list[Any] = []
        self._resize(count)

    def reset(self, starts: Start) -> Frame:
        """Begin one episode per lane, from seed u32[N, 2]; other fields are not used."""
        seeds = np.asarray(starts.seed)
        if len(seeds) != len(self._data):  # the last batch may be smaller
            self._resize(len(seeds))
        return self.begin(starts, np.arange(len(seeds)))

    def begin(self, starts: Start, lanes: Any) -> Frame:
        """Begin episodes of the seeds u32[len(lanes), 2] in these lanes; others keep theirs."""
        self._reward[lanes] = 0
        self._state["elapsed"][lanes] = 0
        for lane, seed in zip(np.asarray(lanes).tolist(), np.asarray(starts.seed), strict=True):
            self._env.reset(seed=integer(seed))
            made = inner(self._env).data
            self._put(lane, made.qpos, made.qvel, made.qacc_warmstart)
            self._watch.note(lane, made)
        return self._frame()

    def step(self, actions: Any, live: Any) -> Frame:
        """Apply actions [N, 1, 6] to the lanes with live[N]; other lanes keep their frame."""
        actions = np.asarray(actions)[:, 0]
        which = np.flatnonzero(live)
        self._state["elapsed"][which] += 1
        if self._pool is None or len(which) < 2 * self._threads:
            self._advance(which, actions)
        else:
            parts = np.array_split(which, self._threads)
            list(self._pool.map(lambda part: self._advance(part, actions), parts))
        return self._frame()

    def load(self, state: Fields, lanes: Any) -> None:
        """Set the lanes with these indices to state fields with a leading len(lanes)."""
        for row, lane in enumerate(np.asarray(lanes).tolist()):
            parts = (state[name][row] for name in ("qpos", "qvel", "qacc_warmstart"))
            self._put(lane, *parts)
            self._state["elapsed"][lane] = state["elapsed"][row]
            self._reward[lane] = 0
            self._watch.forget(lane)

    def events(self) -> np.ndarray:
        """Return bool[N, E]: which contract.events the latest reset or step caused."""
        return self._watch.events(self._state["qpos"][:, 2], self._state["elapsed"])

    def _advance(self, which: np.ndarray, actions: np.ndarray) -> None:
        """Play one step of these lanes, exactly as the environment's own step does."""
        model, skip, reward_of = self._model, self._skip, inner(self._env)._get_rew
        qpos, qvel, warm = (self._state[name] for name in ("qpos", "qvel", "qacc_warmstart"))
        control = actions.astype(np.float64)  # as assigning to ctrl does it one by one
        for lane in which.tolist():
            data = self._data[lane]
            before = data.qpos[0]
            data.ctrl[:] = control[lane]
            mujoco.mj_step(model, data, nstep=skip)
            x_velocity = (data.qpos[0] - before) / self._dt
            self._reward[lane] = reward_of(x_velocity, actions[lane])[0]
            qpos[lane], qvel[lane], warm[lane] = data.qpos, data.qvel, data.qacc_warmstart
            self._watch.note(lane, data)

    def _put(self, lane: int, qpos: Any, qvel: Any, warmstart: Any) -> None:
        data = self._data[lane]
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = qpos, qvel, warmstart
        self._state["qpos"][lane], self._state["qvel"][lane] = qpos, qvel
        self._state["qacc_warmstart"][lane] = warmstart

    def _resize(self, count: int) -> None:
        kept = self._data[:count]
        self._data = kept + [mujoco.MjData(self._model) for _ in range(count - len(kept))]
        self._state = {
            field.name: np.zeros((count, *field.shape), field.dtype)
            for field in self._contract.state
        }
        self._reward = np.zeros(count)
        self._watch = Watch(self._model, self._contract, count)

    def _frame(self) -> Frame:
        state = {name: value.copy() for name, value in self._state.items()}
        count = len(self._data)
        return Frame(
            obs=np.concatenate([state["qpos"][:, 1:], state["qvel"]], 1)[:, None],
            reward=self._reward[:, None].copy(),
            terminated=np.zeros(count, bool),
            truncated=state["elapsed"] >= self._limit,
            acting=np.ones((count, 1), bool),
            legal=None,
            state=state,
        )


class HalfCheetahOracle:
    """One episode; see protocols.Oracle."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._env = environment(contract)
        self._watch = Watch(inner(self._env).model, contract, 1)
        self._bench: Any = None

    def reset(self, start: Start) -> Frame:
        """Begin the episode of the seed u32[2]; other fields are not used."""
        obs, _ = self._env.reset(seed=integer(start.seed))
        self._watch.note(0, inner(self._env).data)
        return self._frame(obs, 0.0, False, False)

    def step(self, action: Any) -> Frame:
        """Apply an action [1, 6]."""
        obs, reward, terminated, truncated, _ = self._env.step(np.asarray(action)[0])
        self._watch.note(0, inner(self._env).data)
        return self._frame(obs, float(reward), terminated, truncated)

    def load(self, state: Fields) -> None:
        """Continue from a frame's state. MuJoCo keeps nothing else that a step reads."""
        data = inner(self._env).data
        data.qpos[:], data.qvel[:] = state["qpos"], state["qvel"]
        data.qacc_warmstart[:] = state["qacc_warmstart"]
        self._env.set_wrapper_attr("_elapsed_steps", int(state["elapsed"]))
        self._watch.forget(0)

    def events(self) -> np.ndarray:
        """Return bool[E]: which contract.events the latest reset or step caused."""
        angle, elapsed = inner(self._env).data.qpos[2:3], self._elapsed()
        return self._watch.events(angle, np.array([elapsed]))[0]

    def call(self, module: str, inputs: Fields) -> dict[str, np.ndarray]:
        """Evaluate one module on inputs with a leading N; the episode is not touched."""
        return modules.call(self._side(), self._contract, module, inputs)

    def places(self, count: int, seed: int, dtype: str = "float64") -> dict[str, np.ndarray]:
        """Return state fields [count, ...] and an `action` [count, 1, 6]; see `places`."""
        return places.places(inner(self._side()), self._contract, count, seed, dtype)

    def lanes(self, count: int) -> HalfCheetahLanes:
        """Return `count` further episodes, independent of this one."""
        return HalfCheetahLanes(self._contract, count)

    def close(self) -> None:
        """Free the environments."""
        self._env.close()
        if self._bench is not None:
            self._bench.close()

    def _elapsed(self) -> int:
        return self._env.get_wrapper_attr("_elapsed_steps")

    def _side(self) -> gymnasium.Env:
        """Return a second environment, used only for looking at states."""
        if self._bench is None:
            self._bench = environment(self._contract)
        return self._bench

    def _frame(self, obs: np.ndarray, reward: float, terminated: bool, truncated: bool) -> Frame:
        data = inner(self._env).data
        return Frame(
            obs=obs[None],
            reward=np.array([reward]),
            terminated=np.bool_(terminated),
            truncated=np.bool_(truncated),
            acting=np.ones(1, bool),
            legal=None,
            state={
                "qpos": data.qpos.copy(),
                "qvel": data.qvel.copy(),
                "qacc_warmstart": data.qacc_warmstart.copy(),
                "elapsed": np.int32(self._elapsed()),
            },
        )
