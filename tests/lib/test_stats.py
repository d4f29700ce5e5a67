"""TOST against its formulas written out, and properties for any samples."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import betainc

from twinstep._lib.stats import (
    DIFFERENT,
    EQUIVALENT,
    NOT_SHOWN,
    Equivalence,
    ZeroVariance,
    paired,
    power,
    unpaired,
)

X = [20.9, 20.4, 19.8, 21.0, 20.1, 20.6]
Y = [20.7, 20.6, 19.5, 20.2, 20.4, 20.3]


def _above(t, freedom):
    """P(T > t), from the incomplete beta function."""
    tail = 0.5 * betainc(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t > 0 else 1 - tail


def _mean(values):
    return math.fsum(values) / len(values)


def _variance(values):
    return math.fsum((v - _mean(values)) ** 2 for v in values) / (len(values) - 1)


def _require_formulas(outcome, difference, spread, freedom, margin):
    assert outcome.difference == pytest.approx(difference)
    assert outcome.p_low == pytest.approx(_above((difference + margin) / spread, freedom))
    assert outcome.p_high == pytest.approx(1 - _above((difference - margin) / spread, freedom))
    # 5 % lie beyond each end of the interval.
    assert _above((difference - outcome.low) / spread, freedom) == pytest.approx(0.05)
    assert _above((outcome.high - difference) / spread, freedom) == pytest.approx(0.05)


@pytest.mark.parametrize("margin", [0.1, 0.4, 2.0])
def test_paired_is_the_t_test_of_the_differences(margin):
    d = [x - y for x, y in zip(X, Y, strict=True)]
    spread = math.sqrt(_variance(d) / len(d))
    _require_formulas(paired(X, Y, margin), _mean(d), spread, len(d) - 1, margin)


@pytest.mark.parametrize("margin", [0.1, 0.4, 2.0])
def test_unpaired_is_welchs_test(margin):
    y = Y[:4]
    a, b = _variance(X) / len(X), _variance(y) / len(y)
    freedom = (a + b) ** 2 / (a**2 / (len(X) - 1) + b**2 / (len(y) - 1))
    difference = _mean(X) - _mean(y)
    _require_formulas(unpaired(X, y, margin), difference, math.sqrt(a + b), freedom, margin)


def test_power_is_the_share_of_simulated_experiments_that_show_equivalence():
    rng = np.random.default_rng(0)
    for count, sd in ((5, 0.8125), (10, 0.8125), (10, 1.3)):
        d = rng.normal(0, sd, (4000, count))
        spread = d.std(1, ddof=1) / math.sqrt(count)
        shown = [
            _above((m + 1) / s, count - 1) < 0.05 and _above((1 - m) / s, count - 1) < 0.05
            for m, s in zip(d.mean(1), spread, strict=True)
        ]
        assert power(sd / math.sqrt(count), count - 1, 1.0) == pytest.approx(
            np.mean(shown), abs=0.025
        )


_samples = st.lists(st.floats(-50, 50), min_size=3, max_size=12)


@given(_samples, st.data(), st.floats(0.01, 10))
def test_the_verdict_is_where_the_interval_lies(x, data, margin):
    y = data.draw(st.lists(st.floats(-50, 50), min_size=len(x), max_size=len(x)))
    for test in (paired, unpaired):
        try:
            outcome = test(x, y, margin)
        except ZeroVariance:
            continue
        edges = [abs(abs(end) - margin) for end in (outcome.low, outcome.high)]
        assume(min(edges) > 1e-9)
        inside = -margin < outcome.low and outcome.high < margin
        outside = outcome.low > margin or outcome.high < -margin
        want = EQUIVALENT if inside else DIFFERENT if outside else NOT_SHOWN
        assert outcome.verdict == want
        assert outcome.low <= outcome.difference <= outcome.high
        assert 0 <= outcome.power <= 1


@pytest.mark.parametrize("test", [paired, unpaired])
def test_a_mean_of_the_smallest_numbers_is_no_warning(test):
    assert test([3.0, -3.0, 2e-308], [1.0, -1.0, 1e-308], 1.0).verdict == NOT_SHOWN


@given(_samples, st.floats(0.01, 10), st.sampled_from([-1, 1]))
def test_a_shift_of_two_margins_is_never_equivalent(x, margin, side):
    wobble = [v + side * 2 * margin + 0.3 * margin * (-1) ** i for i, v in enumerate(x)]
    outcome = paired(wobble, x, margin)
    assert outcome.verdict != EQUIVALENT
    swapped = paired(x, wobble, margin)
    assert (swapped.p_low, swapped.p_high) == pytest.approx((outcome.p_high, outcome.p_low))


def test_each_verdict_occurs():
    rng = np.random.default_rng(1)
    base = rng.normal(0, 5, 10)
    near, far, loose = base + rng.normal(0, 0.1, 10), base + 3, base + rng.normal(0, 5, 10)
    assert paired(near, base, 1.0).verdict == EQUIVALENT
    # Between policies the spread is wide: unpaired, the same scores show nothing.
    assert unpaired(near, base, 1.0).verdict == NOT_SHOWN
    assert paired(loose, base, 1.0).verdict == NOT_SHOWN
    assert paired(far + rng.normal(0, 0.1, 10), base, 1.0).verdict == DIFFERENT
    assert paired(base - 3 + rng.normal(0, 0.1, 10), base, 1.0).verdict == DIFFERENT


def test_what_does_not_vary_or_is_no_sample_is_refused():
    for y in ([-21.0] * 5, [-20.5] * 5):
        with pytest.raises(ZeroVariance):
            paired([-21.0] * 5, y, 1.0)
        with pytest.raises(ZeroVariance):
            unpaired([-21.0] * 5, y, 1.0)
    with pytest.raises(ZeroVariance):  # a constant shift, but for rounding
        paired([0.1, 0.2, 0.3], [1.1, 1.2, 1.3], 1.0)
    with pytest.raises(ZeroVariance):  # one side alone
        unpaired([-21.0] * 5, [1.0, 2.0, 3.0], 1.0)
    for x, y, margin in (([1.0], [2.0], 1), ([1, 2], [2, math.nan], 1), ([1, 2], [2, 4], 0)):
        with pytest.raises(ValueError, match="sample|margin"):
            paired(x, y, margin)


def test_the_line_has_all_numbers():
    outcome = Equivalence(0.066, -0.015, 0.146, 8.5e-10, 2.7e-9, 1.0, 0.9991)
    assert str(outcome) == (
        "diff +0.07, 90% CI [-0.01, +0.15], margin 1, p_low 8.5e-10, p_high 2.7e-09, power 1.00"
    )


def test_a_small_margin_is_shown_with_more_digits():
    outcome = Equivalence(0.0066, -0.0015, 0.0146, 8.5e-10, 2.7e-9, 0.02, 0.9991)
    assert str(outcome).startswith("diff +0.007, 90% CI [-0.002, +0.015], margin 0.02")
    assert Equivalence(0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0).digits == 2
