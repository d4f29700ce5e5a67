"""All mutants of a candidate, one after the other, and what is known of each."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from twinstep import registry
from twinstep.environment import Environment
from twinstep.errors import OracleMissing, UserError
from twinstep.harness import Harness, Settings
from twinstep.mutants import equivalents
from twinstep.mutants.effects import Answers, answers, effect, tolerant
from twinstep.mutants.forked import in_a_copy, judged
from twinstep.mutants.killing import LEVELS, LIMIT, Kill, Question, Verdict, Watch, judge
from twinstep.mutants.mutator import all_mutants, diff_of, source_files
from twinstep.mutants.remembering import RememberingReference
from twinstep.mutants.rust_workshop import Workshop
from twinstep.mutants.sites import Mutant
from twinstep.mutants.strata import chosen
from twinstep.registry import Pair

#: By variant and level, what is known of a mutant.
Settled = Mapping[tuple[str, int], Kill]
#: What a level of a compiled candidate may take at least: there is nothing to trace in it.
_COMPILED_LIMIT = 20.0
#: A level may take so many times the seconds that it takes without a bug, but LIMIT at least.
_SLOWER = 5


@dataclass(frozen=True)
class Plan:
    """What is asked for.

    sample: how many mutants, 0 for all. matrix: how many of these are asked at every level,
    whatever another said, and located, -1 for all; the others are asked until a level notices.
    """

    env: str
    candidate: str
    levels: tuple[int, ...] = LEVELS
    sample: int = 0
    seed: int = 0
    episodes: int = 100
    matrix: int = -1


@dataclass
class Campaign:
    """A plan carried out.

    pairs: the candidate in each variant, then others that are made of the same files.
    mutants: those that the plan asks for, in the order in which they are asked: by lot, so that
    those done are a sample at any time. equivalent: the reasons of those that are called so.
    sites: of all mutants. rows: one per mutant done, plain JSON values. kept: how many rows are an
    earlier run's.
    """

    plan: Plan
    pairs: list[Pair]
    mutants: list[Mutant]
    equivalent: dict[str, str]
    sites: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    kept: int = 0

    @property
    def pair(self) -> Pair:
        """The first variant's pair, of which every mutant is asked."""
        return self.pairs[0]

    @property
    def full(self) -> set[str]:
        """The ids of the mutants that are asked at every level."""
        wanted = len(self.mutants) if self.plan.matrix < 0 else self.plan.matrix
        return {mutant.id for mutant in self.mutants[:wanted]}

    def name_of(self, pair: Pair) -> str:
        """Return a variant's name, after the candidate's if that is not the plan's."""
        name, candidate = pair.subject.variant.name, pair.candidate.name
        return name if candidate == self.plan.candidate else f"{candidate} {name}".strip()

    def in_order(self) -> list[dict[str, Any]]:
        """Return the rows in the order of files and lines."""
        return sorted(self.rows, key=lambda row: (row["path"], row["line"], row["what"]))


