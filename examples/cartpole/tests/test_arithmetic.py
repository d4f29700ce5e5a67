"""The basis of the exactness: the compiled arithmetic, and NumPy's generator from a seed."""

import numpy as np
import pytest

from twinstep_cartpole import measure
from twinstep_cartpole.oracle import upstream

COUNT = 1_000_000


@pytest.mark.parametrize("name", [name for name in measure.CASES if "," not in name])
def test_sines_and_cosines_are_the_references(name):
    assert measure.differing(name, COUNT) == 0


@pytest.mark.parametrize("name", [n for n in measure.CASES if n.endswith(("rounded", "divided"))])
def test_guarded_arithmetic_is_pythons(name):
    assert measure.differing(name, COUNT) == 0
    assert measure.differing(f"{name.rpartition(',')[0]}, plain", COUNT) > COUNT // 100, (
        "the guard is needed no more"
    )


@pytest.mark.parametrize("name", [name for name in measure.CASES if "behind" in name])
def test_what_does_not_stop_the_compiler_still_does_not(name):
    """If it does one day, it can replace `rounded`."""
    assert measure.differing(name, COUNT) > COUNT // 100


def test_every_seed_gives_numpys_numbers():
    assert measure.differing_starts(10_000) == 0


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_traces_are_kept_apart_where_one_last_bit_differs(monkeypatch, name):
    before = upstream.arithmetic()
    true = getattr(np, name)

    def off_by_a_bit(angles):
        answers = true(angles)
        answers[4711] = np.nextafter(answers[4711], 2.0)
        return answers

    monkeypatch.setattr(np, name, off_by_a_bit)
    assert upstream.arithmetic() != before
