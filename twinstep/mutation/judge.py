"""Run the suite's own checks on a mutant, level by level.

The bodies of the shipped tests are called in this process on a lab that stops at the first
difference. Nothing is shrunk or explained unless the question asks for a suspect.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from twinstep.compare.lockstep import Outcome, check_episodes
from twinstep.diagnosis.case import Case
from twinstep.diagnosis.diagnose import Suspect
from twinstep.errors import CandidateBroken, OracleFailed
from twinstep.mutation.cached_oracle import RememberingReference
from twinstep.mutation.check_order import Watch
from twinstep.mutation.planting import planted
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.suite_checks import checks
from twinstep.mutation.verdict import Judgement, Kill
from twinstep.project.registry import Pair
from twinstep.reference.trace_set import TraceSet
from twinstep.runner.runner import broken_by
from twinstep.testing.lab import Divergence, Lab

LEVELS = (1, 2, 3)
#: Processor seconds that one level of one mutant may take, its compilation included: load on the
#: machine is no verdict on a mutant.
LIMIT = 120.0
#: Ways a check notices: the answers differ; an answer breaks the contract; the code cannot be
#: imported, built or traced; the time is over; the process ended.
HOW = ("difference", "contract", "build", "time", "crash")


class MutantNoticed(Exception):  # noqa: N818 - the wanted outcome of a check
    """A check noticed the mutant. outcome: of whole episodes, None for other checks."""

    def __init__(self, text: str, outcome: Outcome | None = None) -> None:
        super().__init__(text)
        self.outcome = outcome


class QuickLab(Lab):
    """A lab whose checks stop at the first difference."""

    def require_lockstep(self, traces: TraceSet) -> None:
        """Raise MutantNoticed if any recorded episode diverges."""
        self.require_equal(check_episodes(self.runner, traces, self.rules.lockstep()))

    def require_equal(self, outcome: Outcome) -> None:
        """Raise MutantNoticed if any episode diverged."""
        if outcome.divergences:
            miss = outcome.shortest.miss
            raise MutantNoticed(f"{', '.join(miss.paths)} at step {miss.step}", outcome)

    def fail_with_case(self, case: Case, note: str = "") -> None:
        """Raise MutantNoticed: this case differs."""
        raise MutantNoticed(note or case.kind)

    def fail(self, note: str, *suspects: Suspect) -> None:
        """Raise MutantNoticed with a sentence on the problem."""
        raise MutantNoticed(note)


@dataclass(frozen=True)
class Question:
    """The checks to run on a mutant.

    levels: in this order. every: True to run each level whatever the others find; False to stop at
    the first that notices. locate: find level 3's first suspect, which takes shrinking. limits:
    processor seconds by level (0: the suspect); LIMIT where missing. settled: known kills by level;
    such a level is skipped (0: no suspect can be found). shipped: True to check a compiled
    candidate as it ships, too, which starts JAX's threads.
    """

    levels: tuple[int, ...] = LEVELS
    every: bool = True
    locate: bool = False
    limits: Mapping[int, float] = field(default_factory=dict)
    settled: Mapping[int, Kill] = field(default_factory=dict)
    shipped: bool = True

    def limit(self, level: int) -> float:
        """Return the limit of a level in processor seconds."""
        return self.limits.get(level, LIMIT)


def judge(
    reference: RememberingReference,
    pair: Pair,
    mutant: Mutant | None,
    question: Question,
    watch: Watch,
) -> Judgement:
    """Plant a mutant (None: the candidate as it is) and run the question's levels."""
    with planted(pair.candidate, mutant):
        return run_levels(QuickLab(pair, reference), question, watch)