def sources(pair: Pair) -> str:
    """Return the hash of the files that bugs are planted in."""
    found = hashlib.sha256()
    for source in source_files(pair.candidate):
        found.update(source.path.encode() + b"\0" + source.file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def prepare(plan: Plan) -> Campaign:
    """Return the campaign, nothing of it done.

    UserError for an unknown name, a candidate without Python files, a wrong list of equivalents;
    OracleMissing where the reference cannot run.
    """
    env = registry.environment(plan.env)
    every = _pairs(env)
    found = [pair for pair in every if pair.candidate.name == plan.candidate]
    if not found:
        raise UserError(f"candidate '{plan.candidate}' claims no variant of {plan.env}")
    for probe in (found[0].subject.probe, found[0].probe):
        if probe.problem:
            raise OracleMissing(probe.problem, probe.mend)
    ref = found[0].candidate
    if ref.build:
        # What is compiled with a bug does not fit the sources that lie here: not to be probed.
        unprobed = tuple(replace(one, probe="") for one in env.candidates)
        every = _pairs(replace(env, candidates=unprobed))
        found = [pair for pair in every if pair.candidate.name == plan.candidate]
        ref = found[0].candidate
    found += [
        pair for pair in every if pair not in found and pair.candidate.packages == ref.packages
    ]
    mutants, known = all_mutants(ref), equivalents.read(ref)
    asked = chosen(mutants, plan.sample, plan.seed)
    lots = np.random.default_rng(plan.seed).permutation(len(asked))
    return Campaign(plan, found, [asked[place] for place in lots], known, len(mutants))


def _pairs(env: Environment) -> list[Pair]:
    return [pair for subject in registry.subjects(env, {}) for pair in registry.pairs(subject)]


class Bench:
    """The references of all variants that were asked for, each once its candidate has passed.

    watch: told of each check that begins. folder: where a candidate's compiled part is compiled.
    """

    def __init__(self, campaign: Campaign, watch: Watch, folder: Path) -> None:
        plan, ref = campaign.plan, campaign.pair.candidate
        self._campaign, self._watch = campaign, watch
        self._shop = Workshop(ref, folder) if ref.build else None
        self._harness = Harness(Settings(episodes=plan.episodes))
        self._question = Question(plan.levels)
        self._references: dict[str, tuple[RememberingReference, Question]] = {}
        self._unchanged: Answers = {}

    def begin(self, elsewhere: bool) -> None:
        """Ask the candidate as it is in the first variant. UserError if it fails.

        elsewhere: whether the other variants are asked, of which each is when it is needed.
        """
        if self._shop is not None:
            self._watch.begins(0, "the build", 10 * LIMIT)
            self._shop.build(None)
        if not elsewhere:
            self._prepared(self._campaign.pair)

    def row(self, mutant: Mutant, settled: Settled, elsewhere: bool) -> dict[str, Any]:
        """Return what becomes of a mutant, as plain JSON values.

        It is asked in the first variant, or elsewhere: in the other variants, and in candidates of
        the same files, in turn, until a level notices. settled: by variant and level, what is not
        to be asked. UserError if the candidate fails without it.
        """
        campaign, begun = self._campaign, time.perf_counter()
        if self._shop is not None:
            self._watch.variant = campaign.name_of(campaign.pair)
            self._watch.begins(0, "the build", 10 * LIMIT)
            try:
                self._shop.build(mutant)
            except UserError as error:
                kill = Kill(1, "the build", "build", _compilers_word(str(error)))
                return _row(campaign, mutant, "", Verdict({1: kill}, {1: 0.0}))
        built = round(time.perf_counter() - begun, 3)
        variant, verdict = "", Verdict({}, {})
        for pair in campaign.pairs[1:] if elsewhere else campaign.pairs[:1]:
            variant, verdict = self._asked(pair, mutant, settled, elsewhere)
            if verdict.kills:
                break
        row = _row(campaign, mutant, variant, verdict)
        first = campaign.pair
        room = tolerant(first.subject.contract, first.candidate.name)
        if row["class"] == "survivor" and room and not elsewhere:
            row["effect"] = self._effect(mutant)
        return row | ({"compiling": built} if self._shop is not None else {})

    def _asked(
        self, pair: Pair, mutant: Mutant, settled: Settled, elsewhere: bool
    ) -> tuple[str, Verdict]:
        """Return a variant's name and what its levels make of a mutant."""
        reference, question = self._prepared(pair)
        full = mutant.id in self._campaign.full and not elsewhere
        variant = self._campaign.name_of(pair)
        known = {level: kill for (name, level), kill in settled.items() if name == variant}
        asked = replace(question, every=full, locate=full, settled=known)
        self._watch.variant, self._watch.path = variant, mutant.path
        verdict = self._judged(reference, pair, mutant, asked)
        self._watch.learn(verdict)
        return variant, verdict

    def _effect(self, mutant: Mutant) -> dict[str, Any]:
        """Return what a bug that nothing notices changes in the first variant."""
        pair = self._campaign.pair
        reference, _ = self._prepared(pair)
        # Of a compiled candidate this process has the one that is installed.
        unchanged = self._unchanged = self._unchanged or answers(reference, pair, None)

        def measured(watch: Watch) -> dict[str, Any]:
            return effect(unchanged, answers(reference, pair, mutant))

        if self._shop is None:
            return measured(self._watch)
        return in_a_copy(measured, self._watch, self._shop)

    def _judged(
        self, reference: RememberingReference, pair: Pair, mutant: Mutant | None, question: Question
    ) -> Verdict:
        if self._shop is None:
            return judge(reference, pair, mutant, question, self._watch)

        def ask(question: Question, watch: Watch) -> Verdict:
            return judge(reference, pair, mutant, question, watch)

        return judged(ask, question, self._watch, self._shop)

    def _prepared(self, pair: Pair) -> tuple[RememberingReference, Question]:
        if pair.label not in self._references:
            made = RememberingReference(self._harness, pair.subject)
            self._watch.variant = None
            patient = dict.fromkeys(self._question.levels, 10 * LIMIT)
            question = replace(self._question, limits=patient, shipped=self._shop is None)
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
            self._references[pair.label] = made, replace(self._question, limits=limits)
        return self._references[pair.label]

    def close(self) -> None:
        """End the oracles' processes."""
        for reference, _ in self._references.values():
            reference.close()
        self._harness.close()


def _row(campaign: Campaign, mutant: Mutant, variant: str, verdict: Verdict) -> dict[str, Any]:
    pair, known = campaign.pair, campaign.equivalent
    kills = {
        str(level): {"check": kill.check, "how": kill.how, "detail": kill.detail}
        for level, kill in sorted(verdict.kills.items())
    }
    row: dict[str, Any] = {
        "id": mutant.id,
        "path": mutant.path,
        "line": mutant.line,
        "symbol": mutant.symbol,
        "operator": mutant.operator,
        "what": mutant.what,
        "variant": variant,
        "class": class_of(verdict, mutant.id in known),
        "first": verdict.first,
        "full": mutant.id in campaign.full,
        "kills": kills,
        "seconds": {str(level): taken for level, taken in verdict.seconds.items()},
    }
    if mutant.id in known:
        row["reason"] = known[mutant.id]
    if row["class"] in ("survivor", "equivalent"):
        row["diff"] = diff_of(mutant, pair.candidate)
    if verdict.suspect:
        row["suspect"] = verdict.suspect
        row["located"] = located(pair, mutant, verdict.suspect)
    return row


def _compilers_word(text: str) -> str:
    """Return the first line of what a compiler says that names an error."""
    lines = [line for line in text.splitlines() if line.startswith("error")]
    return (lines or text.splitlines()[-1:])[0][:200]


def class_of(verdict: Verdict, equivalent: bool) -> str:
    """Return killed, build, survivor, equivalent; `refuted`: called equivalent, and killed."""
    if equivalent:
        return "refuted" if verdict.kills else "equivalent"
    if not verdict.kills:
        return "survivor"
    return "killed" if verdict.built else "build"


def located(pair: Pair, mutant: Mutant, suspect: str) -> str:
    """Return where a report's first suspect lies, seen from the bug.

    `function`, `file` or `elsewhere`; `shared` if no module's source is in the bug's file: no
    suspect could name it.
    """
    sources = {m: place.partition(":")[::2] for m, place in pair.candidate.sources.items()}
    if mutant.path not in {path for path, _ in sources.values()}:
        return "shared"
    path, symbol = sources.get(suspect, ("", ""))
    if path != mutant.path:
        return "elsewhere"
    return "function" if symbol == mutant.symbol else "file"


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
