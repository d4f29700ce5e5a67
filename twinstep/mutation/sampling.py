"""Choose a stratified sample of mutants by a seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from twinstep.mutation.python_operators import Mutant


def chosen(
    mutants: Sequence[Mutant], count: int, seed: int, before: Collection[str] = ()
) -> list[Mutant]:
    """Return `count` mutants in their own order, stratified by file and operator; 0 for all.

    Each stratum gives its share rounded down; the remaining mutants come from the strata with the
    largest remainders, ties broken at random. before: ids of an earlier sample; its existing
    mutants stay, and others replace the missing ones.
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
    tie_breaks = dict(zip(strata, rng.random(len(strata)), strict=True))
    order = sorted(strata, key=lambda key: (sizes[key] - shares[key], tie_breaks[key]))
    for key in order[: count - sum(sizes.values())]:
        sizes[key] += 1
    places = [int(i) for k in strata for i in rng.permutation(strata[k])[: sizes[k]]]
    return [mutants[place] for place in sorted(places)]
