"""A JAX candidate's mutants in chunks; the programs of a chunk are compiled once for all of it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.cached_oracle import RememberingReference
from twinstep.mutation.check_order import Watch
from twinstep.mutation.effects import Answers, answered, effect
from twinstep.mutation.judge import LIMIT, Question, QuickLab, run_levels
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.switched_sources import Together
from twinstep.mutation.verdict import Judgement
from twinstep.project.registry import Pair

#: Mutants of a chunk: each makes its programs larger.
SIZE = 100
#: Smallest chunk that is worth another compilation of the candidate.
_FEW = 8


class MutantQuestion(NamedTuple):
    """A question about one mutant in one variant."""

    reference: RememberingReference
    pair: Pair
    mutant: Mutant
    question: Question


class Chunks:
    """Runs mutants that can be switched. mutants: in the order in which they will be run."""

    def __init__(self, ref: CandidateRef, mutants: Sequence[Mutant]) -> None:
        self._ref = ref
        self._chunks = [mutants[at : at + SIZE] for at in range(0, len(mutants), SIZE)]
        self._place = {m.id: place for place, chunk in enumerate(self._chunks) for m in chunk}
        self._open = -1
        self._together = Together([])
        self._labs: dict[str, QuickLab] = {}
        self._passed: set[tuple[str, int]] = set()
        self._unchanged: Answers = {}
        self._scope = contextlib.ExitStack()

    def ask(self, about: MutantQuestion, watch: Watch) -> Judgement | None:
        """Return the levels' judgement of a mutant, None if it has to be planted alone.

        Raises UserError if the candidate fails with a chunk's bugs compiled in and none of them on.
        """
        lab = self._lab(about, watch)
        if lab is None:
            return None
        with self._together.switched(about.mutant):
            verdict = run_levels(lab, about.question, watch)
        return verdict if self._together.can(about.mutant) else None

    def effect(self, about: MutantQuestion, watch: Watch) -> dict[str, Any] | None:
        """Return a mutant's effect (see `effects`), None if it has to be planted alone.

        The baseline is the same programs with no bug on: programs compiled without bugs may round
        in other places. Raises as `ask` does.
        """
        lab = self._lab(about, watch)
        if lab is None:
            return None
        if not self._unchanged:
            self._unchanged = answered(lab.runner, about.reference)
        with self._together.switched(about.mutant):
            changed = answered(lab.runner, about.reference)
        return effect(self._unchanged, changed) if self._together.can(about.mutant) else None

    def _lab(self, about: MutantQuestion, watch: Watch) -> QuickLab | None:
        """Return a lab for a mutant's chunk that passes with no bug on; None if there is none."""
        reference, pair, mutant, question = about
        place = self._place[mutant.id]
        if len(self._chunks[place]) < _FEW:
            return None
        if place != self._open:
            self.close()
            self._together = Together(self._chunks[place])
            self._scope.enter_context(self._together.planted(self._ref))
            self._open = place
        if pair.label not in self._labs:
            self._labs[pair.label] = QuickLab(pair, reference)
        lab = self._labs[pair.label]
        levels = tuple(n for n in question.levels if (pair.label, n) not in self._passed)
        if levels:
            variant, watch.variant = watch.variant, None
            patient = dict.fromkeys(levels, 10 * LIMIT)
            verdict = run_levels(lab, Question(levels, limits=patient), watch)
            watch.variant = variant
            for kill in verdict.kills.values():
                raise UserError(
                    f"{pair.label} fails level {kill.level} where bugs are compiled together and "
                    f"none is on ({kill.check}: {kill.detail}): run with --alone"
                )
            self._passed |= {(pair.label, level) for level in levels}
        return lab if self._together.can(mutant) else None

    def close(self) -> None:
        """Remove the current chunk's modules."""
        self._scope.close()
        self._labs.clear()
        self._passed.clear()
        self._unchanged = {}
        self._open = -1
