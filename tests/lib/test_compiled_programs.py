"""A damaged program is dropped before JAX reads it, and compiled anew."""

from twinstep._lib.compiled_programs import check
from twinstep.tests.support.project_folder import Project


def test_a_program_that_is_not_as_it_was_first_seen_is_dropped(tmp_path):
    for name in ("one-cache", "two-cache", "one-atime"):
        (tmp_path / name).write_bytes(b"program")
    assert check(tmp_path) == check(tmp_path) == []
    (tmp_path / "one-cache").write_bytes(b"progrbm")
    (tmp_path / "one-atime").write_bytes(b"later")
    assert check(tmp_path) == ["one-cache"]
    assert {path.name for path in tmp_path.iterdir()} == {"two-cache", "one-atime", ".sums"}
    (tmp_path / "one-cache").write_bytes(b"compiled anew")
    assert check(tmp_path) == []
    # A program in the place of another is not that program.
    (tmp_path / "one-cache").write_bytes((tmp_path / "two-cache").read_bytes())
    assert check(tmp_path) == ["one-cache"]
    (tmp_path / "two-cache").unlink()
    assert check(tmp_path) == []
    assert not list((tmp_path / ".sums").iterdir())


def test_nothing_is_done_where_there_is_no_folder(tmp_path):
    assert check(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_a_run_drops_what_was_damaged_and_says_nothing(tmp_path):
    """Before JAX reads it: a truncated one was warned of in every run and never replaced."""
    project = Project(tmp_path / "project", tmp_path / "cache", fork=False)
    project._env.pop("JAX_COMPILATION_CACHE_DIR", None)
    chosen = ("--candidate", "jax", "--variant", "fs8", "-m", "level2", "-k", "its_repetition")
    programs = tmp_path / "cache" / "jax"

    def run():
        done = project.pytest(*chosen, suite="interactions.test_batches", env="pong")
        assert done.code == 0, done.text
        assert "persistent compilation cache" not in done.text
        return {path.name: path.read_bytes() for path in programs.glob("*-cache")}

    first = run()
    assert first
    damaged = {name: whole[: len(whole) // 2] for name, whole in first.items()}
    for name, part in damaged.items():
        (programs / name).write_bytes(part)
    # What compiles in no time is not kept, and what that is differs from run to run.
    again = run()
    assert again.keys() & damaged.keys()
    assert not again.items() & damaged.items()