def run_levels(lab: QuickLab, question: Question, watch: Watch) -> Judgement:
    """Run the question's levels in a lab."""
    kills: dict[int, Kill] = {}
    seconds: dict[int, float] = {}
    spent: dict[tuple[int, str], float] = {}
    suspect = ""
    for level in question.levels:
        begin = time.process_time()
        outcome, kill = None, question.settled.get(level)
        if kill is None:
            kill, outcome = _ask(lab, level, question, watch, spent)
        seconds[level] = round(time.process_time() - begin, 3)
        if kill is not None:
            kills[level] = kill
        if outcome is not None and question.locate and 0 not in question.settled:
            watch.begins(0, "", question.limit(0))
            suspect = _suspect(lab, outcome, question.limit(0))
        if kills and not question.every:
            break
    return Judgement(kills, seconds, suspect, spent)


def _ask(
    lab: QuickLab,
    level: int,
    question: Question,
    watch: Watch,
    spent: dict[tuple[int, str], float],
) -> tuple[Kill | None, Outcome | None]:
    """Run a level's checks up to the first that fails. spent: receives the seconds of each."""
    name, clock, limit = "", _Clock(), question.limit(level)
    ordered = list(checks(lab, level, question.shipped))
    # If level 3 has to locate, checks that find a single case, and so a suspect, come first.
    if not (question.locate and level == 3):
        ordered.sort(key=lambda one: -watch.worth(level, one[0]))
    try:
        with clock.running(limit):
            for name, check in ordered:
                watch.begins(level, name, limit)
                lab.test, lab.level, lab.driver, lab.notes = name, level, "", {}
                with _timed(spent, (level, name)), contextlib.suppress(pytest.skip.Exception):
                    check()
        return None, None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a Rust panic is no Exception
        if clock.over:
            lab.oracle.close()  # it may have been in the middle of an answer
            return Kill(level, name, "time", f"not done after {limit:g} s of processor time"), None
        candidate = lab.pair.candidate
        broken = broken_by(candidate, error, ran_before=True)
        how, text = _reading(broken or error, bool(candidate.build))
        return Kill(level, name, how, text), getattr(error, "outcome", None)


@contextlib.contextmanager
def _timed(spent: dict[tuple[int, str], float], key: tuple[int, str]) -> Iterator[None]:
    begin = time.process_time()
    try:
        yield
    finally:
        spent[key] = time.process_time() - begin


def _reading(error: BaseException, compiled: bool) -> tuple[str, str]:
    """Return how a check noticed, and one line; re-raise an error that is no verdict on a mutant.

    compiled: True if the candidate was built before it ran, so that its exceptions are crashes.
    """
    text = (str(error).strip() or type(error).__name__).partition("\n")[0][:200]
    if isinstance(error, CandidateBroken):
        raised = "crash" if compiled else "build"
        return (raised if error.detail else "contract"), text
    # A plain assertion is a check's own; an oracle fails on a state that a mutant handed to it.
    if isinstance(error, MutantNoticed | AssertionError | OracleFailed):
        return "difference", text
    raise error


def _suspect(lab: QuickLab, outcome: Outcome, limit: float) -> str:
    """Return the first suspect of a report of this outcome, "" if there is none."""
    clock = _Clock()
    try:
        with clock.running(limit):
            Lab.require_equal(lab, outcome)
    except Divergence as divergence:
        return next((s["module"] for s in divergence.record["suspects"]), "")
    except (CandidateBroken, OracleFailed, _OutOfTime):
        if clock.over:
            lab.oracle.close()
    return ""


class _OutOfTime(Exception):  # noqa: N818 - no error of the interrupted code
    """The time is over."""


class _Clock:
    """A limit of processor time. over: True once it was reached, even if the code caught it."""

    def __init__(self) -> None:
        self.over = False

    @contextlib.contextmanager
    def running(self, limit: float) -> Iterator[None]:
        """Raise _OutOfTime in this, the main, thread after `limit` processor seconds.

        An endless loop inside a compiled program is not interrupted: Python's signals wait for it.
        `workers` ends the process then.
        """

        def stop(number: int, frame: object) -> None:
            self.over = True
            raise _OutOfTime

        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
