"""Choose mutants by a seed, and say how sure a share of them is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from twinstep.mutants.sites import Mutant

#: The normal quantile of a two-sided interval of 95 %.
_QUANTILE = 1.959963984540054


def chosen(
    mutants: Sequence[Mutant], count: int, seed: int, before: Collection[str] = ()
) -> list[Mutant]:
    """Return `count` mutants in their own order, stratified by file and operator; 0 for all.

    Each stratum gives its share rounded down; the mutants still lacking come from the strata
    with the largest remainders, ties by lot. before: ids of an earlier sample: of it all that are
    still there stay, and others are chosen for those that are gone.
    """
    if not count or count >= len(mutants):
        return list(mutants)
    if before:
        stay = chosen([mutant for mutant in mutants if mutant.id in before], count, seed)
        ids = {mutant.id for mutant in stay}
        rest = [mutant for mutant in mutants if mutant.id not in ids]
        if len(ids) < count:
            ids |= {mutant.id for mutant in chosen(rest, count - len(ids), seed)}
        return [mutant for mutant in mutants if mutant.id in ids]
    strata: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, mutant in enumerate(mutants):
        strata[mutant.path, mutant.operator].append(place)
    rng = np.random.default_rng(seed)
    shares = {key: count * len(places) / len(mutants) for key, places in strata.items()}
    sizes = {key: int(share) for key, share in shares.items()}
    by_lot = dict(zip(strata, rng.random(len(strata)), strict=True))
    order = sorted(strata, key=lambda key: (sizes[key] - shares[key], by_lot[key]))
    for key in order[: count - sum(sizes.values())]:
        sizes[key] += 1
    places = [int(i) for k in strata for i in rng.permutation(strata[k])[: sizes[k]]]
    return [mutants[place] for place in sorted(places)]


def wilson(hits: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of `hits` in `count`; (0, 1) for none."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, _QUANTILE**2
    middle = share + square / (2 * count)
    half = _QUANTILE * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    low, high = ((middle + sign * half) / (1 + square / count) for sign in (-1, 1))
    # None and all of them are edges of their own intervals, whatever the last bit says.
    return (low if hits else 0.0), (high if hits < count else 1.0)
