"""Polynomials of sine and cosine, for both types."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, getcontext

from .tables import HEADER

QUARTER = Decimal("1.5707963267948966192313216916397514420985846996875529104874722961539")


def fitted(series: Callable[[int], Decimal], count: int) -> list[Decimal]:
    """Return the polynomial of `count` terms that equals a power series in u at Chebyshev's points
    of 0 <= u <= (pi/4)^2: its largest error is close to the least possible."""
    end = (QUARTER / 2) ** 2
    points = []
    for k in range(count):
        # cos((2k + 1) pi / 2 count), by the cosine's own series
        angle = QUARTER * (2 * k + 1) / count
        cosine = sum((-1) ** n * angle ** (2 * n) / math.factorial(2 * n) for n in range(40))
        points.append(end * (1 + cosine) / 2)
    values = [sum(series(n) * u**n for n in range(30)) for u in points]
    # Newton's divided differences, then multiplied out.
    for level in range(1, count):
        for k in range(count - 1, level - 1, -1):
            values[k] = (values[k] - values[k - 1]) / (points[k] - points[k - level])
    terms = [Decimal(0)] * count
    for k in range(count - 1, -1, -1):
        for n in range(count - 1, 0, -1):
            terms[n] = terms[n - 1] - points[k] * terms[n]
        terms[0] = values[k] - points[k] * terms[0]
    return terms


def trigonometry() -> str:
    """Return P and Q of sin r = r + r^3 P(r^2), cos r = 1 - r^2/2 + r^4 Q(r^2), and pi/2."""
    getcontext().prec = 60
    text = HEADER.format("Constants of sine and cosine, fitted at Chebyshev's points.")

    def sine(n: int) -> Decimal:
        return Decimal((-1) ** (n + 1)) / math.factorial(2 * n + 3)

    def cosine(n: int) -> Decimal:
        return Decimal((-1) ** n) / math.factorial(2 * n + 4)

    for name, series in (("SIN", sine), ("COS", cosine)):
        for bits, count in ((32, 3), (64, 6)):
            terms = ", ".join(repr(float(term)) for term in fitted(series, count))
            text += f"pub(crate) const {name}_{bits}: [f64; {count}] = [{terms}];\n"
    for bits, digits in ((32, 24), (64, 53)):
        rest, parts = QUARTER, []
        for _ in range(3):
            part = rounded(rest, digits)
            parts.append(repr(part))
            rest -= Decimal(part)
        text += "/// pi/2 in parts, each of the type's precision.\n"
        text += f"pub(crate) const QUARTER_{bits}: [f64; 3] = [{', '.join(parts)}];\n"
    return text


def rounded(value: Decimal, digits: int) -> float:
    """Return the nearest number of so many binary digits."""
    exponent = math.frexp(float(value))[1] - digits
    scaled = (value * Decimal(2) ** -exponent).to_integral_value()
    return float(scaled * Decimal(2) ** exponent)
