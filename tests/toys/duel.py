"""Duel: two players, decisions in turn and at once, legal masks, draws. A toy.

A heap of stones; in a round where both have equal points they decide at once, else only the
player who is behind. Taking k (1 to 3, at most what the heap holds; 0 passes, legal only when
deciding at once) scores k points, and a coin drawn once a round gives the taker of more one
point extra. An empty heap ends the game (terminated), 12 rounds cut it (truncated).
"""

from __future__ import annotations

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Measure, Module, Randomness
from twinstep.environment import CandidateRef, Environment, OracleRef, Probe
from twinstep.frames import Frame

ROUNDS = 12


def contract(params):
    whole = lambda name, low, high: Field(name, "int32", low=low, high=high, step=1)  # noqa: E731
    heap, left, right = whole("heap", 0, 25), whole("left", 0, 40), whole("right", 0, 40)
    return Contract(
        version="duel-v0",
        params=dict(params),
        action=Discrete(4, ("pass", "take 1", "take 2", "take 3")),
        observation=Field("obs", "int32", (3,), names=("heap", "mine", "theirs")),
        state=(
            heap,
            left,
            right,
            whole("round", 0, ROUNDS),
            Field("key", "uint32", low=0, high=2**32 - 1, step=1),
            Field("draws", "uint32", low=0, high=20, step=1),
        ),
        randomness=Randomness(
            "a counter-based coin",
            draws="draws",
            parts={"heap": ("state.heap",), "head start": ("state.left",)},
        ),
        players=2,
        masked=True,
        modules=(
            Module(
                "take",
                inputs=(whole("heap", 0, 25), whole("first", 0, 3), whole("second", 0, 3)),
                outputs=(whole("heap", 0, 25), whole("got_left", 0, 3), whole("got_right", 0, 3)),
                source="duel.py:1-10",
            ),
        ),
        events=("both_decided", "one_decided", "coin_paid", "heap_emptied", "rounds_over"),
        measures=(Measure("most points", "state.left", "max"),),
        drivers=("random", "sticky", "seeking"),
        illegal="no rule says what it does",
        horizon=40,
    )


