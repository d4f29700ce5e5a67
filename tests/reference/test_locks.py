"""What killed runs leave in the cache is found, counted and removed; what lives is not."""

import os
import time

import pytest

from twinstep._lib import paths
from twinstep.cli import main
from twinstep.reference import locks
from twinstep.reference.cache import key_of
from twinstep.reference.trace_set import MANIFEST
from twinstep.tests.support.recorded_traces import PARTS, Made


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A cache with one entry, and what a killed run left beside it."""
    monkeypatch.setenv("TWINSTEP_CACHE", str(tmp_path))
    made = Made(tmp_path)
    made.get()
    for name in (".draft-ab12cd34-x", ".dropped-ef-9"):
        (made.cache.root / name).mkdir()
        (made.cache.root / name / "00000.chunk").write_bytes(bytes(1000))
    return made


def _hidden(made):
    names = {path.name for path in made.cache.root.iterdir()}
    return {name for name in names if name.startswith((".draft", ".dropped", ".writable"))}


def test_what_killed_runs_left_goes_with_the_next_recording(made):
    assert len(_hidden(made)) == 2
    made.get()
    assert len(_hidden(made)) == 2
    made.get(PARTS | {"driver": "sticky"})
    assert not _hidden(made)


def test_a_draft_that_is_being_written_stays(made):
    with locks.locked(made.cache.root, "ab"):
        assert [path.name for path in locks.left(made.cache.root)] == [".dropped-ef-9"]
        made.get(PARTS | {"driver": "sticky"})
        assert _hidden(made) == {".draft-ab12cd34-x"}


def test_a_probe_of_another_run_stays_for_a_while(made):
    probe = made.cache.root / ".writable-x"
    probe.write_text("")
    locks.collect_garbage(made.cache.root)
    assert _hidden(made) == {".writable-x"}
    os.utime(probe, (0, time.time() - 7200))
    assert locks.collect_garbage(made.cache.root) == 1
    assert not _hidden(made)


def test_the_list_counts_what_killed_runs_left(made, capsys):
    assert main(["cache"]) == 0
    assert "2 left by runs that were killed, 0.0 MB" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "dropped 1 trace sets, 2 left by killed runs\n"
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "dropped 0 trace sets\n"


def test_verify_names_what_is_damaged_and_leaves_it(made, capsys):
    assert main(["cache", "verify"]) == 0
    assert f"{key_of(PARTS)[:12]}  whole: t random, 2 episodes" in capsys.readouterr().out
    for path in (made.folder / "00000.chunk", made.folder / MANIFEST):
        path.write_bytes(path.read_bytes()[:-9])
        assert main(["cache", "verify"]) == 1
        text = capsys.readouterr().out
        assert f"{key_of(PARTS)[:12]}  damaged: " in text
        assert "1 trace sets, 1 damaged" in text
        assert made.folder.is_dir()


def test_verify_drops_what_is_damaged_when_told_to(made, capsys):
    made.get(PARTS | {"driver": "sticky"})
    (made.folder / MANIFEST).unlink()
    (made.cache.root / "stray").write_text("")
    assert main(["cache", "verify", "--drop"]) == 1
    assert "; dropped" in capsys.readouterr().out
    assert main(["cache", "verify"]) == 0
    assert "1 trace sets, 0 damaged" in capsys.readouterr().out


def test_programs_that_jax_compiled_are_counted_and_cleared(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TWINSTEP_CACHE", str(tmp_path))
    paths.compiled_dir().mkdir()
    (paths.compiled_dir() / "jit_step-cache").write_bytes(bytes(1_500_000))
    assert main(["cache"]) == 0
    assert "1 programs that JAX compiled, 1.5 MB" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert "1 compiled programs" in capsys.readouterr().out
    assert not list(paths.compiled_dir().iterdir())


def test_a_users_own_files_in_the_cache_are_never_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINSTEP_CACHE", str(tmp_path))
    mine = [tmp_path / place for place in ("traces/notes/a.txt", "traces/a.txt", "jax/thesis.tex")]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    assert main(["cache", "verify", "--drop"]) == 0
    assert main(["cache", "clear"]) == 0
    assert all(path.exists() for path in mine)
