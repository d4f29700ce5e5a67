"""A candidate beside its reference: what a test asks, and how it fails."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from twinstep._lib.memory import keep_freed_memory
from twinstep.compare.arrays import Rules, frames_differ
from twinstep.compare.lockstep import FirstDifference, Outcome, check_alone, check_episodes
from twinstep.compare.rounding import (
    is_rounding,
    largest_differences,
    relaxed,
    tolerances,
    tolerant,
)
from twinstep.contract import Contract
from twinstep.diagnosis import report
from twinstep.diagnosis.case import Answer, Case, ask
from twinstep.diagnosis.diagnose import Suspect, bare, diagnose, shrink_episode
from twinstep.diagnosis.report import Context
from twinstep.diagnosis.two_answers import first_values, largest_error
from twinstep.environment import Variant
from twinstep.errors import CandidateBroken
from twinstep.frames import Start
from twinstep.gates import Lockstep
from twinstep.project.registry import EnvVariant, Pair
from twinstep.reference.cache import TraceSet, key_of
from twinstep.reference.process import OracleProcess
from twinstep.reference.trace_set import COUNTS
from twinstep.runner.runner import Runner
from twinstep.testing.settings import NeedsInProcessCandidate

if TYPE_CHECKING:
    from twinstep.env.make import Env
    from twinstep.env.remote import RemoteEnv
    from twinstep.testing.reference import Reference


class Divergence(AssertionError):
    """The candidate differs from the oracle; `record` is the report."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__(report.headline(record))
        self.record = record


