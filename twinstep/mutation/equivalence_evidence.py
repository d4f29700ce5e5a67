"""Evidence where no proof is at hand: a bug's answers beside the candidate's own, for many states.

What is asked is drawn and placed as levels 1 and 2 do, from other random numbers. A reference that
places states puts many of them at its edges.
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
from twinstep.testing.harness import Harness, Lab, Reference, RunSettings


class _Lots(Reference):
    """A reference whose draws are not those of the suite, and others in each lot."""

    def __init__(self, harness: Harness, subject: EnvVariant) -> None:
        super().__init__(harness, subject)
        self._lot = 0
        self._placed_before: dict[int, dict[tuple[int, str], Answers]] = {}

    def begin(self, lot: int) -> None:
        self._lot = lot
        self._placed = self._placed_before.setdefault(lot, {})

    def rng(self, *parts: object) -> np.random.Generator:
        return super().rng(*parts, "lot", self._lot)


def alike(
    plan: Plan, ids: Sequence[str], states: int, module: str, show: Callable[[str], None]
) -> Iterator[tuple[str, bool]]:
    """Ask bugs and what they are planted in the same; yield a line for each, and if it is alike.

    states: how many inputs of each module, at least. module: the one that is asked, "" for all
    and for placed states. The candidate's first variant is asked. UserError for an unknown bug or
    module, or a compiled candidate.
    """
    pair = prepare(plan).pair
    if pair.candidate.build:
        raise UserError("--alike asks candidates in JAX; a compiled one's bugs want a proof")
    known = {mutant.id: mutant for mutant in all_mutants(pair.candidate)}
    if unknown := [name for name in ids if name not in known]:
        raise UserError(f"--alike {unknown[0]}: no bug of {plan.env}'s {plan.candidate}")
    names = [one.name for one in pair.subject.contract.modules if one.inputs]
    if module and module not in names:
        raise UserError(f"--module {module}: one of {', '.join(names)}")
    lots = -(-states // INPUTS)
    reference = _Lots(Harness(RunSettings()), pair.subject)
    try:
        own = list(_digests(pair, None, reference, lots, module, show))
        if not own[0]:
            raise UserError(f"{pair.label} can neither call modules nor load states")
        for name in ids:
            # Closed at a difference: the bug must be out before the next one is in.
            with closing(_digests(pair, known[name], reference, lots, module, show)) as found:
                told = _compared(name, pair, own, found, module)
            show("")
            yield told
    finally:
        show("")
        reference.close()


def _compared(
    name: str,
    pair: Pair,
    own: list[dict[str, bytes]],
    found: Iterable[dict[str, bytes]],
    module: str,
) -> tuple[str, bool]:
    about = f"{name} in {pair.label}"
    try:
        for want, got in zip(own, found, strict=True):
            other = [what for what in want if want[what] != got[what]]
            if other:
                more = f" and {len(other) - 3} more" if len(other) > 3 else ""
                return f"{about}: differs in {', '.join(other[:3])}{more}", False
    except CandidateBroken as error:
        return f"{about}: {error}", False
    steps = [what.startswith("step: ") for what in own[0]]
    asked = [f"{len(own) * INPUTS:,} inputs of {module or 'each module'}"] * (not all(steps))
    asked += [f"{len(own) * pair.subject.contract.placed:,} placed states"] * any(steps)
    return f"{about}: nothing differs in {' and '.join(asked)}", True


def _digests(
    pair: Pair,
    mutant: Mutant | None,
    reference: _Lots,
    lots: int,
    module: str,
    show: Callable[[str], None],
) -> Generator[dict[str, bytes]]:
    """Return for each lot what a candidate with a bug (None: without) gives, name -> sha256.

    Numbers that are equal count as the same: zero of either sign, and any NaN.
    """
    with planted(pair.candidate, mutant):
        runner = Lab(pair, reference).runner
        for lot in range(lots):
            show(f"{mutant.id if mutant else 'without a bug'}: lot {lot + 1} of {lots}")
            reference.begin(lot)
            yield {name: _digest(v) for name, v in answered(runner, reference, module).items()}


def _digest(values: np.ndarray) -> bytes:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values + 0)  # -0 + 0 is 0
    return hashlib.sha256(values.tobytes()).digest()
