"""A folder that an agent filled can be removed, and nothing outside is touched."""

import os
import subprocess
import sys
import tempfile

import pytest

from twinstep._lib import removal
from twinstep._lib.removal import remove, scratch_folder
from twinstep.tests.support.deep_folder import nested


def test_thousands_of_folders_in_each_other_go(tmp_path):
    with scratch_folder("agent-", tmp_path) as folder:
        nested(folder, 3000)
    assert not list(tmp_path.iterdir())


WITHOUT_RIGHTS = """
import os, runpy, sys
from pathlib import Path
remove = runpy.run_path(sys.argv[1])["remove"]
if os.geteuid() == 0:
    os.setuid(65534)
folder = Path(sys.argv[2])
for number in range(3):
    (folder / f"a{number}" / "b").mkdir(parents=True)
    (folder / f"a{number}" / "b" / "file").write_text("")
    os.mkfifo(folder / f"a{number}" / "pipe")
    os.chmod(folder / f"a{number}" / "b", 0)
    os.chmod(folder / f"a{number}", 0)
os.chmod(folder, 0)
remove(folder)
assert not folder.exists()
"""


def test_folders_without_rights_and_names_of_any_kind_go():
    """As a user without root's powers, whom rights stop."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        command = [sys.executable, "-I", "-c", WITHOUT_RIGHTS, removal.__file__, f"{place}/mine"]
        subprocess.run(command, check=True, cwd=place)


def test_what_a_link_leads_to_stays(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_text("secret")
    (tmp_path / "mine" / "inner").mkdir(parents=True)
    for place in ("mine/link", "mine/inner/link"):
        (tmp_path / place).symlink_to(tmp_path / "outside")
    (tmp_path / "mine" / "inner" / "hard").hardlink_to(tmp_path / "outside" / "key")
    remove(tmp_path / "mine")
    assert (tmp_path / "outside" / "key").read_text() == "secret"


def test_a_folder_that_became_a_link_is_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "mine").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="mine"):
        remove(tmp_path / "mine")
    assert (tmp_path / "outside").is_dir()
