"""What is checked is byte for byte what is merged, whatever git could do on the way."""

import hashlib
import os
import subprocess

import pytest

from twinstep.errors import UserError
from twinstep.project.commits import FILE, LINK, PROGRAM, Commits, File
from twinstep.project.repository import Repository, git


@pytest.fixture
def user(tmp_path):
    """A user's repository with a commit, in a folder below which the project lies."""
    root = tmp_path / "user"
    (root / "inner").mkdir(parents=True)
    git(root, "init", "--quiet")
    (root / "inner" / "a.py").write_bytes(b"1\r\n$Id$\n")
    (root / "above").write_text("x")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "begin")
    return Repository(root, (root / "inner").relative_to(root))


@pytest.fixture
def base(user):
    return user.head()


@pytest.fixture
def own(tmp_path, user, base):
    return Commits.of(tmp_path / "own.git", user, base)


def _contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def _unpacked(own, commit, folder):
    folder.mkdir()
    own.unpack(commit, folder)
    return _contents(folder)


ATTRIBUTES = b"""
* ident eol=crlf text
a.py export-subst
hidden.py export-ignore
* filter=planted
"""


@pytest.mark.parametrize("name", [".gitattributes", "inner/.gitattributes"])
def test_attributes_of_a_commit_change_nothing_of_what_is_unpacked(user, own, base, tmp_path, name):
    """The commit may have them from the user; an agent may not write them."""
    (user.root / name).write_bytes(ATTRIBUTES)
    for key, value in (("clean", "sed s/1/2/"), ("smudge", "sed s/1/3/")):
        git(user.root, "config", f"filter.planted.{key}", value)
    (own.folder / "info").mkdir(exist_ok=True)
    (own.folder / "info" / "attributes").write_bytes(ATTRIBUTES)
    files = {
        "a.py": File(FILE, b"1\r\n$Id$\n$Format:%H$\n"),
        "hidden.py": File(FILE, b"1"),
        ".gitattributes": File(FILE, ATTRIBUTES),
    }
    commit = own.commit(base, files, "try")
    found = _unpacked(own, commit, tmp_path / "check")
    assert found == {"above": b"x"} | {f"inner/{n}": f.data for n, f in files.items()}


def test_a_replaced_object_is_not_what_is_unpacked(own, base, tmp_path):
    made = own.commit(base, {"a.py": File(FILE, b"right")}, "")
    bad = own.commit(base, {"a.py": File(FILE, b"wrong")}, "")
    subprocess.run(["git", "replace", made, bad], cwd=own.folder, check=True)
    found = _unpacked(own, made, tmp_path / "check")
    assert found["inner/a.py"] == b"right"


def test_files_programs_and_links_come_out_as_they_went_in(own, base, tmp_path):
    files = {
        "deep/er/b": File(PROGRAM, b"\0\xff"),
        "link": File(LINK, b"../../etc"),
        "a.py": None,
        "with space\tand tab": File(FILE, b""),
    }
    commit = own.commit(base, files, "")
    folder = tmp_path / "check"
    assert _unpacked(own, commit, folder) == {
        "above": b"x", "inner/deep/er/b": b"\0\xff", "inner/with space\tand tab": b"",
    }  # fmt: skip
    assert os.readlink(folder / "inner" / "link") == "../../etc"
    assert os.access(folder / "inner" / "deep" / "er" / "b", os.X_OK)
    assert own.digest(own.commit(base, files, "later")) == own.digest(commit)


def _tree(own, *rows):
    """Write a tree object as it is told, (mode, name, object), and return a commit of it."""
    data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(blob) for mode, name, blob in rows)
    args = ("hash-object", "-w", "--literally", "--stdin", "-t")
    tree = git(own.folder, *args, "tree", data=data).decode().strip()
    return tree, git(own.folder, "commit-tree", tree, "-m", "by hand").decode().strip()


