"""A verdict goes stale with any edit of what a candidate loads, declared or not."""

import importlib.machinery
from pathlib import Path

import pytest

from twinstep.environment import CandidateRef
from twinstep.project import imported
from twinstep.project.imported import loaded_hash, place_of, places

FILES = {
    "mine/__init__.py": "",
    "mine/fast.py": "from mine.target import tables\nfrom helper import draws\nimport json",
    "mine/target/__init__.py": "",
    "mine/target/tables.py": "rows = 1",
    "mine/table.npy": "1 2 3",
    "mine/.dotted": "",
    "mine/fast.so": "",
    "mine/data/target/rows": "",
    "mine/mutants.toml": "",
    "mine/built/CACHEDIR.TAG": "",
    "mine/built/x": "",
    "elsewhere/rows.txt": "",
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
    (tmp_path / "mine" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "mine" / "around").symlink_to(tmp_path / "mine")
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
    data = {"mine/table.npy", "mine/.dotted", "mine/fast.so", "mine/data/target/rows",
            "elsewhere/rows.txt"}  # fmt: skip
    assert _edited(place, CandidateRef("mine", "mine.fast:Make", packages=("mine",))) == ALL | data


def test_two_files_of_one_name_in_each_others_place_change_the_hash(place):
    (place / "mine" / "fast.py").write_text(
        "from helper import draws\nfrom mine.target import draws"
    )
    one, two = place / "helper" / "draws.py", place / "mine" / "target" / "draws.py"
    hashes = set()
    for words in (("1", "2"), ("2", "1")):
        for file, text in zip((one, two), words, strict=True):
            file.write_text(text)
        hashes.add(loaded_hash(CandidateRef("mine", "mine.fast:Make")))
    assert len(hashes) == 2


def test_an_installed_package_counts_by_its_version_and_a_file_of_none_by_its_bytes(
    place, monkeypatch
):
    site = place / "site-packages"
    (site / "known").mkdir(parents=True)
    (site / "known" / "__init__.py").write_text("")
    (site / "lone.py").write_text("")
    monkeypatch.syspath_prepend(site)
    (place / "mine" / "fast.py").write_text("import known, lone, numpy, json")
    monkeypatch.setattr(imported, "_distributions", lambda: {"known": ["known-dist"]})
    version = {"known-dist": "1"}
    monkeypatch.setattr(imported.importlib.metadata, "version", version.__getitem__)
    hashes = [loaded_hash(CandidateRef("mine", "mine.fast:Make"))]
    version["known-dist"] = "2"
    hashes.append(loaded_hash(CandidateRef("mine", "mine.fast:Make")))
    (site / "lone.py").write_text("edited")
    hashes.append(loaded_hash(CandidateRef("mine", "mine.fast:Make")))
    (site / "known" / "__init__.py").write_text("its version speaks for it")
    hashes.append(loaded_hash(CandidateRef("mine", "mine.fast:Make")))
    assert len(set(hashes)) == 3
    assert hashes[2] == hashes[3] != ""


def test_every_form_and_copy_of_a_module_is_found(tmp_path, monkeypatch):
    """An upstream's byte-code, its shared library or a second copy would be the oracle itself."""
    ending = importlib.machinery.EXTENSION_SUFFIXES[0]
    there = ["a/up.py", "a/__pycache__/up.cpython-311.pyc", f"b/up{ending}", "c/up/__init__.py",
             "c/up.libs/lib.so", "d/up.pyc"]  # fmt: skip
    for name in (*there, "a/upper.py", f"b/down{ending}"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
        if "__pycache__" not in name and name.count("/") == 1:
            monkeypatch.syspath_prepend((tmp_path / name).parent)
    monkeypatch.syspath_prepend(tmp_path / "c")
    found = {Path(name).relative_to(tmp_path).as_posix() for name in places(["up"])}
    wanted = {name if name.count("/") == 1 or "pycache" in name else name.rpartition("/")[0]
              for name in there}  # fmt: skip
    assert found == wanted
    assert place_of("down") == tmp_path / "b" / f"down{ending}"


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
