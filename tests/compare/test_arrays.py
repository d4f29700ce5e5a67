"""Comparison: bits under exact gates, the oracle's dtype under tolerances."""

import numpy as np
import pytest

from twinstep.compare.arrays import Miss, differs, error, first_misses
from twinstep.gates import Lockstep

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("oracle", "candidate", "wrong"),
    [
        (0.0, -0.0, True),
        (-0.0, -0.0, False),
        (NAN, NAN, False),
        (NAN, 0.0, True),
        (0.0, NAN, True),
        (INF, INF, False),
        (INF, -INF, True),
        (1.0, np.nextafter(np.float32(1), np.float32(2)), True),
    ],
)
def test_exact_gates_compare_bits(oracle, candidate, wrong):
    pair = np.float32([oracle]), np.float32([candidate])
    assert differs(*pair, Lockstep()).tolist() == [wrong]


def test_exact_gates_work_on_every_kind_of_array():
    for dtype in (bool, np.uint8, np.int32, np.uint32, np.float64):
        one = np.array([[0, 1], [1, 0]], dtype)
        assert not differs(one, one.copy(), Lockstep()).any()
        assert differs(one, one.T[::-1], Lockstep()).shape == one.shape
        assert differs(np.asarray(one[0, 0]), np.asarray(one[0, 1]), Lockstep()).shape == ()


def test_a_narrower_candidate_is_compared_in_the_oracles_dtype():
    oracle = np.array([0.5, 0.0, 0.1, 1.0])
    wrong = differs(oracle, oracle.astype(np.float32), Lockstep())
    assert wrong.tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("oracle", "candidate", "wrong"),
    [(1.0, 1.09, False), (1.0, 1.11, True), (NAN, NAN, False), (NAN, 1.0, True), (INF, 1.0, True)],
)
def test_tolerances_bound_the_error(oracle, candidate, wrong):
    pair = np.float64([oracle]), np.float64([candidate])
    assert differs(*pair, Lockstep(atol=0.1)).tolist() == [wrong]


def test_a_relative_tolerance_scales_with_the_oracle():
    oracle, candidate = np.float64([100.0, 1.0]), np.float64([100.5, 1.5])
    assert differs(oracle, candidate, Lockstep(rtol=0.01)).tolist() == [False, True]


def test_a_float32_candidate_is_measured_in_the_oracles_dtype():
    oracle = np.float64([0.1])
    assert error(oracle, np.float32([0.1])) == pytest.approx(1.49e-9, rel=1e-2)
    assert differs(oracle, np.float32([0.1]), Lockstep(atol=1e-9)).all()
    assert not differs(oracle, np.float32([0.1]), Lockstep(atol=2e-9)).any()


def test_an_infinite_oracle_is_equal_only_to_itself_under_a_relative_tolerance():
    pair = np.float64([INF, INF]), np.float64([INF, 1.0])
    assert differs(*pair, Lockstep(rtol=0.1)).tolist() == [False, True]


def test_unsigned_errors_do_not_wrap():
    assert error(np.uint32([0]), np.uint32([4294967295])) == 4294967295.0


def test_the_first_miss_of_a_lane_names_all_paths_of_its_step():
    found = {
        "a": np.array([[False, False], [True, False], [True, True]]),
        "b": np.array([[False, False], [True, False], [False, False]]),
    }
    valid = np.array([[True, True], [True, True], [True, False]])
    assert first_misses(found, valid, 10) == [Miss(0, 11, ("a", "b"))]
