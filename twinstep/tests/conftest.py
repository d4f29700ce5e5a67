import pytest

from twinstep.tests.scratch import Project


@pytest.fixture(scope="session")
def toy_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path, toy_cache):
    """An empty folder with a candidate of Duel that has no bug."""
    return Project(tmp_path / "project", toy_cache)
