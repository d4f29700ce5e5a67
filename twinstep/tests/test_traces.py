"""Trace files and their cache: what was recorded comes back, and nothing else is believed."""

import errno
import json
import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinstep.cache import CacheWarning, TraceCache, export, key_of, read_export
from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.errors import UserError
from twinstep.frames import Start
from twinstep.tracefile import WINDOW, Chunk, ChunkFile, TraceDamaged, digests, write

CONTRACT = Contract(
    version="t-v0",
    params={},
    action=Discrete(5),
    observation=Field("obs", "float32", (3,)),
    state=(Field("ram", "uint8", (40,), large=True), Field("n", "int64")),
    randomness=Randomness("none"),
)


def _chunk(rng, lengths):
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


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 2 * WINDOW + 3), min_size=1, max_size=4), st.integers(0, 9))
def test_ragged_episodes_come_back_bit_for_bit(tmp_path, lengths, seed):
    chunk = _chunk(np.random.default_rng(seed), lengths)
    path = tmp_path / "x.chunk"
    read = ChunkFile(path, write(path, chunk, CONTRACT))
    assert read.lengths.tolist() == lengths
    assert np.array_equal(read.starts.seed, chunk.starts.seed)
    assert np.array_equal(read.starts.fields["team"], chunk.starts.fields["team"])
    assert np.array_equal(read.restarted["reward"], chunk.restarted["reward"])
    paths = list(chunk.frames)
    for number in range(chunk.windows):
        got, want = read.window(number, paths), chunk.window(number, paths)
        for name in paths:
            assert got[name].dtype == want[name].dtype
            assert np.array_equal(got[name], want[name]), (name, number)
        assert np.array_equal(read.window_actions(number), chunk.window_actions(number))
        ram = read.window(number, ["state.ram"], "digest")["state.ram"]
        assert np.array_equal(ram, digests(want["state.ram"]))
    for lane, length in enumerate(lengths):
        frames = read.frames_of(lane, paths)
        assert np.array_equal(frames["state.n"], chunk.frames["state.n"][: length + 1, lane])
        assert np.array_equal(read.actions_of(lane), chunk.actions[:length, lane])
    read.close()


def test_any_altered_byte_is_noticed(tmp_path):
    path = tmp_path / "x.chunk"
    sha = write(path, _chunk(np.random.default_rng(0), [9, 4]), CONTRACT)
    whole = path.read_bytes()
    for place in (0, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(TraceDamaged):
            ChunkFile(path, sha)
    path.write_bytes(whole[:-1])
    with pytest.raises(TraceDamaged):
        ChunkFile(path, sha)


PARTS = {"environment": "t", "driver": "random", "episodes": 2}


@pytest.fixture
def made(tmp_path):
    """A cache with one entry, and a recorder that counts its calls."""

    class Made:
        cache = TraceCache(tmp_path)
        calls = 0
        parts = PARTS

        def record(self, folder):
            self.calls += 1
            path = os.path.join(folder, "00000.chunk")
            sha = write(type(tmp_path)(path), _chunk(np.random.default_rng(1), [5, 7]), CONTRACT)
            return [{"file": "00000.chunk", "sha256": sha, "episodes": 2, "events": {}}]

        def get(self, parts=None):
            return self.cache.get(parts or PARTS, self.record, [])

        @property
        def folder(self):
            return self.cache.root / key_of(PARTS)

    made = Made()
    made.get()
    yield made
    made.cache.close()


def test_a_second_request_is_answered_from_disk(made):
    assert made.get().total("episodes") == 2
    assert made.calls == 1


@pytest.mark.parametrize("file", ["00000.chunk", "manifest.json"])
def test_a_damaged_entry_is_recorded_again_with_a_warning(made, file):
    path = made.folder / file
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(CacheWarning, match="recording it again"):
        made.get()
    assert made.calls == 2
    made.get()
    assert made.calls == 2


def test_a_foreign_entry_is_not_believed(made):
    path = made.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["material"]["driver"] = "another"
    path.write_text(json.dumps(manifest))
    with pytest.warns(CacheWarning, match="belongs to other sources"):
        made.get()
    assert made.calls == 2


def test_a_full_disk_costs_the_cache_not_the_run(made, monkeypatch):
    real = os.rename

    def full(source, target):
        if str(target).startswith(str(made.cache.root)):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "rename", full)
    other = PARTS | {"driver": "sticky"}
    with pytest.warns(CacheWarning, match="No space left on device"):
        held = made.get(other)
    assert held.total("episodes") == 2
    assert not list(made.cache.root.glob(".draft-*"))
    calls = made.calls
    assert made.get(other).folder == held.folder
    assert made.calls == calls


def test_two_runs_at_once_record_once(made):
    other = PARTS | {"driver": "sticky"}
    caches = [TraceCache(made.cache.root.parent) for _ in range(2)]
    found = []
    threads = [
        threading.Thread(target=lambda c=c: found.append(c.get(other, made.record, [])))
        for c in caches
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made.calls == 2, "one for the first entry, one for this"
    assert found[0].folder == found[1].folder


def test_eviction_drops_what_was_used_longest_ago(made):
    for number in range(4):
        made.get(PARTS | {"episodes": number + 10})
        os.utime(made.cache.root / key_of(PARTS | {"episodes": number + 10}), (number, number))
    size = made.cache.entries()[0][2]
    dropped = made.cache.evict(limit=2.5 * size)
    assert dropped == [key_of(PARTS | {"episodes": n + 10}) for n in range(3)]
    assert made.get().total("episodes") == 2


def test_an_export_has_the_same_bytes_twice_and_is_checked_when_read(made, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    export([made.get()], one)
    export([made.get()], two)
    assert one.read_bytes() == two.read_bytes()
    (held,) = read_export(one, tmp_path / "out")
    assert held.manifest["material"] == PARTS
    whole = one.read_bytes()
    cut = whole.index(b"twinstep-trace") + 40
    one.write_bytes(whole[:cut] + bytes([whole[cut] ^ 1]) + whole[cut + 1 :])
    with pytest.raises(UserError, match="damaged"):
        read_export(one, tmp_path / "out2")
