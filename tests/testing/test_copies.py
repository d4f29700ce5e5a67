"""A run says which copy of a candidate it tests, and refuses to test another one than lies here."""

from types import SimpleNamespace

import pytest

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.testing import copies


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Two checkouts of one project, `imported` and `copy`."""
    for name in ("imported", "copy"):
        (tmp_path / name / "fast").mkdir(parents=True)
        (tmp_path / name / "fast" / "rules.py").write_text("")
    monkeypatch.setattr(copies, "package_folder", lambda name: tmp_path / "imported" / name)
    return tmp_path


def _pairs(edit=("fast/**",), packages=("fast",)):
    ref = CandidateRef("jax", "fast.rules:Fast", edit=edit, packages=packages)
    return [SimpleNamespace(label="game-jax", candidate=ref)]


def test_the_copy_that_is_imported_is_tested_without_a_word(checkout):
    copies.require_imported(_pairs(), checkout / "imported")
    assert copies.elsewhere(_pairs(), checkout / "imported") == []


@pytest.mark.parametrize("edit", ["fast/**", "fast/rules.py", "*.py"])
def test_another_copys_files_in_this_folder_are_refused(checkout, edit):
    with pytest.raises(UserError, match=r"fast/rules.py of this folder is not what is imported"):
        copies.require_imported(_pairs((edit,)), checkout / "copy")


def test_compiled_files_of_another_copy_are_refused_too(checkout):
    (checkout / "copy" / "rust" / "game").mkdir(parents=True)
    (checkout / "copy" / "rust" / "game" / "lib.rs").write_text("")
    with pytest.raises(UserError, match=r"rust/game/lib.rs of this folder"):
        copies.require_imported(_pairs(("rust/game/**",)), checkout / "copy")


def test_a_folder_without_its_files_is_a_line_of_the_header(checkout):
    away = checkout / "away"
    away.mkdir()
    copies.require_imported(_pairs(), away)
    (line,) = copies.elsewhere(_pairs(), away)
    assert line == f"tested as imported, not as in this folder: {checkout / 'imported' / 'fast'}"


def test_a_link_to_the_imported_copy_is_that_copy(checkout):
    (checkout / "link").symlink_to(checkout / "imported")
    copies.require_imported(_pairs(), checkout / "link")
    assert copies.elsewhere(_pairs(), checkout / "link") == []


def test_a_candidate_that_names_no_packages_is_not_judged(checkout):
    copies.require_imported(_pairs(packages=()), checkout / "copy")
