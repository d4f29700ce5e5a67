import pytest

from twinstep.tests.support.init_runs import begin_slide


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder, made the current one."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def slide(empty):
    """The toy's project beside its two libraries, `slides` and a package `gymnax`."""
    begin_slide(empty)
    return empty
