"""Check by means over the lanes that backends did comparable work where bits may differ.

Starts and actions are the same for all. Other actions, a wrong constant or a skipped lane change
the mean by more than the spread between lanes allows. A skipped step shows in fields that count
steps.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from twinstep.frames import Fields

#: The most standard errors between two means.
MOST = 5.0

#: number of lanes -> name -> (mean, standard error).
Means = Mapping[str, Mapping[str, tuple[float, float]]]


def means(shown: Fields, state: Fields, lanes: list[int]) -> Means:
    """Return the means over the first lanes, for each number of lanes.

    shown: [T, N, ...] of a round, whose return counts. If it is empty, the mean squares of the
    state's fields [N, ...] count.
    """
    if "reward" in shown:
        reward = np.asarray(shown["reward"], np.float64)
        rows = {"return": reward.reshape(*reward.shape[:2], -1).sum((0, 2))}
    else:
        rows = {
            f"{name} squared": (np.asarray(v, np.float64) ** 2).reshape(len(v), -1).mean(1)
            for name, v in state.items()
        }
    return {
        str(count): {
            name: (float(v[:count].mean()), float(v[:count].std() / np.sqrt(count)))
            for name, v in rows.items()
        }
        for count in lanes
    }


def differences(who: str, mine: Means, other: str, theirs: Means) -> list[str]:
    """Return a sentence for each mean too far from the other backend's over the same lanes."""
    sentences = []
    for lanes in mine.keys() & theirs.keys():
        for name in sorted(mine[lanes].keys() & theirs[lanes].keys()):
            (one, wide), (two, broad) = mine[lanes][name], theirs[lanes][name]
            # Negated, so that a NaN fails.
            if not abs(one - two) <= MOST * float(np.hypot(wide, broad)):
                sentences.append(f"{who} has a mean {name} of {one:.4g}, {other} of {two:.4g}")
    return list(dict.fromkeys(sentences))
