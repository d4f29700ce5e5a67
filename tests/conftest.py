import os
import re
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

from twinstep._lib import memory, paths
from twinstep.oracles.pong import upstream
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.testing import xdist
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Lab
from twinstep.testing.run import RUN
from twinstep.testing.settings import RunSettings
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.requirements import need

_COMMON = {
    # Compilation happens inside an example.
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "report_multiple_bugs": False,
}
settings.register_profile("dev", max_examples=25, **_COMMON)
settings.register_profile(
    "ci", max_examples=25, derandomize=True, print_blob=True, database=None, **_COMMON
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_ignore_collect(config):
    """No test here has a level or verifies an environment.

    A run of levels alone need not import them, which takes 1 s, nor one of `--env`.
    """
    wanted = re.fullmatch(r"level\d( or level\d)*", config.option.markexpr.strip())
    return True if wanted or config.option.twinstep_env else None


class _ByFile:
    """The groups of a run, but each file of `tests/` is one of its own."""

    def __init__(self, groups):
        self._groups = groups

    def of(self, test):
        return test.partition("::")[0] if test.startswith("tests/") else self._groups.of(test)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep a file's tests together: they share fixtures of up to ten minutes, and programs."""
    if config.getvalue("dist") == "loadgroup":
        return xdist.by_pair(config, log, _ByFile(config.stash[RUN].groups))
    return None


@pytest.fixture(autouse=True)
def _strict_promotion():
    """JAX's own rules of promotion hide mistakes. Inside a test only: no candidate relies on it."""
    if "jax" not in sys.modules:
        yield
        return
    import jax

    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


@pytest.fixture(autouse=True)
def _path_is_left_as_it_was():
    """A test in a project's folder makes that project importable; the next test's processes not."""
    path = list(sys.path)
    yield
    sys.path[:] = path


#: Bytes below which a file's compiled programs are dropped before the next file's.
_SCARCE = 12 << 30


@pytest.fixture(scope="module", autouse=True)
def _memory_is_left_for_the_next_file():
    """Two workers with the programs of every game would fill 24 GB."""
    yield
    left = memory.available()
    if left is not None and left < _SCARCE:
        xdist.forget_programs()


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
