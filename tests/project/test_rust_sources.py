"""The compiled Rust module has the hashes of its sources, as a whole and for each engine."""

from pathlib import Path

import pytest

from twinstep.rust_sources import sources_hash

ENGINES = ("", "one", "two")


@pytest.fixture
def workspace(tmp_path):
    for name in (
        "Cargo.toml",
        "Cargo.lock",
        "one/Cargo.toml",
        "one/src/lib.rs",
        "two/src/deep/part.rs",
        "twinstep_rust/src/lib.rs",
        "twinstep_rust/src/one.rs",
        "twinstep_rust/src/one/call.rs",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("one/src/lib.rs", {"", "one"}),
        ("one/Cargo.toml", {"", "one"}),
        ("twinstep_rust/src/one.rs", {"", "one"}),
        ("twinstep_rust/src/one/call.rs", {"", "one"}),
        ("two/src/deep/part.rs", {"", "two"}),
        ("twinstep_rust/src/lib.rs", {"", "one", "two"}),
        ("Cargo.lock", {"", "one", "two"}),
        ("one/tests.rs", set()),
    ],
)
def test_an_edit_changes_the_hash_of_the_engines_it_is_part_of(workspace, file, changed):
    before = {engine: sources_hash(workspace, engine) for engine in ENGINES}
    assert len(set(before.values())) == 3
    (workspace / file).write_text("edited")
    after = {engine: sources_hash(workspace, engine) for engine in ENGINES}
    assert {engine for engine in ENGINES if after[engine] != before[engine]} == changed


def test_the_build_computes_the_same_hashes():
    built = pytest.importorskip("twinstep_rust")
    root = Path(__file__).resolve().parents[2] / "rust"
    for engine in ("", "pong", "halfcheetah"):
        assert built.sources(engine) == sources_hash(root, engine)
    assert built.sources("no_such_engine") == ""
