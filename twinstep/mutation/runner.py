"""Ask one mutant after the other: the candidate without a bug first, then each in its variants."""

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
from twinstep.testing.harness import Harness, RunSettings

if TYPE_CHECKING:
    from twinstep.mutation.chunks import Chunks

#: By variant and level, what is known of a mutant.
Settled = Mapping[tuple[str, int], Kill]
#: What a level of a compiled candidate may take at least: there is nothing to trace in it.
_COMPILED_LIMIT = 20.0
#: A level may take so many times the seconds that it takes without a bug, but LIMIT at least.
_SLOWER = 5


class MutantRunner:
    """The references of all variants that were asked for, each once its candidate has passed.

    watch: told of each check that begins. folder: where a candidate's compiled part is compiled,
    or what the oracle answers is filed for the process that comes after one that a bug has ended.
    mutants: those that will be asked. levels: of those that are not asked at every level, none: the
    plan's. alone: how many of a candidate in JAX were planted alone.
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
        # Of a compiled candidate copies of a process are asked, which no bug ends.
        self._answers = None if ref.build else folder / "answers"
        self._chunks = None
        if not (ref.build or plan.alone):
            self._chunks = self._chunks_of(ref, mutants)
        self.alone = 0
        self._harness = Harness(RunSettings(episodes=plan.episodes))
        # Averages of fewer episodes may tell another candidate apart that has no bug.
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
        """Ask the candidate as it is. UserError if it fails.

        elsewhere: whether the other variants are asked: of a compiled candidate all of them now, as
        its bugs are compiled in its place, else each when it is needed; if not, the first one.
        """
        if self._shop is not None:
            self._watch.begins(0, "the build", 10 * LIMIT)
            self._shop.build(None)
        pairs = self._campaign.pairs
        for pair in pairs[:1] if not elsewhere else pairs[1:] if self._shop is not None else []:
            self._prepared(pair)

    def row(self, mutant: Mutant, settled: Settled, elsewhere: bool) -> dict[str, Any]:
        """Return what becomes of a mutant, as plain JSON values.

        It is asked in the first variant, or elsewhere: in the other variants, and in candidates of
        the same files, those first that noticed most, until a level notices. settled: by variant
        and level, what is not to be asked. UserError if the candidate fails without it.
        """
        campaign, begun = self._campaign, time.perf_counter()
        if self._shop is not None:
            self._watch.variant = campaign.name_of(campaign.pair)
            self._watch.begins(0, "the build", 10 * LIMIT)
            try:
                self._shop.build(mutant)
            except UserError as error:
                kill = Kill(1, "the build", "build", _compilers_word(str(error)))
                return row_of(campaign, mutant, "", Judgement({1: kill}, {1: 0.0}))
        built = round(time.perf_counter() - begun, 3)
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
        """Return a variant's name and what its levels make of a mutant."""
        reference, question = self._prepared(pair)
        full = mutant.id in self._campaign.full and not elsewhere
        variant = self._campaign.name_of(pair)
        known = {level: kill for (name, level), kill in settled.items() if name == variant}
        levels = self._campaign.plan.levels if full or elsewhere else self._levels
        asked = replace(question, levels=levels, every=full, locate=full, settled=known)
        self._watch.variant, self._watch.path = variant, mutant.path
        verdict = self._judged(reference, pair, mutant, asked)
        self._watch.learn(verdict)
        return variant, verdict

    def _effect(self, mutant: Mutant) -> dict[str, Any]:
        """Return what a bug that nothing notices changes in the first variant."""
        pair = self._campaign.pair
        reference, question = self._prepared(pair)
        if self._chunks is not None:
            from twinstep.mutation.chunks import ChunkRunner

            asking = ChunkRunner(reference, pair, mutant, question)
            found = self._chunks.effect(asking, self._watch)
            if found is not None:
                return found
        # Of a compiled candidate this process has the one that is installed.
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
                from twinstep.mutation.chunks import ChunkRunner

                asking = ChunkRunner(reference, pair, mutant, question)
                found = self._chunks.ask(asking, self._watch)
                if found is not None:
                    return found
            self.alone += mutant is not None
            return judge(reference, pair, mutant, question, self._watch)

        def ask(question: Question, watch: Watch) -> Judgement:
            return judge(reference, pair, mutant, question, watch)

        return judged(ask, question, self._watch, self._shop)

    def _prepared(self, pair: Pair) -> tuple[RememberingReference, Question]:
        if pair.label not in self._references:
            first = pair is self._campaign.pair
            harness = self._harness if first else self._usual
            made = RememberingReference(harness, pair.subject, self._answers)
            self._watch.variant = None
            asked = (
                self._question
                if first
                else replace(self._question, levels=self._campaign.plan.levels)
            )
            patient = dict.fromkeys(asked.levels, 10 * LIMIT)
            question = replace(asked, limits=patient, shipped=self._shop is None)
            verdict = judge(made, pair, None, question, self._watch)
            made.oracle.learning = False
            # A copy of this process must not talk to the same oracle: each begins one of its own.
            made.oracle.close()
            if self._shop is not None and not verdict.kills:
                question = replace(question, shipped=True)
                verdict = self._judged(made, pair, None, question)
            for kill in verdict.kills.values():
                made.close()
                raise UserError(
                    f"{pair.label} fails level {kill.level} without a planted bug "
                    f"({kill.check}: {kill.detail}): mend it first"
                )
            least = LIMIT if self._shop is None else _COMPILED_LIMIT
            limits = {level: max(least, _SLOWER * took) for level, took in verdict.seconds.items()}
            self._references[pair.label] = made, replace(asked, limits=limits)
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
    """Return the first line of what a compiler says that names an error."""
    lines = [line for line in text.splitlines() if line.startswith("error")]
    return (lines or text.splitlines()[-1:])[0][:200]


@contextlib.contextmanager
def compilation_cache(campaign: Campaign, folder: Path) -> Iterator[None]:
    """Keep what JAX compiles of mutants in a folder of their own.

    Most programs of a mutant are another one's too, and nobody needs them later. Of a candidate
    with a compiled part nothing is JAX's, and a process that has its threads should not be copied.
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
