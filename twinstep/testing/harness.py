"""What a test works with: the reference, the candidate, their traces, and how to fail.

`Harness` lives for one pytest process and shares what is costly: one oracle process per
subject, one compiled candidate per pair, one trace cache.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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
from twinstep.contract import Contract, Module
from twinstep.diagnosis import report
from twinstep.diagnosis.case import Answer, Case, ask
from twinstep.diagnosis.diagnose import bare, diagnose, shrink_episode
from twinstep.diagnosis.report import Context
from twinstep.diagnosis.two_answers import first_values, largest_error
from twinstep.env import host_engine, timestep
from twinstep.env.timestep import StartTable
from twinstep.environment import CandidateRef, Variant
from twinstep.errors import CandidateBroken
from twinstep.frames import Start
from twinstep.gates import Lockstep
from twinstep.inputs import batching
from twinstep.inputs.batching import autoreset_size, chunk_lanes
from twinstep.inputs.sampling import sample_actions, sample_module, sample_states
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.project.registry import EnvVariant, Pair
from twinstep.reference import answers, autoreset_recording
from twinstep.reference.actions_seen import actions_seen
from twinstep.reference.answers import FiledOracle
from twinstep.reference.cache import TraceCache, TraceSet, key_of, material, sources_of
from twinstep.reference.process import OracleProcess
from twinstep.reference.ranges_seen import Ranges, ranges_seen
from twinstep.reference.trace_set import COUNTS
from twinstep.runner.runner import Runner

if TYPE_CHECKING:
    from twinstep.env.make import Env


#: Bytes of one recording that are kept in memory between tests.
_KEPT = 64 << 20


class Divergence(AssertionError):
    """The candidate differs from the oracle; `record` is the report."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__(report.headline(record))
        self.record = record


class NeedsInProcessCandidate(Exception):
    """A test needs the candidate in its own process, and the run keeps it apart."""


class NeedsOracle(Exception):
    """A test needs the oracle, and only traces are at hand."""


@dataclass(frozen=True)
class RunSettings:
    """How a run was asked for.

    minutes: for which a candidate's drivers go on with further episodes. tolerance: (ABS, REL) that
    floats may be off beside their gates.
    """

    episodes: int = 100
    minutes: float = 0.0
    seeds: str = "public"
    full_budget: bool = False
    isolate: bool = False
    progress: Callable[[str], None] = lambda text: None
    tolerance: tuple[float, float] | None = None


@dataclass
class Harness:
    """Everything shared by the tests of one process.

    imported: trace sets read from an export, in place of the oracle.
    """

    settings: RunSettings
    imported: list[TraceSet] = field(default_factory=list)
    cache: TraceCache = field(default_factory=TraceCache)
    _references: dict[str, Reference] = field(default_factory=dict)
    _labs: dict[str, Lab] = field(default_factory=dict)

    def reference(self, subject: EnvVariant) -> Reference:
        """Return the subject's reference, made once."""
        if subject.label not in self._references:
            self._references[subject.label] = Reference(self, subject)
        return self._references[subject.label]

    def lab(self, pair: Pair) -> Lab:
        """Return the pair's lab, made once."""
        if pair.label not in self._labs:
            self._labs[pair.label] = Lab(pair, self.reference(pair.subject))
        return self._labs[pair.label]

    def rest(self, subject: EnvVariant | None) -> None:
        """Drop what takes memory and is no longer asked; the next question begins it anew.

        subject: the variant that is asked next, whose oracle goes on; None for none.
        """
        for lab in self._labs.values():
            lab.rest()
        for reference in self._references.values():
            if reference.subject is not subject:
                reference.rest()

    def close(self) -> None:
        """End all oracle processes and remove what was temporary."""
        for reference in self._references.values():
            reference.close()
        self.cache.close()
        answers.evict()


