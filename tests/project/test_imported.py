"""A verdict goes stale with any edit of what a candidate loads, declared or not."""

import pytest

from twinstep.environment import CandidateRef
from twinstep.project.imported import loaded_hash

FILES = {
    "mine/__init__.py": "",
    "mine/fast.py": "from mine.target import tables\nfrom helper import draws\nimport json",
    "mine/target/__init__.py": "",
    "mine/target/tables.py": "rows = 1",
    "mine/table.npy": "1 2 3",
    "helper/__init__.py": "",
    "helper/draws.py": "from . import numbers",
    "helper/numbers.py": "",
    "helper/other.py": "",
    "beside.py": "",
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def _edited(place, candidate):
    """Return the files whose edit changes the hash."""
    before = loaded_hash(candidate)
    assert before
    assert before == loaded_hash(candidate)
    found = []
    for name, text in FILES.items():
        (place / name).write_text(text + "\n# edited")
        found += [name] if loaded_hash(candidate) != before else []
        (place / name).write_text(text)
    return set(found)


ALL = {"mine/__init__.py", "mine/fast.py", "mine/target/__init__.py", "mine/target/tables.py",
       "helper/__init__.py", "helper/draws.py", "helper/numbers.py"}  # fmt: skip


def test_an_edit_of_anything_that_is_loaded_changes_the_hash(place):
    """A folder called `target`, which the declared hash skips, and a helper nobody declared."""
    assert _edited(place, CandidateRef("mine", "mine.fast:Make", packages=("mine",))) == ALL | {
        "mine/table.npy"
    }


def test_a_candidate_without_packages_is_hashed_by_what_its_factory_imports(place):
    assert _edited(place, CandidateRef("mine", "mine.fast:Make")) == ALL


def test_a_checkout_and_an_installed_copy_have_one_hash(tmp_path, monkeypatch):
    """Its helpers lie below site-packages there, beside what has a version of its own."""
    hashes = []
    for folder in (tmp_path / "src", tmp_path / "site-packages"):
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.replace("helper", "mine"))
        (folder / "mine" / "draws.py").write_text("import beside")
        (folder / "mine" / "fast.py").write_text("from mine.target import draws\n")
        (folder / "mine" / "target" / "draws.py").write_text("from mine import draws\n")
        with monkeypatch.context() as patched:
            patched.syspath_prepend(folder)
            (folder / "beside.py").unlink()
            hashes.append(loaded_hash(CandidateRef("m", "mine.fast:M", packages=("mine.target",))))
            (folder / "mine" / "draws.py").write_text("1")
            assert (
                loaded_hash(CandidateRef("m", "mine.fast:M", packages=("mine.target",)))
                != (hashes[-1])
            )
    assert hashes[0] == hashes[1] != ""


@pytest.mark.parametrize(
    "candidate",
    [
        CandidateRef("mine", "mine.fast:Make", packages=("mien",)),
        CandidateRef("mine", "mien.fast:Make", packages=("mine",)),
    ],
)
def test_a_name_that_is_nowhere_has_no_hash_at_all(place, candidate):
    assert loaded_hash(candidate) == ""
