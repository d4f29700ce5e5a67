"""Run mutants one by one: first the candidate without a bug, then each mutant in its variants."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.cached_oracle import RememberingReference
from twinstep.mutation.campaign import Campaign, row_of
from twinstep.mutation.check_order import Watch
from twinstep.mutation.effects import Answers, answers, effect, tolerant
from twinstep.mutation.forked import in_a_copy, judged
from twinstep.mutation.judge import LIMIT, Question, judge
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.rust_build import Workshop
from twinstep.mutation.verdict import Judgement, Kill
from twinstep.project.registry import Pair
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings

if TYPE_CHECKING:
    from twinstep.mutation.chunks import Chunks

#: (variant, level) -> known kill of a mutant.
Settled = Mapping[tuple[str, int], Kill]
#: Least limit of a level of a compiled candidate: nothing has to be traced.
_COMPILED_LIMIT = 20.0
#: Limit of a level, as a multiple of its seconds without a bug; LIMIT at least.
_SLOWER = 5


class MutantRunner:
    """Runs mutants; prepares a variant's reference once its candidate has passed without a bug.

    watch: notes each check. folder: where a candidate's compiled part is built, or the oracle's
    answers are filed for the process that replaces one ended by a bug. mutants: those to be run.
    levels: for mutants that do not run at every level; (): the plan's. alone: number of mutants of
    a JAX candidate that were planted alone.
    """

    def __init__(
        self,
        campaign: Campaign,
        watch: Watch,
        folder: Path,
        mutants: Sequence[Mutant] = (),
        levels: tuple[int, ...] = (),
    ) -> None:
        plan, ref = campaign.plan, campaign.pair.candidate
        self._campaign, self._watch = campaign, watch
        self._shop = Workshop(ref, folder) if ref.build else None
        # A compiled candidate runs in forks, so that no bug ends this process.
        self._answers = None if ref.build else folder / "answers"
        self._chunks = None
        if not (ref.build or plan.alone):
            self._chunks = self._chunks_of(ref, mutants)
        self.alone = 0
        self._harness = Harness(RunSettings(episodes=plan.episodes))
        # With fewer episodes, averages of another candidate may differ without a bug.
        self._usual = Harness(RunSettings(episodes=max(plan.episodes, RunSettings().episodes)))
        self._levels = levels or plan.levels
        full = any(mutant.id in campaign.full for mutant in mutants)
        self._question = Question(plan.levels if full else self._levels)
        self._references: dict[str, tuple[RememberingReference, Question]] = {}
        self._unchanged: Answers = {}
        self._noticed: Counter[str] = Counter()

    @staticmethod
    def _chunks_of(ref: CandidateRef, mutants: Sequence[Mutant]) -> Chunks | None:
        import jax

        from twinstep.mutation.chunks import Chunks

        # The switch is read through the processor's memory.
        return Chunks(ref, mutants) if jax.default_backend() == "cpu" else None

    def begin(self, elsewhere: bool) -> None:
        """Run the candidate as it is. UserError if it fails.

        elsewhere: True for the other variants: those of a compiled candidate all run now, since
        bugs are compiled in its place later, others when they are needed. False: the first variant.
        """
        if self._shop is not None:
            self._watch.begins(0, "the build", 10 * LIMIT)
            self._shop.build(None)
        pairs = self._campaign.pairs
        for pair in pairs[:1] if not elsewhere else pairs[1:] if self._shop is not None else []:
            self._prepared(pair)

    def row(self, mutant: Mutant, settled: Settled, elsewhere: bool) -> dict[str, Any]:
        """Run a mutant; return its row, as plain JSON values.

        It runs in the first variant; elsewhere=True: in the other variants and in candidates of the
        same files, until a level notices; variants that noticed most go first. settled: known
        kills, whose levels are skipped. UserError if the candidate fails without the bug.
        """
        campaign, begin = self._campaign, time.perf_counter()
        if self._shop is not None:
            self._watch.variant = campaign.name_of(campaign.pair)
            self._watch.begins(0, "the build", 10 * LIMIT)
            try:
                self._shop.build(mutant)
            except UserError as error:
                kill = Kill(1, "the build", "build", _compilers_word(str(error)))
                return row_of(campaign, mutant, "", Judgement({1: kill}, {1: 0.0}))
        built = round(time.perf_counter() - begin, 3)
        alone = self.alone
        variant, verdict = "", Judgement({}, {})
        others = sorted(campaign.pairs[1:], key=lambda pair: -self._noticed[pair.label])
        for pair in others if elsewhere else campaign.pairs[:1]:
            variant, verdict = self._asked(pair, mutant, settled, elsewhere)
            if verdict.kills:
                self._noticed[pair.label] += 1
                break
        row = row_of(campaign, mutant, variant, verdict)
        if self._shop is None:
            row["planted"] = "alone" if self.alone > alone else "together"
        first = campaign.pair
        room = tolerant(first.subject.contract, first.candidate.name)
        last = str(campaign.plan.levels[-1]) in row["seconds"]
        if row["class"] == "survivor" and last and room and not elsewhere:
            row["effect"] = self._effect(mutant)
        return row | ({"compiling": built} if self._shop is not None else {})

    def _asked(
        self, pair: Pair, mutant: Mutant, settled: Settled, elsewhere: bool
    ) -> tuple[str, Judgement]:
        """Return a variant's name and its levels' judgement of a mutant."""
        reference, question = self._prepared(pair)
        full = mutant.id in self._campaign.full and not elsewhere
        variant = self._campaign.name_of(pair)
        kills = {level: kill for (name, level), kill in settled.items() if name == variant}
        levels = self._campaign.plan.levels if full or elsewhere else self._levels
        narrowed = replace(question, levels=levels, every=full, locate=full, settled=kills)
        self._watch.variant, self._watch.path = variant, mutant.path
        verdict = self._judged(reference, pair, mutant, narrowed)
        self._watch.learn(verdict)
        return variant, verdict

    def _effect(self, mutant: Mutant) -> dict[str, Any]:
        """Return the effect of an unnoticed bug in the first variant."""
        pair = self._campaign.pair
        reference, question = self._prepared(pair)
        if self._chunks is not None:
            from twinstep.mutation.chunks import MutantQuestion

            about = MutantQuestion(reference, pair, mutant, question)
            changes = self._chunks.effect(about, self._watch)
            if changes is not None:
                return changes
        # In this process a compiled candidate is the installed one.
        unchanged = self._unchanged = self._unchanged or answers(reference, pair, None)

        def measured(watch: Watch) -> dict[str, Any]:
            return effect(unchanged, answers(reference, pair, mutant))

        if self._shop is None:
            return measured(self._watch)
        return in_a_copy(measured, self._watch, self._shop)

    def _judged(
        self, reference: RememberingReference, pair: Pair, mutant: Mutant | None, question: Question
    ) -> Judgement:
        if self._shop is None:
            if self._chunks is not None and mutant is not None:
                from twinstep.mutation.chunks import MutantQuestion

                about = MutantQuestion(reference, pair, mutant, question)
                verdict = self._chunks.ask(about, self._watch)
                if verdict is not None:
                    return verdict
            self.alone += mutant is not None
            return judge(reference, pair, mutant, question, self._watch)

        def ask(question: Question, watch: Watch) -> Judgement:
            return judge(reference, pair, mutant, question, watch)

        return judged(ask, question, self._watch, self._shop)

    def _prepared(self, pair: Pair) -> tuple[RememberingReference, Question]:
        if pair.label not in self._references:
            first = pair is self._campaign.pair
            harness = self._harness if first else self._usual
            reference = RememberingReference(harness, pair.subject, self._answers)
            self._watch.variant = None
            base = (
                self._question
                if first
                else replace(self._question, levels=self._campaign.plan.levels)
            )
            patient = dict.fromkeys(base.levels, 10 * LIMIT)
            question = replace(base, limits=patient, shipped=self._shop is None)
            verdict = judge(reference, pair, None, question, self._watch)
            reference.oracle.learning = False
            # Forks must not share an oracle's process: each starts its own.
            reference.oracle.close()
            if self._shop is not None and not verdict.kills:
                question = replace(question, shipped=True)
                verdict = self._judged(reference, pair, None, question)
            for kill in verdict.kills.values():
                reference.close()
                raise UserError(
                    f"{pair.label} fails level {kill.level} without a planted bug "
                    f"({kill.check}: {kill.detail}): mend it first"
                )
            least = LIMIT if self._shop is None else _COMPILED_LIMIT
            limits = {level: max(least, _SLOWER * took) for level, took in verdict.seconds.items()}
            self._references[pair.label] = reference, replace(base, limits=limits)
        return self._references[pair.label]

    def close(self) -> None:
        """End the oracles' processes."""
        if self._chunks is not None:
            self._chunks.close()
        for reference, _ in self._references.values():
            reference.close()
        self._harness.close()
        self._usual.close()


def _compilers_word(text: str) -> str:
    """Return the first line of a compiler's output that names an error."""
    lines = [line for line in text.splitlines() if line.startswith("error")]
    return (lines or text.splitlines()[-1:])[0][:200]


@contextlib.contextmanager
def compilation_cache(campaign: Campaign, folder: Path) -> Iterator[None]:
    """Cache JAX's programs of mutants in a folder of their own.

    Mutants share most of their programs, and nobody needs them later. A candidate with a compiled
    part has no JAX programs, and a process with JAX's threads should not be forked.
    """
    if campaign.pair.candidate.build:
        yield
        return
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    name, least = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
    before = {key: getattr(jax.config, key) for key in (name, least)}
    jax.config.update(name, str(folder))
    jax.config.update(least, 0.01)
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        for key, value in before.items():
            jax.config.update(key, value)
        compilation_cache.reset_cache()
