"""Write `generated/halfcheetah/ziggurat.py`: the tables of a normal distribution's ziggurat.

    python tools/halfcheetah/ziggurat_tables.py

NumPy draws normal numbers by the ziggurat of Marsaglia and Tsang (Journal of Statistical
Software 5(8), 2000) with 256 layers and 52 random bits. The tables follow from RIGHT, the place
where the tail begins, and AREA, that of each layer (of the lowest one with the tail), layer by
layer upwards: f(next) = f(edge) + AREA / edge with f(x) = exp(-x^2 / 2).

NumPy's were made in doubles, so every step's rounding is part of them: at the top they are up
to 130 units in the last place from what exact numbers give. Here the same steps are taken in
doubles, exp and ln by Python's decimal and rounded once. That leaves one place open: f at the
edge of layer 38 is 0.498 of a unit above the next double, and whoever made the tables had a
library that rounded it up. tests/envs/halfcheetah/test_reset.py checks every entry in NumPy.
"""

import math
from decimal import Decimal, localcontext
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "generated" / "halfcheetah" / "ziggurat.py"
RIGHT = 3.6541528853610087963519472518
PER_RIGHT = float(1 / Decimal("3.6541528853610087963519472518"))
AREA = 0.0049286732339746519
LAYERS = 256
#: The layer at whose edge f was rounded to the other side.
ROUNDED_UP = 38
#: Bits of the random whole number that is scaled to a layer's width.
BITS = 52
#: Fraction bits of the logarithms, and how many factors 1 + 2^-k they are given for.
FRACTION = 120
FACTORS = 60

HEADER = '''"""Tables for drawing normal numbers as NumPy does, and for logarithms in whole numbers.

Written by tools/halfcheetah/ziggurat_tables.py; do not edit.
"""

from __future__ import annotations

'''


def density(layer: int, edge: float) -> float:
    """Return f at a layer's edge."""
    f = float(Decimal(-0.5 * edge * edge).exp())
    return math.nextafter(f, math.inf) if layer == ROUNDED_UP else f


def layers() -> tuple[list[float], list[float]]:
    """Return each layer's right edge and f there, layer 255 at RIGHT.

    The lowest layer, number 0, is a rectangle and the tail. Its edge is that of a rectangle
    with the area of both; its f is not used by the method and stands as 1.
    """
    edge, f = [RIGHT] * LAYERS, [1.0] * LAYERS
    for layer in range(LAYERS - 1, 0, -1):
        if layer < LAYERS - 1:
            above = f[layer + 1] + AREA / edge[layer + 1]
            edge[layer] = math.sqrt(-2 * float(Decimal(above).ln()))
        f[layer] = density(layer, edge[layer])
    edge[0] = AREA / f[-1]
    return edge, f


def tables() -> dict[str, list[float] | list[int]]:
    """Return the three tables by layer.

    WIDTHS: factors of the random integer.
    INSIDE: below this number the point is under the curve whatever its height.
    HEIGHTS: f at the right edge.
    """
    edge, f = layers()
    scale = 1 << BITS
    # The part of layer n that lies under layer n - 1; the top one has none.
    within = [RIGHT * f[-1] / AREA, 0.0]
    within += [edge[layer - 1] / edge[layer] for layer in range(2, LAYERS)]
    return {
        "WIDTHS": [width / scale for width in edge],
        "INSIDE": [round(part * scale) for part in within],
        "HEIGHTS": f,
    }


def logarithms() -> tuple[int, list[int]]:
    """Return ln(2) and ln(1 + 2^-k) for k = 1 .. FACTORS, as whole multiples of 2^-FRACTION."""
    scale, two = Decimal(1 << FRACTION), Decimal(2)
    factors = [((1 + two**-k).ln() * scale) for k in range(1, FACTORS + 1)]
    return int((two.ln() * scale).to_integral_value()), [
        int(factor.to_integral_value()) for factor in factors
    ]


def listed(values: list[float] | list[int], per_line: int) -> str:
    """Return a tuple's source text."""
    rows = [values[n : n + per_line] for n in range(0, len(values), per_line)]
    return "(\n" + "".join(f"    {', '.join(map(repr, row))},\n" for row in rows) + ")\n"


def text() -> str:
    """Return the whole file."""
    with localcontext() as context:
        context.prec = 60
        two, factors = logarithms()
        lines = [HEADER, "# fmt: off\n"]
        lines += [f"RIGHT = {RIGHT!r}\n", f"PER_RIGHT = {PER_RIGHT!r}\n"]
        for name, values in tables().items():
            lines.append(f"{name} = {listed(values, 4)}")
        lines += [f"FRACTION = {FRACTION}\n", f"LOG_TWO = {two}\n"]
        lines.append(f"LOG_FACTORS = {listed(factors, 2)}# fmt: on\n")
    return "".join(lines)


if __name__ == "__main__":
    TARGET.write_text(text())
