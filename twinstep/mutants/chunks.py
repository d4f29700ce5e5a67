"""The mutants of a candidate in JAX in chunks, the programs of each compiled once for all of it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutants.killing import LIMIT, Question, QuickLab, Verdict, asked
from twinstep.mutants.remembering import RememberingReference
from twinstep.mutants.sites import Mutant
from twinstep.mutants.together import Together
from twinstep.mutants.watch import Watch
from twinstep.registry import Pair

#: Mutants of a chunk: each makes its programs larger.
SIZE = 100
#: Fewer than so many are not worth compiling the candidate once more.
_FEW = 8


class Chunks:
    """Asks mutants that can be switched. mutants: in the order in which they will be asked."""

    def __init__(self, ref: CandidateRef, mutants: Sequence[Mutant]) -> None:
        self._ref = ref
        self._chunks = [mutants[at : at + SIZE] for at in range(0, len(mutants), SIZE)]
        self._place = {m.id: place for place, chunk in enumerate(self._chunks) for m in chunk}
        self._open = -1
        self._together = Together([])
        self._labs: dict[str, QuickLab] = {}
        self._scope = contextlib.ExitStack()

    def ask(
        self,
        reference: RememberingReference,
        pair: Pair,
        mutant: Mutant,
        question: Question,
        watch: Watch,
    ) -> Verdict | None:
        """Return what the levels make of a mutant, None if it has to be planted alone.

        UserError if the candidate fails with all of a chunk's bugs in it and none of them on.
        """
        place = self._place[mutant.id]
        if len(self._chunks[place]) < _FEW:
            return None
        if place != self._open:
            self.close()
            self._together = Together(self._chunks[place])
            self._scope.enter_context(self._together.planted(self._ref))
            self._open = place
        lab = self._lab(reference, pair, question, watch)
        if not self._together.can(mutant):
            return None
        with self._together.switched(mutant):
            verdict = asked(lab, question, watch)
        return verdict if self._together.can(mutant) else None

    def _lab(
        self, reference: RememberingReference, pair: Pair, question: Question, watch: Watch
    ) -> QuickLab:
        """Return the lab of a variant, once it has passed with no bug on."""
        if pair.label not in self._labs:
            lab = QuickLab(pair, reference)
            variant, watch.variant = watch.variant, None
            patient = dict.fromkeys(question.levels, 10 * LIMIT)
            verdict = asked(lab, Question(question.levels, limits=patient), watch)
            watch.variant = variant
            for kill in verdict.kills.values():
                raise UserError(
                    f"{pair.label} fails level {kill.level} where bugs are compiled together and "
                    f"none is on ({kill.check}: {kill.detail}): run with --alone"
                )
            self._labs[pair.label] = lab
        return self._labs[pair.label]

    def close(self) -> None:
        """Take the present chunk's modules out."""
        self._scope.close()
        self._labs.clear()
        self._open = -1