class Lab:
    """A candidate beside its reference."""

    def __init__(self, pair: Pair, reference: Reference) -> None:
        self.pair = pair
        self.reference = reference
        self.contract: Contract = reference.contract
        self._runner: Runner | None = None
        self._broken: Exception | None = None
        self.test = ""
        self.level = 0
        self.driver = ""
        self.notes: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self._envs: dict[str, Env] = {}
        self._apart: dict[str, RemoteEnv] = {}

    @property
    def oracle(self) -> OracleProcess:
        """The reference's oracle."""
        return self.reference.oracle

    @property
    def runner(self) -> Runner:
        """The candidate, built at its first use.

        One that cannot be built is not tried again: each try may last until its time limit.
        """
        if self._broken is not None:
            raise self._broken.with_traceback(None)
        if self._runner is None:
            keep_freed_memory()
            isolated = self.reference.harness.settings.isolate
            try:
                self._runner = Runner.isolated(self.pair) if isolated else Runner.of(self.pair)
            except Exception as error:
                self._broken = error
                raise
        return self._runner

    def at(self, name: str, params: Mapping[str, Any]) -> Lab:
        """Return the lab of the same candidate and test in a variant that is not declared.

        name: of the variant, in reports. params: all of its parameters.
        """
        subject = EnvVariant(self.pair.subject.env, Variant(name, params))
        made = self.reference.harness.lab(Pair(subject, self.pair.candidate))
        made.test, made.level = self.test, self.level
        return made

    def rest(self) -> None:
        """Drop the candidate; the next question builds it anew."""
        self._runner = None
        self._envs.clear()
        self._apart.clear()

    @property
    def built(self) -> Runner | None:
        """The candidate if it has been built, without building it."""
        return self._runner

    def env(self, auto_reset: str) -> Env:
        """Return the candidate as `twinstep.make` ships it, built and compiled once.

        Raises NeedsInProcessCandidate where the run keeps candidates apart.
        """
        from twinstep.env.make import Env  # imports JAX

        if self.reference.harness.settings.isolate:
            raise NeedsInProcessCandidate(
                "an adapter runs in the process that compares: without --isolate"
            )
        if auto_reset not in self._envs:
            self._envs[auto_reset] = Env(self.pair.subject, self.pair.candidate.name, auto_reset)
        return self._envs[auto_reset]

    def shipped(self, auto_reset: str) -> Env | RemoteEnv:
        """Return the candidate as it ships, in a process of its own where the run asks for that."""
        from twinstep.env.remote import RemoteEnv  # imports JAX

        if not self.reference.harness.settings.isolate:
            return self.env(auto_reset)
        if auto_reset not in self._apart:
            self._apart[auto_reset] = RemoteEnv(self.pair, auto_reset)
        return self._apart[auto_reset]

    @property
    def rules(self) -> Rules:
        """The gates that hold for this candidate in this run."""
        runner = self.runner
        rules = Rules.of(
            self.contract,
            candidate=self.pair.candidate.name,
            dtype=runner.dtype,
            platform=runner.platform,
        )
        tolerance = self.reference.harness.settings.tolerance
        return rules if tolerance is None else tolerant(rules, self.contract, *tolerance)

    def traces(self, driver: str, episodes: int = 0) -> TraceSet:
        """Return recorded episodes of a driver and note what they cover."""
        held = self.reference.traces(driver, episodes, self.pair)
        self.note_coverage(driver, held)
        return held

    def note_coverage(self, driver: str, held: TraceSet) -> None:
        """Note what a driver's episodes cover, for the verdict."""
        self.driver = driver
        self.notes["idle"] = self.reference.idle_actions(held)
        self.notes["ranges"], lengths = self.reference.reached(held)
        self.notes["coverage"] = {
            "driver": driver,
            **{name: held.total(name) for name in COUNTS},
            "lengths": lengths,
            "key": key_of(held.manifest["material"]),
            "events": held.events(),
            "measures": held.measures(),
        }

    def further(self, driver: str) -> Iterator[TraceSet]:
        """Yield further episodes of a driver for its share of the run's minutes, more each time.

        What they cover is added to the notes. Recording and comparing count.
        """
        settings = self.reference.harness.settings
        known = count = settings.episodes
        end = time.monotonic() + 60 * settings.minutes / len(self.contract.drivers)
        while (began := time.monotonic()) < end and count:
            held = self.reference.traces(driver, count, self.pair, first=known)
            seen = self.notes["coverage"]
            for name in COUNTS:
                seen[name] += held.total(name)
            for name, times in held.events().items():
                seen["events"][name] += times
            yield held
            now = time.monotonic()
            known += count
            # Twice as many, or as many as there is time for.
            count = min(2 * count, int(count * (end - now) / (now - began)))

    def require_lockstep(self, traces: TraceSet) -> None:
        """Replay every recorded episode; fail with a report of the shortest case that differs.

        Where some episodes begin with a difference of rounding's size, a larger one comes first.
        """
        runner, rules = self.runner, self.rules
        try:
            outcome = check_episodes(runner, traces, rules.lockstep())
        except CandidateBroken as error:
            self._require_no_exception(traces, error)
            raise
        if all(not is_rounding(self.contract, d.miss.paths) for d in outcome.divergences):
            return self.require_equal(outcome)
        allowed = tolerances(self.contract, traces, runner.dtype)
        wide = relaxed(rules, allowed)
        beyond = check_episodes(runner, traces, wide.lockstep())
        at_once = {(d.episode, d.miss.step) for d in beyond.divergences}
        rounded = [d for d in outcome.divergences if (d.episode, d.miss.step) not in at_once]
        if not rounded:
            return self.require_equal(outcome)
        table = tuple(largest_differences(runner, traces, rules))
        if not beyond.divergences:
            more = {"largest": table, "rounding": True, "note": _ROUNDING}
            return self._require(outcome, outcome.shortest, rules, **more)
        # Under the wide rules, lest shrinking ends in a difference of rounding.
        note = (
            f"{len(rounded)} of them begin with a difference of rounding's size. This is the "
            f"shortest case of a larger one; {len(beyond.divergences)} have one."
        )
        more = {"largest": table, "relaxed": tuple(sorted(allowed.items())), "note": note}
        return self._require(outcome, beyond.shortest, wide, **more)

    def _require_no_exception(self, traces: TraceSet, error: CandidateBroken) -> None:
        """Fail with a report where a candidate's step raises in an episode of its own.

        A program of JAX raises while it is compiled, for every episode: the error says it all.
        """
        if error.raised and not hasattr(self.runner.candidate, "pure"):
            self.reference.harness.settings.progress(f"playing {self.pair.label} alone")
            self.require_equal(check_alone(self.runner, traces, self.rules.lockstep()))

    def require_equal(self, outcome: Outcome) -> None:
        """Fail with a report of the shortest divergence, if there is one.

        An episode is shrunk first, unless the traces were imported: that asks the oracle.
        """
        if outcome.divergences:
            self._require(outcome, outcome.shortest, self.rules)

    def _require(self, outcome: Outcome, found: FirstDifference, rules: Rules, **more: Any) -> None:
        clusters = Counter(d.miss.paths for d in outcome.divergences)
        context = self._context(
            counts=(
                ("diverging", len(outcome.divergences)),
                ("episodes", outcome.episodes),
                ("steps", outcome.steps),
            ),
            clusters=tuple(sorted(clusters.items(), key=lambda c: (-c[1], c[0]))),
            **more,
        )
        if self.reference.harness.imported:
            raise Divergence(self._bare(context, found))
        if found.kind != "episode":
            case = Case(found.kind, found.start, found.actions, found.state)
            self._fail(case, context, rules)
        self.reference.harness.settings.progress(f"shrinking {self.pair.label}")
        case, small = shrink_episode(found, self.oracle, self.runner, rules)
        context = dataclasses.replace(context, shrunk_from=small.before, minimal=small.minimal)
        self._fail(case, context, rules)

    def fail_with_case(self, case: Case, note: str = "") -> None:
        """Always fail, with a report of this case, in which a check has found a difference."""
        self._fail(case, self._context(note=note, minimal=False), self.rules)

    def require_same(
        self,
        one: dict[str, np.ndarray],
        other: dict[str, np.ndarray],
        how: tuple[str, str],
        gates: dict[str, Lockstep] | None = None,
        first: int = 0,
    ) -> None:
        """Fail, with the first values that differ, if a candidate gives two answers to one input.

        one, other: frame path -> [T, N, ...]. how: the two ways in which it was asked, in words.
        gates: exact for every path if None. first: the step of row 0; 0 is the reset.
        """
        gates = gates or dict.fromkeys(one, Lockstep())
        if found := frames_differ(one, other, gates):
            said = first_values(self.contract, one, other, gates, found, how, first)
            self.fail(f"How the candidate is called matters: {said}.")

    def require_same_play(
        self, one: dict[str, np.ndarray], other: dict[str, np.ndarray], how: tuple[str, str]
    ) -> None:
        """Fail as `require_same` does, unless each lane parts within its gates of one step.

        Programs for other batch sizes round otherwise, and an episode goes on from that: of each
        lane the first step that differs is compared. The verdict then has a line that says so.
        one, other: frame path -> [T, N, ...], from the reset on.
        """
        exact = dict.fromkeys(one, Lockstep())
        found = frames_differ(one, other, exact)
        if not found:
            return
        wrong = np.logical_or.reduce(list(found.values()))
        first = (np.cumsum(wrong, 0) == 1) & wrong
        gates = exact | {path: gate for path, gate in self.rules.one_step().items() if path in one}
        if any((rows & first).any() for rows in frames_differ(one, other, gates).values()):
            self.require_same(one, other, how)
        said = first_values(self.contract, one, other, exact, found, how)
        known = self.notes.get("lines", [])
        self.notes["lines"] = [*known, f"how it is called matters by rounding: {said}"]

    def fail(self, note: str, *suspects: Suspect) -> None:
        """Fail with a report that has no case: a sentence says what is wrong.

        note: its further lines follow the sentence in the report.
        """
        case = Case("episode", _no_start(), np.zeros((0,), np.int32))
        found = dataclasses.replace(bare(case, _silent()), suspects=suspects)
        context = self._context(note=note, minimal=False)
        raise Divergence(report.build(self.pair, found, context))

    def _fail(self, case: Case, context: Context, rules: Rules) -> None:
        found = diagnose(case, self.oracle, self.runner, rules)
        if found.answer.agrees:
            begin = context.note.replace("; the first:", ".")
            note = " ".join(filter(None, (begin, self._why_not_again(case, rules))))
            context = dataclasses.replace(context, shrunk_from=0, minimal=False, note=note)
            raise Divergence(self._record(case, found.answer, context))
        raise Divergence(report.build(self.pair, found, context))

    def _why_not_again(self, case: Case, rules: Rules) -> str:
        """Say why a case that differed among others may agree when it is asked alone."""
        answer = ask(case, self.oracle, self.runner, rules.narrowed(0.5))
        if answer.agrees:
            return (
                "It did not happen again when asked alone: the candidate's answer depends on "
                "the lanes beside it, or on what it was asked before."
            )
        return f"Asked alone it agrees, near its gate's edge: {largest_error(answer)}."

    def _record(self, case: Case, answer: Answer, context: Context) -> dict[str, Any]:
        return report.build(self.pair, bare(case, answer), context)

    def _bare(self, context: Context, worst: Any) -> dict[str, Any]:
        note = (
            f"First at step {worst.miss.step} in {', '.join(worst.miss.paths)}. Traces were "
            "imported: shrinking and the module's name need the oracle."
        )
        note = " ".join(filter(None, (context.note, note)))
        case = Case(worst.kind, worst.start, worst.actions, worst.state)
        context = dataclasses.replace(context, note=note, minimal=False)
        return self._record(case, _silent(), context)

    def _context(self, **more: Any) -> Context:
        tolerance = self.reference.harness.settings.tolerance
        return Context(self.level, self.test, self.driver, tolerance=tolerance, **more)


_ROUNDING = "Every difference is of rounding's size."


def _silent() -> Answer:
    return Answer(-1, (), {}, {}, {}, {}, np.zeros((0,), np.int32))


def _no_start() -> Any:
    return Start(np.zeros(2, np.uint32), {})