class Reference:
    """A subject's oracle and its traces. The oracle's process starts at its first question."""

    def __init__(self, harness: Harness, subject: EnvVariant) -> None:
        self.harness = harness
        self.subject = subject
        self.contract: Contract = subject.contract
        self._oracle: OracleProcess | None = None
        self._crashes: list[str] = []
        self._sets: dict[tuple[str, str, int], TraceSet] = {}
        self._recordings: dict[str, autoreset_recording.Recording] = {}
        self._placed: dict[tuple[int, str], dict[str, np.ndarray]] = {}
        self._idle: dict[str, dict[str, list[int]] | None] = {}
        self._reached: dict[str, tuple[Ranges, list[float]]] = {}

    @property
    def oracle(self) -> OracleProcess:
        """The oracle. Raises NeedsOracle when the run works from exported traces."""
        if self.harness.imported:
            raise NeedsOracle("this test asks the oracle; the run has only exported traces")
        if self._oracle is None:
            self._oracle = FiledOracle(self.subject)
        return self._oracle

    @property
    def crashes(self) -> list[str]:
        """The oracle's crashes that did not repeat, a line each."""
        return self._crashes + (self._oracle.crashes if self._oracle else [])

    def rng(self, *parts: object) -> np.random.Generator:
        """Return the generator for a test's own draws: the same in every run."""
        words = "/".join([self.subject.label, *map(str, parts)]).encode()
        return np.random.default_rng(list(words))

    def module_inputs(
        self, module: Module, count: int, *parts: object, dtype: str = "float64"
    ) -> dict[str, np.ndarray]:
        """Draw inputs [count, ...] of a module's level 1 domain.

        parts: as of `rng`. dtype: what the candidate computes in; what the reference places is
        no nearer to an edge than that resolves.
        """
        rng = self.rng(*parts)
        drawn = sample_module(module, count, rng)
        placed = self._places(count, dtype)
        # A placed action has an axis of players, a module's input has none.
        return {n: placed[n].reshape(v.shape) if n in placed else v for n, v in drawn.items()}

    def states(
        self, count: int, *parts: object, dtype: str = "float64"
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw placed states [count, ...] and an action [count, P, ...] for each.

        parts and dtype: as of `module_inputs`.
        """
        rng = self.rng(*parts)
        drawn = sample_states(self.contract, count, rng)
        actions = sample_actions(self.contract, count, rng)
        placed = self._places(count, dtype)
        return {n: placed.get(n, v) for n, v in drawn.items()}, placed.get("action", actions)

    def _places(self, count: int, dtype: str) -> dict[str, np.ndarray]:
        """Return what the reference places, {} if it cannot; the same for all tests."""
        key = count, dtype
        if key not in self._placed:
            offered = self.oracle.offers("places")
            seed = int(self.rng("places").integers(2**31))
            self._placed[key] = self.oracle.places(count, seed, dtype) if offered else {}
        return self._placed[key]

    def traces(
        self, driver: str, episodes: int = 0, pair: Pair | None = None, first: int = 0
    ) -> TraceSet:
        """Return recorded episodes of a driver: imported, cached, or recorded now.

        pair: whose run it is. Without one the seeds are the public ones, whatever was asked for.
        first: the number of the first seed.
        """
        settings = self.harness.settings
        count = episodes or settings.episodes
        # What asks the oracle alone, such as coverage, is a claim about the public seeds: no
        # candidate's edit could mend what other seeds do not reach.
        kind = settings.seeds if pair else "public"
        owner = pair.label if pair and kind == "tree" else kind
        known = self._sets.get((driver, owner, count)) if not first else None
        if known is None:
            asked = range(first, first + count)
            known = self._find(driver, asked, kind, pair.candidate if pair else None)
            if not first:
                self._sets[driver, owner, count] = known
        return known

    def _find(
        self, driver: str, asked: range, kind: str, candidate: CandidateRef | None
    ) -> TraceSet:
        if self.harness.imported:
            return self._imported(driver)
        drawn = seeds(kind, asked.stop, self.subject.env.name, candidate)[asked.start :]
        return self.recorded(driver, starts_of(self.contract, drawn), self.contract.horizon)

    def recorded(self, driver: str, starts: Start, horizon: int) -> TraceSet:
        """Return the episodes of these starts, of at most `horizon` steps: cached, or recorded now.

        Raises NeedsOracle where only exported traces are at hand.
        """
        if self.harness.imported:
            raise NeedsOracle("exported traces have the episodes they have")
        settings, contract = self.harness.settings, self.contract
        path, count = self.subject.driver(driver), len(np.asarray(starts.seed))

        def record(folder: str) -> list[dict[str, Any]]:
            settings.progress(f"recording {count} episodes of {self.subject.label}-{driver}")
            return self.oracle.record(path, starts, horizon, chunk_lanes(contract), folder)

        reduce = [{"name": m.name, "reduce": m.reduce} for m in contract.measures]
        parts = material(self.subject, driver, starts, horizon)
        return self.harness.cache.get(parts, record, reduce)

    def idle_actions(self, traces: TraceSet) -> dict[str, list[int]] | None:
        """Return which actions were never `legal`, and which of the others never `taken`.

        None where actions are real numbers.
        """
        key = key_of(traces.manifest["material"])
        if key not in self._idle:
            seen = actions_seen(self.contract, traces)
            self._idle[key] = seen and {
                "legal": np.flatnonzero(~seen.legal).tolist(),
                "taken": np.flatnonzero(seen.legal & ~seen.taken).tolist(),
            }
        return self._idle[key]

    def reached(self, traces: TraceSet) -> tuple[Ranges, list[float]]:
        """Return the ranges of the state that episodes reach, and their lengths.

        Lengths are the least, the median and the largest number of steps.
        """
        key = key_of(traces.manifest["material"])
        if key not in self._reached:
            self._reached[key] = ranges_seen(self.contract, traces)
        return self._reached[key]

    def autoreset_traces(self, driver: str) -> TraceSet:
        """Return lanes recorded under same-step auto-reset: cached, or recorded now."""
        size = autoreset_size(self.contract)
        known = self._sets.get((driver, "shipped", size.steps))
        if known is not None:
            return known
        settings, contract = self.harness.settings, self.contract
        begin = seeds("public", size.lanes, self.subject.env.name)
        path = self.subject.driver(driver)

        def record(folder: str) -> list[dict[str, Any]]:
            settings.progress(f"recording {self.subject.label}-{driver} under auto-reset")
            return self.oracle.record_shipped(path, begin, folder)

        starts = StartTable(contract).of(begin)
        parts = material(self.subject, driver, starts, size.steps)
        made_by = (autoreset_recording, host_engine, timestep, batching)
        parts["shipped"] = sources_of(*made_by)
        held = self._sets[driver, "shipped", size.steps] = self.harness.cache.get(parts, record, [])
        return held

    def autoreset_steps(self, driver: str) -> autoreset_recording.Recording:
        """Return the steps of `autoreset_traces` in memory; small ones are kept there."""
        known = self._recordings.get(driver)
        if known is None:
            known = autoreset_recording.read_recording(self.autoreset_traces(driver))
            if known.nbytes <= _KEPT:
                self._recordings[driver] = known
        return known

    def _imported(self, driver: str) -> TraceSet:
        for held in self.harness.imported:
            parts = held.manifest["material"]
            same = parts["environment"] == self.subject.env.name
            if same and parts["driver"] == driver and parts["contract"] == self.contract.digest():
                return held
        raise NeedsOracle(f"the exported traces hold no {self.subject.label}-{driver}")

    def rest(self) -> None:
        """End the oracle's process and drop recordings; the next question begins them anew."""
        self._crashes = self.crashes
        self.close()
        self._oracle = None
        self._recordings.clear()

    def close(self) -> None:
        """End the oracle's process."""
        if self._oracle is not None:
            self._oracle.close()


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
                "what ships runs in the process that compares: without --isolate"
            )
        if auto_reset not in self._envs:
            self._envs[auto_reset] = Env(self.pair.subject, self.pair.candidate.name, auto_reset)
        return self._envs[auto_reset]

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

    def fail(self, note: str) -> None:
        """Fail with a report that has no case: a sentence says what is wrong."""
        case = Case("episode", _no_start(), np.zeros((0,), np.int32))
        raise Divergence(self._record(case, _silent(), self._context(note=note, minimal=False)))

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


def in_ci() -> bool:
    """Whether a missing oracle must be an error."""
    return os.environ.get("CI", "").lower() in ("true", "1")


__all__ = [
    "CandidateBroken",
    "Divergence",
    "Harness",
    "NeedsInProcessCandidate",
    "Lab",
    "NeedsOracle",
    "Reference",
    "RunSettings",
]
