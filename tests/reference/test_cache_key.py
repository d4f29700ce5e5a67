"""A trace's key: whatever can change a byte of the trace changes it, and nothing else does."""

import dataclasses
import sys

import numpy as np
import pytest

from twinstep.environment import CandidateRef, Variant
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.project import registry
from twinstep.reference import cache_key, worker
from twinstep.tests.toys.duel import DUEL

DRIVER = """
import numpy as np
from {package}policy_of_key import choose

def drive(contract, starts, look=None):
    return lambda frame, t: np.full((len(starts.seed), 2), choose(t), np.int32)
"""
FILES = {
    "keyed/__init__.py": "",
    "keyed/drv.py": DRIVER.format(package="keyed."),
    "keyed/policy_of_key.py": "def choose(t): return 1\n",
    "keyed/fast/__init__.py": "",
    "keyed/fast/rules.py": "",
    "keyed/bridge/__init__.py": "",
    "keyed/bridge/engine.so": "compiled",
    "policy_of_key.py": "def choose(t): return 1\n",
    "lone_drv.py": DRIVER.format(package=""),
    "naming.py": "from keyed.drv import drive\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package with a driver, what it imports, a bridge and a candidate; and a lone module."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [n for n in sys.modules if n.split(".")[0] in _NAMES]:
        del sys.modules[name]


_NAMES = {name.partition("/")[0].removesuffix(".py") for name in FILES}
DRIVERS = {"mine": "keyed.drv:drive", "lone": "lone_drv:drive", "named": "naming:drive"}


def key(driver):
    env = dataclasses.replace(
        DUEL,
        oracle=dataclasses.replace(DUEL.oracle, package="keyed.bridge"),
        drivers=DRIVERS,
        candidates=(CandidateRef("c", "keyed.fast.rules:X", packages=("keyed.fast", "lost")),),
    )
    subject = registry.EnvVariant(env, Variant("", {}))
    starts = starts_of(subject.contract, seeds("public", 3, "duel"))
    return cache_key.key_of(cache_key.material(subject, driver, starts, 9))


@pytest.mark.parametrize(
    ("driver", "name"),
    [
        ("mine", "keyed/drv.py"),
        ("mine", "keyed/policy_of_key.py"),
        ("lone", "lone_drv.py"),
        ("lone", "policy_of_key.py"),
        ("named", "naming.py"),
        ("named", "keyed/policy_of_key.py"),
        ("random", "keyed/bridge/__init__.py"),
        ("random", "keyed/bridge/engine.so"),
    ],
)
def test_an_edit_of_what_a_driver_or_a_bridge_imports_changes_the_key(folder, driver, name):
    before = key(driver)
    assert key(driver) == before
    (folder / name).write_text(FILES[name] + "# edited\n")
    assert key(driver) != before


@pytest.mark.parametrize("driver", [*DRIVERS, "random"])
def test_an_edit_of_a_candidate_beside_the_driver_does_not(folder, driver):
    """A second run after editing only the candidate replays cached traces."""
    before = key(driver)
    (folder / "keyed" / "fast" / "rules.py").write_text("# edited\n")
    assert key(driver) == before


def test_a_cores_own_driver_is_its_module_alone(folder):
    before = key("random")
    (folder / "keyed" / "drv.py").write_text("")
    assert key("random") == before


def test_the_versions_that_numbers_come_from_change_the_key(folder, monkeypatch):
    before = key("random")
    monkeypatch.setattr(np, "__version__", "0.1")
    assert key("random") != before
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "version_info", sys.version_info[:1] + (99,) + sys.version_info[2:])
    assert key("random") != before


def test_a_bridge_made_by_an_adapter_changes_with_the_adapter_alone(folder, monkeypatch):
    plain, real = key("random"), cache_key.sources_below
    adapter = cache_key.package_folder("twinstep.inward")
    edited = lambda where, *rest: "edited" if where == adapter else real(where, *rest)  # noqa: E731
    monkeypatch.setattr(cache_key, "sources_below", edited)
    assert key("random") == plain
    (folder / "keyed" / "bridge" / "__init__.py").write_text("import twinstep.inward\n")
    with_edited = key("random")
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(folder))
    assert key("random") != with_edited


RECORDER = ("recording", "trace_file", "drivers", "frames", "contract", "hashing")


def test_an_edit_of_what_counts_and_records_changes_the_key(folder, monkeypatch):
    """The manifest's counts are made by the worker; it is a part of the recorder."""
    before = key("random")
    real = cache_key.inspect.getsource
    for module in (worker, *(getattr(cache_key, name) for name in RECORDER)):
        edited = lambda m, module=module: real(m) + ("# edited" if m is module else "")  # noqa: E731
        monkeypatch.setattr(cache_key.inspect, "getsource", edited)
        assert key("random") != before
