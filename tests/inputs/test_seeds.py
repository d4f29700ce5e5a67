"""The seeds of the episodes: re-rolled by every edit (tree), or known to nobody (holdout)."""

import dataclasses

import numpy as np
import pytest

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.inputs.seeds import seeds, tree_hash
from twinstep.project.registry import EnvVariant, Pair
from twinstep.project.source_hash import package_folder
from twinstep.reference.cache import read_export
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings
from twinstep.tests.support.project_folder import SHORT
from twinstep.tests.toys import duel

KEY, OTHER = "correct-horse", "battery-staple"
HOLDOUT = (*SHORT, "--episodes", "40", "--seeds", "holdout")


def played(project, *args, **env):
    """Run and return (the run, driver -> the seeds of its compared episodes)."""
    file = project.folder / "played.traces"
    run = project.pytest(*args, "--export-traces", str(file), **env)
    assert file.is_file(), run.text
    folder = project.folder / f"export-{len(list(project.folder.iterdir()))}"
    drawn = {}
    for traces in read_export(file, folder):
        rows = [np.array(chunk.starts.seed).tolist() for chunk in traces.chunks()]
        drawn[traces.manifest["material"]["driver"]] = [tuple(seed) for row in rows for seed in row]
    file.unlink()
    assert drawn.keys() == {"random", "sticky"}
    return run, drawn


def test_tree_seeds_are_rerolled_by_an_edit_of_the_candidate_and_by_nothing_else(project):
    args = (*SHORT, "--seeds", "tree")
    run, first = played(project, *args)
    assert run.code == 0, run.text
    assert run.verdict["pairs"]["duel-mine"]["seeds"] == "tree"
    assert len(set(first["random"])) == 24
    (project.folder / "notes.py").write_text("")
    run, again = played(project, *args)
    assert again == first
    project.rules.write_text(project.rules.read_text() + "# An edit.\n")
    run, edited = played(project, *args)
    assert run.code == 0, run.text
    assert not set(edited["random"]) & set(first["random"])
    assert not set(edited["sticky"]) & set(first["sticky"])


def test_holdout_seeds_depend_on_the_key_which_is_written_nowhere(project):
    project.plant()
    starts = {}
    for key in (KEY, OTHER):
        run, starts[key] = played(project, *HOLDOUT, TWINSTEP_HOLDOUT_KEY=key)
        assert run.code == 1, run.text
        assert run.verdict["reports"]
        assert run.verdict["pairs"]["duel-mine"]["seeds"] == "holdout"
        written = [path for path in project.folder.rglob("*") if path.is_file()]
        assert project.reports / f"{run.verdict['reports'][0]}.md" in written
        for path in written:
            assert key.encode() not in path.read_bytes(), path
        assert key not in run.text
    assert not set(starts[KEY]["random"]) & set(starts[OTHER]["random"])


@pytest.mark.parametrize("kind", ["tree", "holdout"])
def test_what_asks_the_oracle_alone_plays_the_public_seeds(kind, tmp_path, monkeypatch):
    """The events that drivers reach are the suite's claim; no candidate can fix unlucky seeds."""
    monkeypatch.setenv("TWINSTEP_HOLDOUT_KEY", KEY)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.twinstep.envs]\nduel = "twinstep.tests.toys.duel:DUEL"\n'
    )
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    env = duel.DUEL
    subject = EnvVariant(env, env.variants[0])
    candidate = dataclasses.replace(env.candidates[0], edit=("mine.py",))
    harness = Harness(RunSettings(episodes=20, seeds=kind))
    reference = harness.reference(subject)

    def played_by(pair):
        rows = [chunk.starts.seed for chunk in reference.traces("random", pair=pair).chunks()]
        return np.concatenate(rows).tolist()

    try:
        own = played_by(Pair(subject, candidate))
        assert played_by(None) == seeds("public", 20, env.name).tolist()
        assert own == seeds(kind, 20, env.name, candidate).tolist()
    finally:
        harness.close()


def test_the_same_key_gives_the_same_seeds(monkeypatch):
    def given(key):
        monkeypatch.setenv("TWINSTEP_HOLDOUT_KEY", key)
        return seeds("holdout", 8, "duel").tolist()

    assert given(KEY) == given(KEY)
    assert given(KEY) != given(OTHER)
    assert len({tuple(seed) for seed in given(KEY)}) == 8


def test_public_seeds_use_every_bit_of_both_words_and_never_repeat():
    drawn = seeds("public", 1000, "duel")
    assert drawn[:2].tolist() == [[0, 0], [1, 0]]
    assert (seeds("public", 100, "pong") == drawn[:100]).all()
    assert len({tuple(seed) for seed in drawn.tolist()}) == 1000
    first = drawn[:100]
    assert (np.bitwise_or.reduce(first, 0) == 2**32 - 1).all()
    assert (np.bitwise_and.reduce(first, 0) == 0).all()


@pytest.fixture
def candidate(tmp_path, monkeypatch):
    """A candidate with a package, one edited file and an edited folder."""
    for name in ("pack_of_seeds/__init__.py", "kernel.c", "engine/a/core.rs", "engine/build.rs"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return CandidateRef(
        "c", "pack_of_seeds.x:Y", edit=("kernel.c", "engine/**"), packages=("pack_of_seeds",)
    )


@pytest.mark.parametrize(
    "name", ["pack_of_seeds/__init__.py", "kernel.c", "engine/a/core.rs", "engine/build.rs"]
)
def test_every_file_of_a_candidate_counts(candidate, tmp_path, name):
    before = tree_hash(candidate)
    (tmp_path / name).write_text("edited")
    assert tree_hash(candidate) != before


@pytest.mark.parametrize(
    "name",
    [
        "other.c",
        "pack_of_seeds/__pycache__/x.py",
        "engine/core.so",
        "engine/target/out",
        "engine/.swap",
    ],
)
def test_what_is_built_and_what_is_not_the_candidates_does_not_count(candidate, tmp_path, name):
    before = tree_hash(candidate)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("new")
    assert tree_hash(candidate) == before


def test_a_moved_file_counts(candidate, tmp_path):
    before = tree_hash(candidate)
    (tmp_path / "engine" / "build.rs").rename(tmp_path / "engine" / "made.rs")
    assert tree_hash(candidate) != before


def test_tree_seeds_of_a_candidate_without_files_are_an_error(candidate):
    for edit in ((), ("lost/**", "lost.c")):
        bare = dataclasses.replace(candidate, edit=edit, packages=())
        with pytest.raises(UserError, match="declare its `packages` or `edit`"):
            tree_hash(bare)


def test_a_packages_parents_are_not_imported_to_find_it(candidate, tmp_path):
    """Their imports would be loaded before the oracle is put out of reach."""
    (tmp_path / "pack_of_seeds" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "pack_of_seeds" / "inner").mkdir()
    (tmp_path / "pack_of_seeds" / "inner" / "__init__.py").write_text("")
    assert package_folder("pack_of_seeds.inner") == tmp_path / "pack_of_seeds" / "inner"


def test_a_package_whose_first_file_is_not_written_yet_is_found(tmp_path, monkeypatch):
    (tmp_path / "pack_to_come" / "inner").mkdir(parents=True)
    (tmp_path / "pack_to_come" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert package_folder("pack_to_come.inner") == tmp_path / "pack_to_come" / "inner"
    with pytest.raises(UserError, match="package pack_to_come.other cannot be found"):
        package_folder("pack_to_come.other")
