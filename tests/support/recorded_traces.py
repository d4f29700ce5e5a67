"""Synthetic traces of random values, and a cache for them."""

import os
from pathlib import Path

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.frames import Start
from twinstep.reference.cache import TraceCache, key_of
from twinstep.reference.trace_file import Chunk, write

CONTRACT = Contract(
    version="t-v0",
    params={},
    action=Discrete(5),
    observation=Field("obs", "float32", (3,)),
    state=(Field("ram", "uint8", (40,), large=True), Field("n", "int64")),
    randomness=Randomness("none"),
)


def chunk_of(rng, lengths):
    steps, lanes = max(lengths), len(lengths)
    valid = np.arange(steps + 1)[:, None] <= np.array(lengths)

    def values(dtype, *shape):
        drawn = rng.integers(0, 250, (steps + 1, lanes, *shape)).astype(dtype)
        return np.where(valid.reshape(*valid.shape, *([1] * len(shape))), drawn, 0).astype(dtype)

    frames = {
        "obs": values("float32", 1, 3),
        "reward": values("float32", 1),
        "terminated": values("bool"),
        "state.ram": values("uint8", 40),
        "state.n": values("int64"),
    }
    return Chunk(
        Start(rng.integers(0, 99, (lanes, 2)).astype(np.uint32), {"team": values("int16", 2)[0]}),
        frames,
        rng.integers(0, 5, (steps, lanes, 1)).astype(np.int32),
        np.array(lengths, np.int32),
        np.ones(lanes, bool),
        valid[:, :, None],
        {"reward": values("float32", 1)[0]},
    )


PARTS = {"environment": "t", "driver": "random", "episodes": 2, "lanes": 2}


def entry_of(chunk, sha256):
    """Return a chunk's entry in a manifest."""
    none = dict.fromkeys(("terminated", "truncated", "cut", "illegal"), 0)
    counts = {"episodes": chunk.lanes, "steps": int(chunk.lengths.sum())}
    entry = {"file": "00000.chunk", "sha256": sha256}
    return entry | counts | none | {"events": {}, "measures": {}}


class Made:
    """A cache, and a recorder that counts its calls."""

    def __init__(self, root):
        self.cache = TraceCache(root)
        self.calls = 0
        self.seed = 1

    def record(self, folder):
        self.calls += 1
        chunk = chunk_of(np.random.default_rng(self.seed), [5, 7])
        return [entry_of(chunk, write(Path(folder) / "00000.chunk", chunk, CONTRACT))]

    def get(self, parts=PARTS):
        return self.cache.get(parts, self.record, [])

    @property
    def folder(self):
        return self.cache.root / key_of(PARTS)

    def grow_old(self, parts, age):
        """Set an entry's last use to `age` seconds after 1970."""
        os.utime(self.cache.root / key_of(parts), (age, age))
