"""Name the term by which a reward is off, from the reference's own account of the step.

A line `name = number` of `explain` is a term, as the numeric entries of Gymnasium's `info` are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TERM = re.compile(r"\s*([A-Za-z_][\w.]*) = ([-+]?\d[\d.]*(?:[eE][-+]?\d+)?)\s*")
#: What a term is multiplied by in the candidate -> what is wrong with it.
_FAULTS = {
    0.0: "as if `{}` were left out",
    -1.0: "as if `{}` had the other sign",
    **{
        times: f"as if `{{}}` were {times:g} times as large"
        for times in (0.01, 0.1, 0.5, 2, 10, 100)
    },
}
#: The share of a term, and of the reward, by which a match may be off: of float32's rounding.
_CLOSE = 1e-5
#: And the share of the difference: beside a large reward, 1.94 times a small term is not twice it.
_NEAR = 1e-2


def fault(oracle: float, candidate: float, log: Iterable[str]) -> str:
    """Say which term of the log accounts for the whole difference; "" if none or several do."""
    found = []
    for line in log:
        match = _TERM.fullmatch(line)
        term = float(match[2]) if match else 0.0
        allowed = _CLOSE * (abs(term) + abs(oracle) + abs(candidate))
        if match is None or abs(term) <= 2 * allowed:
            continue
        off = candidate - oracle
        found += [
            text.format(match[1])
            for times, text in _FAULTS.items()
            if abs(off - (times - 1) * term)
            <= min(max(1.0, abs(times)) * allowed, _NEAR * abs(off))
        ]
    return found[0] if len(found) == 1 else ""