class Oracle:
    """The reference: one game, plain integers."""

    def __init__(self, contract):
        self.s = {}
        self.happened = set()

    def reset(self, start):
        a, b = (int(word) for word in start.seed)
        key = (a * 2654435761 ^ b * 40503 ^ 0x5BD1E995) & 0xFFFFFFFF
        self.s = {"key": key, "draws": 0, "round": 0, "right": 0}
        self.s["heap"] = 14 + self._draw() % 12
        self.s["left"] = self._draw() % 2
        self.happened = set()
        return self._frame([0, 0])

    def load(self, state):
        self.s = {name: int(value) for name, value in state.items()}

    def step(self, action):
        s, acting = self.s, self._acting()
        self.happened = {"both_decided" if all(acting) else "one_decided"}
        takes = [int(action[p]) if acting[p] else 0 for p in (0, 1)]
        s["heap"], got = self._take(s["heap"], *takes)
        reward = list(got)
        if self._draw() % 2 and got[0] != got[1]:
            reward[0 if got[0] > got[1] else 1] += 1
            self.happened.add("coin_paid")
        s["left"] += reward[0]
        s["right"] += reward[1]
        s["round"] += 1
        if s["heap"] == 0:
            self.happened.add("heap_emptied")
        elif s["round"] >= ROUNDS:
            self.happened.add("rounds_over")
        return self._frame(reward)

    def call(self, module, inputs):
        rows = [self._take(*map(int, row)) for row in zip(*inputs.values(), strict=True)]
        heaps, gots = [r[0] for r in rows], [r[1] for r in rows]
        return {
            "heap": np.array(heaps, np.int32),
            "got_left": np.array([g[0] for g in gots], np.int32),
            "got_right": np.array([g[1] for g in gots], np.int32),
        }

    def events(self):
        names = ("both_decided", "one_decided", "coin_paid", "heap_emptied", "rounds_over")
        return np.array([name in self.happened for name in names])

    def close(self):
        pass

    def _take(self, heap, first, second):
        got = []
        for wanted in (first, second):
            given = min(wanted, heap)
            heap -= given
            got.append(given)
        return heap, got

    def _draw(self):
        x = (self.s["key"] + self.s["draws"] * 0x9E3779B9) & 0xFFFFFFFF
        self.s["draws"] += 1
        x = (x ^ x >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
        return (x ^ x >> 13) >> 3

    def _acting(self):
        s = self.s
        if s["heap"] == 0 or s["round"] >= ROUNDS:
            return [False, False]
        return [s["left"] <= s["right"], s["right"] <= s["left"]]

    def _frame(self, reward):
        s, acting = self.s, self._acting()
        over = s["heap"] == 0
        legal = np.zeros((2, 4), bool)
        for player in (0, 1):
            if acting[player]:
                legal[player, 1 : 1 + min(3, s["heap"])] = True
                legal[player, 0] = all(acting)
        return Frame(
            obs=np.array(
                [[s["heap"], s["left"], s["right"]], [s["heap"], s["right"], s["left"]]], np.int32
            ),
            reward=np.array(reward, np.float32),
            terminated=np.bool_(over),
            truncated=np.bool_(not over and s["round"] >= ROUNDS),
            acting=np.array(acting),
            legal=legal,
            state={
                name: np.array(s[name], np.uint32 if name in ("key", "draws") else np.int32)
                for name in ("heap", "left", "right", "round", "key", "draws")
            },
        )


class Vector:
    """The fast one: arrays over all games, written apart from the oracle."""

    dtype, platform = "float32", "cpu"

    def __init__(self, contract):
        self.contract = contract

    def reset(self, starts):
        seed = np.asarray(starts.seed, np.uint64)
        key = (seed[:, 0] * 2654435761 ^ seed[:, 1] * 40503 ^ 0x5BD1E995).astype(np.uint32)
        n = len(key)
        state = np.zeros((5, n), np.int64)
        state[0] = 14 + self.coin(key, 0) % 12
        state[1] = self.coin(key, 1) % 2
        state[4] = 2
        return (state, key), self._frame(state, key, np.zeros((n, 2), np.float32))

    def load(self, fields):
        names = ("heap", "left", "right", "round", "draws")
        state = np.stack([np.asarray(fields[name]).astype(np.int64) for name in names])
        return state, np.asarray(fields["key"], np.uint32)

    def copy(self, state):
        return state[0].copy(), state[1].copy()

    def step(self, state, actions):
        values, key = state
        acting = self.acting(values)
        takes = np.where(acting, np.asarray(actions), 0)
        heap, got = self.take(values[0], takes[:, 0], takes[:, 1])
        coin = self.coin(key, values[4]) % 2 == 1
        more = got > got[:, ::-1]
        reward = got + (more & coin[:, None])
        values = np.stack(
            [heap, values[1] + reward[:, 0], values[2] + reward[:, 1], values[3] + 1, values[4] + 1]
        )
        return (values, key), self._frame(values, key, reward.astype(np.float32))

    def call(self, module, inputs):
        heap, got = self.take(*(np.asarray(value, np.int64) for value in inputs.values()))
        heap, got = heap.astype(np.int32), got.astype(np.int32)
        return {"heap": heap, "got_left": got[:, 0], "got_right": got[:, 1]}

    def take(self, heap, first, second):
        left = np.minimum(first, heap)
        right = np.minimum(second, heap - left)
        return heap - left - right, np.stack([left, right], 1)

    def coin(self, key, count):
        with np.errstate(over="ignore"):
            x = key + np.asarray(count).astype(np.uint32) * np.uint32(0x9E3779B9)
            x = (x ^ (x >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
        return ((x ^ (x >> np.uint32(13))) >> np.uint32(3)).astype(np.int64)

    def acting(self, values):
        heap, left, right, rounds, _ = values
        going = (heap > 0) & (rounds < ROUNDS)
        return np.stack([going & (left <= right), going & (right <= left)], 1)

    def _frame(self, values, key, reward):
        heap, left, right, rounds, draws = values
        acting = self.acting(values)
        count = np.minimum(heap, 3)[:, None, None]
        legal = acting[:, :, None] & (np.arange(4) <= count) & (np.arange(4) > 0)
        legal[:, :, 0] = acting.all(1)[:, None] & acting
        mine = [np.stack([heap, left, right], 1), np.stack([heap, right, left], 1)]
        whole = {"heap": heap, "left": left, "right": right, "round": rounds}
        return Frame(
            obs=np.stack(mine, 1).astype(np.int32),
            reward=reward,
            terminated=heap == 0,
            truncated=(heap != 0) & (rounds >= ROUNDS),
            acting=acting,
            legal=legal,
            state={name: value.astype(np.int32) for name, value in whole.items()}
            | {"key": key, "draws": draws.astype(np.uint32)},
        )


class WrongMask(Vector):
    """Planted: passing stays legal when one player decides alone with one stone left."""

    def _frame(self, values, key, reward):
        frame = super()._frame(values, key, reward)
        alone = (values[0] == 1)[:, None] & frame.acting
        frame.legal[:, :, 0] |= alone
        return frame


class WrongTake(Vector):
    """Planted: the second player is served from the heap before the first took."""

    def take(self, heap, first, second):
        left, right = np.minimum(first, heap), np.minimum(second, heap)
        return np.maximum(heap - left - right, 0), np.stack([left, right], 1)


class WrongStep(Vector):
    """Planted: a step forgets what was taken in the third round."""

    def step(self, state, actions):
        (values, key), frame = super().step(state, actions)
        frame.state["heap"][values[3] == 3] += 1
        return (values, key), frame


def probe(params):
    return Probe({"duel": "1"})


_HERE = "twinstep.tests.toys.duel"
DUEL = Environment(
    "duel",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("vector", f"{_HERE}:Vector"),
        CandidateRef("wrongmask", f"{_HERE}:WrongMask"),
        CandidateRef("wrongtake", f"{_HERE}:WrongTake"),
        CandidateRef("wrongstep", f"{_HERE}:WrongStep"),
    ),
)
