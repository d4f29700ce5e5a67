import re
import signal

import pytest

from twinstep._lib import paths
from twinstep.oracles.pong import upstream
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.testing.harness import Harness, Lab, RunSettings
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.requirements import need


def pytest_ignore_collect(config):
    """No test here has a level: a run of levels alone need not import them, which takes 1 s."""
    wanted = re.fullmatch(r"level\d( or level\d)*", config.option.markexpr.strip())
    return True if wanted else None


@pytest.fixture(scope="session", autouse=True)
def _programs_compiled_once():
    """Child processes with an empty trace cache need not compile everything again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(paths.compiled_dir()))
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.01")
        yield


@pytest.fixture(scope="session", autouse=True)
def _children_can_be_interrupted():
    """A suite that was started in the background ignores Ctrl-C, and so would its children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def toy_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path, toy_cache):
    """An empty folder with a candidate of Duel that has no bug."""
    return Project(tmp_path / "project", toy_cache)


@pytest.fixture(scope="module")
def fs8_reference():
    """Pong's reference at frame skip 8, in this process."""
    need(upstream.probe({}))
    env = registry.environment("pong")
    variant = next(v for v in env.variants if v.name == "fs8")
    harness = Harness(RunSettings())
    yield harness.reference(EnvVariant(env, variant))
    harness.close()


@pytest.fixture
def fs8(fs8_reference):
    """JAX Pong beside it. Bugs are planted by monkeypatch: nothing compiled may outlive a test."""
    subject = fs8_reference.subject
    ref = next(c for c in subject.env.candidates if c.name == "jax")
    return Lab(Pair(subject, ref), fs8_reference)