def test_a_commit_by_hand_writes_nothing_outside_its_folder(own, tmp_path):
    """Git itself unpacks neither; the objects can be written all the same."""
    blob = own._blob(b"stolen")
    link = own._blob(os.fsencode(tmp_path / "outside"))
    (tmp_path / "outside").mkdir()
    inner, _ = _tree(own, (FILE, "x", blob))
    climbs, up = _tree(own, ("40000", "..", inner))
    _, twice = _tree(own, (LINK, "a", link), ("40000", "a", inner))
    for commit, error in ((up, UserError), (twice, OSError)):
        (tmp_path / commit).mkdir()
        with pytest.raises(error):
            own.unpack(commit, tmp_path / commit)
    assert climbs
    assert not (tmp_path / "x").exists()
    assert not list((tmp_path / "outside").iterdir())


def test_a_file_may_become_a_folder_and_a_folder_a_file(own, base, tmp_path):
    made = own.commit(base, {"a.py": None, "a.py/b": File(FILE, b"1")}, "")
    assert _unpacked(own, made, tmp_path / "one")["inner/a.py/b"] == b"1"
    made = own.commit(made, {"a.py": File(FILE, b"2"), "a.py/b": None}, "")
    assert _unpacked(own, made, tmp_path / "two")["inner/a.py"] == b"2"


@pytest.mark.parametrize("name", ["../up", ".git/config", "x/.GIT/hooks/post-commit", "/etc/x"])
def test_a_path_out_of_the_folder_or_into_git_is_never_committed(own, base, name):
    with pytest.raises(UserError):
        own.commit(base, {name: File(FILE, b"")}, "")


def test_the_digest_names_the_bytes_the_modes_and_the_names(own, base, tmp_path):
    digests = {own.digest(base)}
    for files in (
        {"a.py": File(FILE, b"1")},
        {"a.py": File(PROGRAM, b"1")},
        {"a.py": File(LINK, b"1")},
        {"b.py": File(FILE, b"1")},
        {"a.py": None},
    ):
        digests.add(own.digest(own.commit(base, files, "")))
    assert len(digests) == 6
    whole = hashlib.sha256()
    for path, data in sorted({"above": b"x", "inner/a.py": b"1\r\n$Id$\n"}.items()):
        whole.update(f"{FILE} {len(data)} {path}\0".encode() + data)
    assert own.digest(base) == whole.hexdigest()


def test_the_branch_is_delivered_and_nothing_else_is_touched(user, own, base):
    commit = own.commit(base, {"a.py": File(FILE, b"done")}, "repair")
    # A branch of that name that leads to the user's own.
    own_branch = git(user.root, "symbolic-ref", "HEAD").decode().strip()
    git(user.root, "symbolic-ref", "refs/heads/twinstep/run", own_branch)
    (user.root / "inner" / "a.py").write_text("the user works on")
    own.deliver(user, "twinstep/run", base, commit)
    assert git(user.root, "rev-parse", "twinstep/run").decode().strip() == commit
    assert git(user.root, "rev-parse", "HEAD").decode().strip() == base
    assert (user.root / "inner" / "a.py").read_text() == "the user works on"
    assert git(user.root, "log", "--format=%s", "twinstep/run").decode().split() == [
        "repair", "begin",
    ]  # fmt: skip
    git(user.root, "checkout", "--quiet", "--", ".")
    git(user.root, "merge", "--quiet", "twinstep/run")
    assert (user.root / "inner" / "a.py").read_bytes() == b"done"


def test_a_run_without_a_change_delivers_the_commit_that_it_began_from(user, own, base):
    own.deliver(user, "twinstep/run", base, base)
    assert git(user.root, "rev-parse", "twinstep/run").decode().strip() == base


def test_what_the_user_does_meanwhile_is_not_in_the_way(user, own, base):
    made = own.commit(base, {"a.py": File(FILE, b"1")}, "")
    (user.root / "more").write_text("x")
    git(user.root, "add", ".")
    git(user.root, "commit", "--quiet", "-m", "meanwhile")
    git(user.root, "config", "branch.main.remote", "origin")
    (user.root / ".git" / "index.lock").touch()
    again = own.again(made, base, "undo")
    own.deliver(user, "twinstep/run", base, again)
    assert own.lines(made, again) == {"added": 2, "removed": 1}
    assert own.text(again, "a.py") == "1\r\n$Id$\n"
    assert own.text(again, "b.py") == ""
