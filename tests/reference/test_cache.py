"""The trace cache: nothing is believed that does not check out, nothing in use goes."""

import errno
import gzip
import json
import os
import shutil
import tarfile
import threading
import time

import pytest

from twinstep.errors import UserError
from twinstep.reference import locks, trace_set
from twinstep.reference.cache import CacheWarning, TraceCache, export, key_of, read_export
from twinstep.reference.trace_set import MANIFEST
from twinstep.tests.support.recorded_traces import PARTS, Made


@pytest.fixture
def made(tmp_path):
    """A cache with one entry."""
    made = Made(tmp_path)
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
    other = PARTS | {"driver": "sticky"}
    made.get(other)
    made.cache.drop(key_of(PARTS))
    shutil.copytree(made.cache.root / key_of(other), made.folder)
    with pytest.warns(CacheWarning, match="belongs to other sources"):
        made.get()
    assert made.calls == 3


#: What a careless edit or another program may leave of a manifest.
WRONG = [
    lambda m: m.update(chunks=[]),
    lambda m: m.update(chunks=5),
    lambda m: m.update(chunks=[5]),
    lambda m: m.update(reduce=None),
    lambda m: m["chunks"][0].pop("events"),
    lambda m: m["chunks"][0].update(episodes=10**6),
    lambda m: m["chunks"][0].update(steps=10**9),
    lambda m: m["chunks"][0].update(steps=-1),
    lambda m: m["chunks"][0].update(file="../../elsewhere.chunk"),
    lambda m: m["chunks"].append(m["chunks"][0]),
    lambda m: m["material"].update(lanes=1),
]


def _seal(manifest):
    """Give a manifest its sha256, as one has that was written so from the first."""
    manifest["sha256"] = trace_set._sha256(manifest)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("sealed", [False, True], ids=["edited", "written so"])
def test_a_wrong_manifest_is_recorded_again_and_its_counts_are_never_told(made, wrong, sealed):
    path = made.folder / MANIFEST
    manifest = json.loads(path.read_text())
    wrong(manifest)
    if sealed:
        _seal(manifest)
    path.write_text(json.dumps(manifest))
    assert made.cache.damage(key_of(PARTS))
    with pytest.warns(CacheWarning, match="recording it again"):
        held = made.get()
    assert (held.total("episodes"), held.total("steps")) == (2, 12)
    assert made.calls == 2


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "[" * 99999, '{"chunks": NaN}', "", "\0"])
def test_a_manifest_that_is_none_is_recorded_again(made, text):
    (made.folder / MANIFEST).write_text(text)
    with pytest.warns(CacheWarning, match="manifest.*recording it again"):
        made.get()


def test_an_entry_that_is_no_folder_is_recorded_again(made, tmp_path):
    for make in (lambda: made.folder.write_text("x"), lambda: made.folder.symlink_to(tmp_path)):
        made.cache.drop(key_of(PARTS))
        make()
        assert [entry.key for entry in made.cache.entries()] == [key_of(PARTS)]
        with pytest.warns(CacheWarning, match="it is no folder"):
            assert made.get().total("episodes") == 2
        assert made.folder.is_dir()
    assert tmp_path.is_dir()


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
        made.get(PARTS | {"seed": number})
        made.grow_old(PARTS | {"seed": number}, number)
    another = TraceCache(made.cache.root.parent)
    size = another.entries()[0].size
    assert another.evict(limit=2.5 * size) == [key_of(PARTS | {"seed": n}) for n in range(3)]
    assert [entry.key for entry in another.entries()][0] == key_of(PARTS | {"seed": 3})


def test_eviction_spares_what_this_run_has_used_however_long_ago(made, monkeypatch):
    monkeypatch.setenv("TWINSTEP_CACHE_GB", "0")
    made.grow_old(PARTS, 5)
    made.get(PARTS | {"driver": "sticky"})
    assert made.folder.is_dir()
    assert made.cache.evict() == []


def test_eviction_spares_what_another_run_has_used_in_the_last_hour(made):
    another = TraceCache(made.cache.root.parent)
    made.grow_old(PARTS, 5)
    for _ in made.get().chunks():
        pass
    assert another.evict(limit=0) == []
    made.grow_old(PARTS, time.time() - 3700)
    assert another.evict(limit=0) == [key_of(PARTS)]


def test_a_set_that_is_dropped_while_it_is_in_use_is_recorded_again(made):
    held = made.get()
    made.cache.drop(key_of(PARTS))
    (chunk,) = [(c.lanes, c.lengths.tolist()) for c in held.chunks()]
    assert chunk == (2, [5, 7])
    assert made.calls == 2


def test_a_set_that_comes_out_differently_when_recorded_again_is_one_clear_line(made):
    held = made.get()
    made.cache.drop(key_of(PARTS))
    made.seed = 2
    with pytest.raises(UserError, match="the oracle is not deterministic"):
        list(held.chunks())


def test_an_imported_set_that_goes_is_one_clear_line(made, tmp_path):
    export([made.get()], tmp_path / "file")
    (held,) = read_export(tmp_path / "file", tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(UserError, match="has gone while it was in use"):
        list(held.chunks())


def test_an_entry_is_dropped_under_its_lock_only(made):
    """Another run may just have mended what this one found damaged."""
    whole = (made.folder / MANIFEST).read_bytes()
    (made.folder / MANIFEST).write_text("{}")
    with locks.locked(made.cache.root, key_of(PARTS)):
        thread = threading.Thread(target=made.get)
        thread.start()
        thread.join(timeout=0.5)
        assert thread.is_alive()
        (made.folder / MANIFEST).write_bytes(whole)
    thread.join()
    assert made.calls == 1


def test_the_list_leaves_out_what_goes_meanwhile(made, monkeypatch):
    made.get(PARTS | {"driver": "sticky"})
    real = locks.size_of

    def slow(path):
        made.cache.drop(key_of(PARTS))
        return real(path)

    monkeypatch.setattr(locks, "size_of", slow)
    assert key_of(PARTS | {"driver": "sticky"}) in [e.key for e in made.cache.entries()]
    assert len(made.cache.entries()) == 1


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


@pytest.mark.parametrize("wrong", WRONG)
def test_an_export_with_a_wrong_manifest_is_refused(made, tmp_path, wrong):
    held = made.get()
    wrong(held.manifest)
    (held.folder / MANIFEST).write_text(json.dumps(held.manifest))
    with tarfile.open(tmp_path / "file", "w") as tar:
        tar.add(held.folder, key_of(PARTS))
    with pytest.raises(UserError, match="is damaged.*export it again"):
        read_export(tmp_path / "file", tmp_path / "out")


@pytest.mark.parametrize(
    "data",
    [b"", b"x" * 9999, gzip.compress(b"x" * 9999, mtime=0)[:-9]],
    ids=["empty", "no archive", "cut off"],
)
def test_a_file_that_is_no_export_is_one_clear_line(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(UserError, match="file is not a readable trace export|holds no traces"):
        read_export(tmp_path / "file", tmp_path / "out")
