"""Evidence of equivalence without a proof: compare a mutant with the candidate on many states.

Inputs and states are drawn as at levels 1 and 2, from other random numbers. A reference that places
states puts many of them at its boundaries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing

import numpy as np

from twinstep.errors import CandidateBroken, UserError
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.effects import INPUTS, Answers, answered
from twinstep.mutation.planting import all_mutants, planted
from twinstep.mutation.python_operators import Mutant
from twinstep.project.registry import EnvVariant, Pair
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Lab
from twinstep.testing.reference import Reference
from twinstep.testing.settings import RunSettings


class _BatchedReference(Reference):
    """A reference whose draws differ from the suite's, and from batch to batch."""

    def __init__(self, harness: Harness, subject: EnvVariant) -> None:
        super().__init__(harness, subject)
        self._batch = 0
        self._placed_before: dict[int, dict[tuple[int, str], Answers]] = {}

    def begin(self, batch: int) -> None:
        self._batch = batch
        self._placed = self._placed_before.setdefault(batch, {})

    def rng(self, *parts: object) -> np.random.Generator:
        return super().rng(*parts, "lot", self._batch)


def alike(
    plan: Plan, ids: Sequence[str], states: int, module: str, show: Callable[[str], None]
) -> Iterator[tuple[str, bool]]:
    """Compare bugs with the candidate's first variant; yield a line and True if alike, for each.

    states: least number of inputs of each module. module: the only one to compare, "" for all and
    for placed states. UserError for an unknown bug or module, or a compiled candidate.
    """
    pair = prepare(plan).pair
    if pair.candidate.build:
        raise UserError("--alike asks candidates in JAX; a compiled one's bugs want a proof")
    bugs = {mutant.id: mutant for mutant in all_mutants(pair.candidate)}
    if unknown := [name for name in ids if name not in bugs]:
        raise UserError(f"--alike {unknown[0]}: no bug of {plan.env}'s {plan.candidate}")
    names = [one.name for one in pair.subject.contract.modules if one.inputs]
    if module and module not in names:
        raise UserError(f"--module {module}: one of {', '.join(names)}")
    batches = -(-states // INPUTS)
    reference = _BatchedReference(Harness(RunSettings()), pair.subject)
    try:
        own = list(_digests(pair, None, reference, batches, module, show))
        if not own[0]:
            raise UserError(f"{pair.label} can neither call modules nor load states")
        for name in ids:
            # Closed at a difference: a bug must be removed before the next one is planted.
            with closing(_digests(pair, bugs[name], reference, batches, module, show)) as got:
                result = _compared(name, pair, own, got, module)
            show("")
            yield result
    finally:
        show("")
        reference.close()


def _compared(
    name: str,
    pair: Pair,
    own: list[dict[str, bytes]],
    digests: Iterable[dict[str, bytes]],
    module: str,
) -> tuple[str, bool]:
    about = f"{name} in {pair.label}"
    try:
        for want, got in zip(own, digests, strict=True):
            other = [what for what in want if want[what] != got[what]]
            if other:
                more = f" and {len(other) - 3} more" if len(other) > 3 else ""
                return f"{about}: differs in {', '.join(other[:3])}{more}", False
    except CandidateBroken as error:
        return f"{about}: {error}", False
    steps = [what.startswith("step: ") for what in own[0]]
    inputs = [f"{len(own) * INPUTS:,} inputs of {module or 'each module'}"] * (not all(steps))
    inputs += [f"{len(own) * pair.subject.contract.placed:,} placed states"] * any(steps)
    return f"{about}: nothing differs in {' and '.join(inputs)}", True


def _digests(
    pair: Pair,
    mutant: Mutant | None,
    reference: _BatchedReference,
    batches: int,
    module: str,
    show: Callable[[str], None],
) -> Generator[dict[str, bytes]]:
    """Yield name -> sha256 of a candidate's answers with a bug (None: without), for each batch.

    Equal numbers count as the same: zero of either sign, and any NaN.
    """
    with planted(pair.candidate, mutant):
        runner = Lab(pair, reference).runner
        for batch in range(batches):
            show(f"{mutant.id if mutant else 'without a bug'}: batch {batch + 1} of {batches}")
            reference.begin(batch)
            yield {name: _digest(v) for name, v in answered(runner, reference, module).items()}


def _digest(values: np.ndarray) -> bytes:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values + 0)  # -0 + 0 is 0
    return hashlib.sha256(values.tobytes()).digest()
