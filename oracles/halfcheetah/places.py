"""States for single-step tests: some common in random play, most of them rare there.

Random play shows feet and head touching the floor, one joint at its limit, thighs almost never.
Placed states are found with MuJoCo's own kinematics: a pose is drawn, changed until it has the
wanted property, and let down to the floor.

Contacts and limits begin at an edge. States lie as near to it, on either side, as the candidate's
dtype can tell (`EDGES` in the contract), and never nearer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.halfcheetah import EDGES
from twinstep.oracles.halfcheetah.modules import (
    DRIVEN,
    FIRST_CAPSULE,
    FIRST_DRIVEN,
    JOINTS,
    POINTS,
    ends,
    mujoco,
)

#: Steps of an episode that is played for states, and the number of them taken.
PLAYED, TAKEN = 200, 20
#: Depths of a point in the floor: as in play, and sometimes beyond play's (metres).
USUAL_DEPTH, LARGE_DEPTH = 0.005, 0.02
#: The margin by which a pose must show the wanted property (metres).
CLEAR = 0.001
#: The number of poses searched for one in which a point touches alone, and of poses kept for
#: lying flat.
STARTS, LYING = 30, 6
FAR = 1e3

State = dict[str, np.ndarray]


def places(inside: Any, contract: Contract, count: int, seed: int, dtype: str) -> State:
    """Return `count` states and a control for each, the same for the same seed.

    dtype: that of the candidate's arithmetic. It changes only the distance of one seed's states
    from an edge.

    The state's fields have a leading [count], `action` is f32[count, 1, 6]. A third is played.
    The rest takes turns in `Stage.kinds`; some of all are far away in x. inside: the
    environment without its wrappers; its state is left changed.
    """
    stage = Stage(inside, np.random.default_rng(seed), *EDGES[dtype])
    wanted = count // 3
    states = stage.played(wanted) + stage.placed(count - wanted)
    rng = stage.rng
    limit = contract.params["max_episode_steps"]
    elapsed = rng.integers(0, limit, count)
    elapsed[rng.random(count) < 0.05] = limit - 1
    names = ("qpos", "qvel", "qacc_warmstart")
    made = {name: np.stack([state[n] for state in states]) for n, name in enumerate(names)}
    made["qpos"][:, 0] += np.where(rng.random(count) < 0.1, rng.uniform(-FAR, FAR, count), 0)
    action = rng.uniform(-1.5, 1.5, (count, 1, DRIVEN))
    at_the_ends = rng.random((count, 1, DRIVEN)) < 0.15
    action = np.where(at_the_ends, rng.choice([-1.0, 0.0, 1.0], action.shape), action)
    return {
        **made,
        "elapsed": elapsed.astype(np.int32),
        "action": action.astype(np.float32),
    }


class Stage:
    """MuJoCo's model, one state of it, and the random numbers for placed states.

    nearest, farthest: distances from the edge between which the states "just" at it lie. No state
    lies nearer.
    """

    def __init__(
        self, inside: Any, rng: np.random.Generator, nearest: float, farthest: float
    ) -> None:
        self._inside = inside
        self._model, self._data = inside.model, inside.data
        self.rng = rng
        self._nearest, self._farthest = nearest, farthest
        low, high = self._model.jnt_range[FIRST_DRIVEN:].T
        self._low, self._high = low, high
        self._radius = np.repeat(self._model.geom_size[FIRST_CAPSULE:, 0], 2)
        #: Point -> the pose in which it is farthest below all others, and by how much (metres).
        self._alone: dict[int, tuple[np.ndarray, float]] = {}
        #: Number of points -> some poses with so many points at one height.
        self._lying: dict[int, list[np.ndarray]] = {}

    # ---- states as in play ----------------------------------------------------------

    def played(self, count: int) -> list[tuple[np.ndarray, ...]]:
        """Return `count` states of random play, from all depths of short episodes."""
        states: list[tuple[np.ndarray, ...]] = []
        data = self._data
        while len(states) < count:
            taken = set(self.rng.choice(PLAYED, TAKEN, replace=False).tolist())
            hold = self.rng.integers(1, 6)
            self._inside.reset(seed=int(self.rng.integers(2**32)))
            for step in range(PLAYED):
                if step in taken:
                    states.append(self._copy())
                if step % hold == 0:
                    data.ctrl[:] = self.rng.uniform(-1.2, 1.2, DRIVEN)
                mujoco.mj_step(self._model, data, nstep=self._inside.frame_skip)
        return [(self._off_edges(qpos), *rest) for qpos, *rest in states[:count]]

    # ---- placed ---------------------------------------------------------------------

    def placed(self, count: int) -> list[tuple[np.ndarray, ...]]:
        """Return `count` states, taking the kinds in turn."""
        kinds = self.kinds()
        poses = (kinds[n % len(kinds)]() for n in range(count))
        return [self._moving(self._off_edges(qpos)) for qpos in poses]

    def kinds(self) -> list[Callable[[], np.ndarray]]:
        """Return a maker of poses qpos[9] for each kind; each of the 16 points counts as one."""
        alone = [lambda point=point: self.alone(point) for point in range(POINTS)]
        return [
            *alone,
            *[self.any_way_up] * 4,
            *[self.upside_down] * 4,
            *[self.lying] * 6,
            *[lambda: self.beyond_limits(2)] * 3,
            *[lambda: self.beyond_limits(3)] * 3,
            *[self.just_touching] * 3,
            *[self.just_at_a_limit] * 3,
        ]

    def any_way_up(self) -> np.ndarray:
        """Return a pose at any angle, some after several turns."""
        qpos = self._pose()
        qpos[2] += self.rng.choice([0, 0, 0, -2, -1, 1, 2]) * 2 * math.pi
        return self._let_down(qpos)

    def upside_down(self) -> np.ndarray:
        """Return a pose on its back."""
        qpos = self._pose()
        qpos[2] = self.rng.choice([-1, 1]) * math.pi + self.rng.uniform(-0.7, 0.7)
        return self._let_down(qpos)

    def alone(self, point: int) -> np.ndarray:
        """Return a pose in which this point touches the floor, and no other does if possible.

        A few ends lie within the capsule of the next body: that one is deeper then.
        """

        def clear(gaps: np.ndarray) -> float:
            others = gaps.copy()
            others[point] = math.inf
            return others.min() - gaps[point]

        if point not in self._alone:
            self._alone[point] = self._climb(clear, 2 * CLEAR, STARTS)
        best, most = self._alone[point]
        qpos, found = self._varied(best, clear, min(most / 3, most - CLEAR / 5))
        if found > 0:
            return self._let_down(qpos, self.rng.uniform(0.05, 0.9) * min(found, USUAL_DEPTH))
        return self._let_down(qpos, self.rng.uniform(0.05, 1) * CLEAR - found)

    def lying(self) -> np.ndarray:
        """Return a pose in which four to six points touch the floor."""
        number = int(self.rng.integers(4, 7))
        enough = CLEAR - USUAL_DEPTH

        def level(gaps: np.ndarray) -> float:
            lowest = np.sort(gaps)
            return lowest[0] - lowest[number - 1]

        kept = self._lying.setdefault(number, [])
        while len(kept) < LYING:
            qpos, found = self._climb(level, enough, 1)
            if found > enough:
                kept.append(qpos)
        qpos, found = self._varied(kept[self.rng.integers(LYING)], level, enough)
        return self._let_down(qpos, self.rng.uniform(0.05, 1) * CLEAR - found)

    def beyond_limits(self, number: int) -> np.ndarray:
        """Return a pose with this many joints beyond a limit, in the air or on the floor."""
        qpos = self._pose()
        for joint in self.rng.choice(DRIVEN, number, replace=False):
            by = 10 ** self.rng.uniform(-4, -1.2)
            above = self.rng.random() < 0.5
            beyond = self._high[joint] + by if above else self._low[joint] - by
            qpos[FIRST_DRIVEN + joint] = beyond
        return self._let_down(qpos)

    def just_touching(self) -> np.ndarray:
        """Return a pose whose lowest point is just above the floor or just in it."""
        qpos = self._let_down(self._pose(), 0.0)
        apart = self.rng.choice([-1, 1]) * self._just()
        # The first let-down rounds at the size of the height; the remainder is tiny.
        return self._let_down(qpos, -apart)

    def just_at_a_limit(self) -> np.ndarray:
        """Return a pose with a joint at its limit, or just before it, or just beyond."""
        qpos = self._pose()
        joint = self.rng.integers(DRIVEN)
        limit = self.rng.choice([self._low[joint], self._high[joint]])
        apart = self.rng.choice([-1, 0, 1]) * self._just()
        qpos[FIRST_DRIVEN + joint] = limit + apart
        return self._let_down(qpos)

    # ---- the search for poses -------------------------------------------------------

    def _just(self) -> float:
        """Draw the distance from an edge that counts as "just" at it."""
        return self._nearest * (self._farthest / self._nearest) ** self.rng.random()

    def _off_edges(self, qpos: np.ndarray) -> np.ndarray:
        """Return the pose with no joint and no point nearer to its edge than `nearest`.

        A joint exactly at its limit stays: that is one number in every dtype.
        """
        qpos = qpos.copy()
        joints = qpos[FIRST_DRIVEN:]
        for limit in (self._low, self._high):
            apart = joints - limit
            near = (apart != 0) & (np.abs(apart) < self._nearest)
            joints[near] = (limit + np.copysign(self._nearest, apart))[near]
        # Raised step by step: a point raised past one edge may bring another point to its edge.
        while (np.abs(self._gaps(qpos)) < self._nearest).any():
            qpos[1] += self._nearest
        return qpos

    def _pose(self) -> np.ndarray:
        """Draw an angle and the joints, the torso at its height of 0."""
        qpos = np.zeros(JOINTS)
        qpos[2] = self.rng.uniform(-math.pi, math.pi)
        qpos[FIRST_DRIVEN:] = self.rng.uniform(self._low, self._high)
        return qpos

    def _climb(
        self, worth: Callable[[np.ndarray], float], enough: float, starts: int
    ) -> tuple[np.ndarray, float]:
        """Return a pose and the score of its points' heights: `enough`, or else the best found.

        From several start poses, random changes are kept where they are better.
        """
        found: list[tuple[np.ndarray, float]] = []
        for _ in range(starts):
            best = self._pose()
            most, size = worth(self._gaps(best)), 1.0
            for _ in range(300):
                if most > enough:
                    return best, most
                tried = self._near(best, size)
                value = worth(self._gaps(tried))
                if value > most:
                    best, most, size = tried, value, min(1.0, size * 1.5)
                else:
                    size = max(0.003, size * 0.97)
            found.append((best, most))
        return max(found, key=lambda pose: pose[1])

    def _varied(
        self, best: np.ndarray, worth: Callable[[np.ndarray], float], least: float
    ) -> tuple[np.ndarray, float]:
        """Return a pose around `best` with at least this score, and its score."""
        size = 1.0
        while True:
            qpos, size = self._near(best, size), size * 0.7
            found = worth(self._gaps(qpos))
            if found >= least:
                return qpos, found

    def _near(self, qpos: np.ndarray, size: float) -> np.ndarray:
        """Return a pose that differs from this one by about `size`, at height 0."""
        near = qpos + size * self.rng.normal(0, 0.3, JOINTS)
        near[:2] = 0
        near[FIRST_DRIVEN:] = np.clip(near[FIRST_DRIVEN:], self._low, self._high)
        return near

    def _gaps(self, qpos: np.ndarray) -> np.ndarray:
        """Return f64[16]: the height of each point above the floor."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        return ends(self._model, self._data)[:, 2] - self._radius

    def _let_down(self, qpos: np.ndarray, depth: float | None = None) -> np.ndarray:
        """Bring the lowest point to a depth in the floor; without one, to one that is drawn."""
        if depth is None:
            chance = self.rng.random()
            if chance < 0.25:
                depth = -self.rng.uniform(0, 0.05)
            elif chance < 0.95:
                depth = self.rng.uniform(0, USUAL_DEPTH)
            else:
                depth = self.rng.uniform(USUAL_DEPTH, LARGE_DEPTH)
        let_down = qpos.copy()
        let_down[1] -= self._gaps(qpos).min() + depth
        return let_down

    def _moving(self, qpos: np.ndarray) -> tuple[np.ndarray, ...]:
        """Give a pose speeds, up to far above play's, and a start for the solver."""
        speed = self.rng.choice([0.0, 1.0, 5.0, 25.0], p=[0.1, 0.4, 0.35, 0.15])
        qvel = speed * self.rng.normal(size=JOINTS)
        data = self._data
        data.qpos[:], data.qvel[:] = qpos, qvel
        data.ctrl[:] = self.rng.uniform(-1, 1, DRIVEN)
        mujoco.mj_forward(self._model, data)
        start = self.rng.integers(3)
        warm = (data.qacc.copy(), np.zeros(JOINTS), 300 * self.rng.normal(size=JOINTS))[start]
        return qpos, qvel, warm

    def _copy(self) -> tuple[np.ndarray, ...]:
        data = self._data
        return data.qpos.copy(), data.qvel.copy(), data.qacc_warmstart.copy()
