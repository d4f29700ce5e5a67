"""TOST: two one-sided t tests of whether two mean scores are equal within a margin.

"No significant difference" is no evidence of equality, which must be shown here. The null
hypotheses are that the difference lies below -margin, and that it lies above +margin. Both
must be rejected, which is equivalent to the 90 % interval lying inside the margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

# Any: SciPy's results have attributes that its annotations lack. `scipy.stats` takes a second to
# load, on first use.
_scipy: Any = scipy
#: Level of each one-sided test; the interval covers 1 - 2 * ALPHA.
ALPHA = 0.05
EQUIVALENT, DIFFERENT, NOT_SHOWN = "equivalent", "different", "not shown"


class ZeroVariance(ValueError):
    """The samples do not vary, so that a t test has no meaning."""


@dataclass(frozen=True)
class Equivalence:
    """The outcome, differences being x - y.

    low, high: the 90 % interval of the difference. p_low, p_high: of the tests against
    -margin and +margin. power: the chance to show equivalence if the true difference is 0 and
    the true spread is the observed one.
    """

    difference: float
    low: float
    high: float
    p_low: float
    p_high: float
    margin: float
    power: float

    @property
    def verdict(self) -> str:
        """`equivalent`; `different`, the whole interval outside the margin; or `not shown`."""
        if max(self.p_low, self.p_high) < ALPHA:
            return EQUIVALENT
        outside = self.low > self.margin or self.high < -self.margin
        return DIFFERENT if outside else NOT_SHOWN

    @property
    def digits(self) -> int:
        """Decimal digits that resolve scores well within the margin."""
        return max(2, 1 + math.ceil(-math.log10(self.margin)))

    def __str__(self) -> str:
        diff, low, high = (
            f"{value:+.{self.digits}f}" for value in (self.difference, self.low, self.high)
        )
        return (
            f"diff {diff}, 90% CI [{low}, {high}], "
            f"margin {self.margin:.3g}, p_low {self.p_low:.1e}, p_high {self.p_high:.1e}, "
            f"power {self.power:.2f}"
        )


#: SciPy divides by the mean to warn of cancellation: by a mean near 1e-308 that overflows.
_tiny_means = np.errstate(over="ignore")


@_tiny_means
def paired(x: Sequence[float], y: Sequence[float], margin: float) -> Equivalence:
    """Compare the scores of the same policies, x[i] with y[i].

    ZeroVariance if all differences are equal; ValueError for fewer than two policies.
    """
    d = _sample(x) - _sample(y)
    if d.ndim != 1:
        raise ValueError("x and y are not of one length")
    _require(margin, [d], [*x, *y])
    low = _scipy.stats.ttest_1samp(d, -margin, alternative="greater").pvalue
    high = _scipy.stats.ttest_1samp(d, margin, alternative="less").pvalue
    interval = _scipy.stats.ttest_1samp(d, 0.0).confidence_interval(1 - 2 * ALPHA)
    spread = float(d.std(ddof=1) / np.sqrt(len(d)))
    return _outcome(float(d.mean()), interval, low, high, margin, spread, len(d) - 1)


@_tiny_means
def unpaired(x: Sequence[float], y: Sequence[float], margin: float) -> Equivalence:
    """Compare the scores of different policies, with Welch's test.

    ZeroVariance if either sample is constant; ValueError for fewer than two of either.
    """
    a, b = _sample(x), _sample(y)
    _require(margin, [a, b], [*x, *y])
    low = _scipy.stats.ttest_ind(a + margin, b, equal_var=False, alternative="greater").pvalue
    high = _scipy.stats.ttest_ind(a - margin, b, equal_var=False, alternative="less").pvalue
    test = _scipy.stats.ttest_ind(a, b, equal_var=False)
    interval = test.confidence_interval(1 - 2 * ALPHA)
    spread = float(np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))
    difference = float(a.mean() - b.mean())
    return _outcome(difference, interval, low, high, margin, spread, float(test.df))


def power(spread: float, freedom: float, margin: float) -> float:
    """Return the chance that both tests reject when the true difference is 0.

    spread: the true standard error of the mean difference. Given the standard error s of a
    sample, both reject if the mean lies within margin - t * s; s varies as a chi does.
    """
    if spread <= 0:
        raise ValueError(f"spread {spread}: it must be positive")
    quantiles = (np.arange(4000) + 0.5) / 4000
    seen = spread * np.sqrt(_scipy.stats.chi2.ppf(quantiles, freedom) / freedom)
    room = margin - _scipy.stats.t.ppf(1 - ALPHA, freedom) * seen
    inside = np.where(room > 0, 2 * _scipy.stats.norm.cdf(np.maximum(room, 0) / spread) - 1, 0.0)
    return float(inside.mean())


def _sample(values: Sequence[float]) -> np.ndarray:
    sample = np.asarray(values, np.float64)
    if sample.ndim != 1 or len(sample) < 2 or not np.isfinite(sample).all():
        raise ValueError("a sample is a list of at least two finite numbers")
    return sample


def _require(margin: float, samples: list[np.ndarray], scores: list[float]) -> None:
    if not margin > 0:
        raise ValueError(f"margin {margin}: it must be positive")
    # Equal differences of unequal numbers vary by rounding.
    size = max(margin, *np.abs(scores))
    if any(np.ptp(sample) <= 1e-9 * size for sample in samples):
        raise ZeroVariance("a sample does not vary: nothing is measured")


def _outcome(
    difference: float,
    interval: tuple[float, float],
    p_low: float,
    p_high: float,
    margin: float,
    spread: float,
    freedom: float,
) -> Equivalence:
    low, high = map(float, interval)
    chance = power(spread, freedom, margin)
    return Equivalence(difference, low, high, float(p_low), float(p_high), margin, chance)


def wilson(hits: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of `hits` in `count`; (0, 1) for none."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, _QUANTILE**2
    middle = share + square / (2 * count)
    half = _QUANTILE * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    low, high = ((middle + sign * half) / (1 + square / count) for sign in (-1, 1))
    # A share of 0 or 1 is an end of its interval exactly, whatever the last bit of the formula.
    return (low if hits else 0.0), (high if hits < count else 1.0)


#: The normal quantile of a two-sided interval of 95 %.
_QUANTILE = 1.959963984540054
