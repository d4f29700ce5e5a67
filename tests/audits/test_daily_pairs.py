"""Two pairs that need little beside Gymnasium, in short; `make audit` runs all."""

import importlib

import pytest

from audits.pair import module_of
from twinstep.compare.resync import check_from_states
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs

for package in ("gymnasium", "flax"):
    pytest.importorskip(package, reason=f"{package} is not installed: it runs in `make audit`")


@pytest.fixture
def lab_of(tmp_path):
    """A function from a pair's name to its lab."""
    opened = []

    def lab(name):
        module = importlib.import_module(module_of(name))
        opened.append(labs(tmp_path, module.PAIR, 12, f"{module.__name__}:PAIR"))
        return opened[-1].__enter__()(module.PAIR.candidates[0].name)

    yield lab
    for each in opened:
        each.__exit__(None, None, None)


def test_gymnasiums_cliff_walking_in_jax_is_equal(lab_of):
    lab = lab_of("tabular_cliff_walking")
    lab.require_lockstep(lab.traces("random"))
    assert lab.notes["coverage"]["steps"] > 3000


def test_gymnasiums_cartpole_in_jax_has_another_pole(lab_of):
    lab = lab_of("phys2d_cartpole")
    with pytest.raises(Divergence) as found:
        lab.require_equal(check_from_states(lab.runner, lab.traces("random"), lab.rules))
    assert found.value.record["case"]["kind"] == "step"
    assert "x_dot" in str(found.value.record["diff"])
