"""A campaign works in a copy of the project: edits made meanwhile are not judged."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from twinstep._lib import paths
from twinstep.cli import main
from twinstep.errors import UserError
from twinstep.mutation import command
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.snapshot import frozen
from twinstep.project.source_hash import package_folder
from twinstep.tests.support.campaign_rows import row_of

#: The candidate's files, its adapter, its environment's tests, and the suite.
_NAMES = ("generated.pong", "candidates.pong", "properties.pong", "mutation")
_SAYS = "from twinstep.tests.mutation.test_snapshot import places; print(*places())"


def places():
    """Return where the project's packages are found."""
    return [package_folder(f"twinstep.{name}").resolve().as_posix() for name in _NAMES]


@pytest.fixture(scope="module", params=["jax", "rust"])
def candidate(request):
    return prepare(Plan("pong", request.param, sample=1)).pair.candidate


def test_what_a_campaign_starts_imports_all_of_the_project_from_the_copy(candidate, tmp_path):
    before = os.getcwd(), list(sys.path), dict(os.environ)
    with frozen(candidate, tmp_path):
        run = subprocess.run([sys.executable, "-P", "-c", _SAYS], capture_output=True, check=True)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            spawned = pool.apply(places)
    assert (os.getcwd(), sys.path, dict(os.environ)) == before
    for found in (run.stdout.decode().split(), spawned):
        assert len(found) == len(_NAMES)
        assert [place for place in found if not place.startswith(f"{tmp_path}/")] == []


def test_the_cache_stays_where_it_is_however_its_folder_is_given(candidate, monkeypatch, tmp_path):
    monkeypatch.setenv("TWINSTEP_CACHE", "somewhere")
    before = paths.cache_dir()
    with frozen(candidate, tmp_path):
        assert paths.cache_dir() == before
    assert os.environ["TWINSTEP_CACHE"] == "somewhere"


def test_a_project_that_cannot_be_copied_is_one_line(candidate, monkeypatch, tmp_path):
    monkeypatch.setattr("twinstep.mutation.snapshot.project_of", lambda ref: tmp_path / "project")
    (tmp_path / "project").mkdir()
    os.mkfifo(tmp_path / "project" / "pipe")
    with (
        pytest.raises(UserError, match=r"cannot be copied \(`.*/pipe` is a named pipe\): mend"),
        frozen(candidate, tmp_path / "copies"),
    ):
        pytest.fail("it was begun")


def test_a_campaign_asks_in_the_copy_and_writes_where_it_was_begun(monkeypatch, tmp_path):
    monkeypatch.setattr("twinstep.mutation.results._OFTEN", 0.0)
    asked_in, kept = [], []

    def asked(campaign, count, show, folder):
        asked_in.append(Path.cwd())
        campaign.rows = [row_of(campaign, campaign.mutants[0].id)]
        yield
        kept.extend(path.name for path in tmp_path.iterdir())

    monkeypatch.setattr(command, "_asked", asked)
    here, out = Path.cwd(), os.path.relpath(tmp_path)
    assert main(["mutants", "pong", "--sample", "1", "--out", out]) == 0
    assert kept == ["pong.part.json"]
    assert (tmp_path / "pong.json").is_file()
    assert here not in asked_in
    assert not asked_in[0].exists()


def test_files_that_are_here_while_others_are_imported_are_not_taken_for_those(
    monkeypatch, tmp_path, capsys
):
    path = "generated/pong/ball.py"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("")
    monkeypatch.chdir(tmp_path)
    assert main(["mutants", "pong", "--sample", "1"]) == 4
    said = capsys.readouterr().err.strip().splitlines()
    assert said[-1].startswith(f"twinstep: {path} is here, but that of ")
