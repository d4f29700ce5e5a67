"""Ask the suite's own checks whether they notice a mutant, level by level.

The bodies of the shipped tests are called in this process on a lab that stops at the first
difference: nothing is shrunk or explained unless that is asked for.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from twinstep.compare.lockstep import Outcome
from twinstep.diagnosis.case import Case
from twinstep.errors import CandidateBroken, OracleFailed
from twinstep.mutation.cached_oracle import RememberingReference
from twinstep.mutation.check_order import Watch
from twinstep.mutation.planting import planted
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.suite_checks import checks
from twinstep.mutation.verdict import Judgement, Kill
from twinstep.project.registry import Pair
from twinstep.runner.runner import broken_by
from twinstep.testing.harness import Divergence, Lab

LEVELS = (1, 2, 3)
#: Processor seconds that one level of one mutant may take, its compilation included: what else runs
#: on the machine is no verdict on a mutant.
LIMIT = 120.0
#: How a check notices: the answers differ; an answer breaks the contract; the code cannot be
#: imported, built or traced; the time is over; the process ended.
HOW = ("difference", "contract", "build", "time", "crash")


class MutantNoticed(Exception):  # noqa: N818 - it is what a check looks for
    """A check noticed the mutant. outcome: of whole episodes, None for other checks."""

    def __init__(self, text: str, outcome: Outcome | None = None) -> None:
        super().__init__(text)
        self.outcome = outcome


class QuickLab(Lab):
    """A lab whose checks stop at the first difference."""

    def require_equal(self, outcome: Outcome) -> None:
        """Raise Found if any episode diverged."""
        if outcome.divergences:
            miss = outcome.shortest.miss
            raise MutantNoticed(f"{', '.join(miss.paths)} at step {miss.step}", outcome)

    def require_agreement(self, case: Case, note: str = "") -> None:
        """Raise Found: this case differs."""
        raise MutantNoticed(note or case.kind)

    def fail(self, note: str) -> None:
        """Raise Found with the sentence that says what is wrong."""
        raise MutantNoticed(note)


@dataclass(frozen=True)
class Question:
    """What is asked of a mutant.

    levels: in this order. every: whether each is asked whatever another said; else the first that
    notices is the last. locate: ask for level 3's first suspect, which takes shrinking. limits:
    processor seconds by level, 0 for the suspect, LIMIT where it says nothing. settled: what is
    known of a level, which is then not asked; of level 0, the suspect, that it cannot be. shipped:
    whether a compiled candidate is asked as it ships, too, which begins JAX's threads.
    """

    levels: tuple[int, ...] = LEVELS
    every: bool = True
    locate: bool = False
    limits: Mapping[int, float] = field(default_factory=dict)
    settled: Mapping[int, Kill] = field(default_factory=dict)
    shipped: bool = True

    def limit(self, level: int) -> float:
        """Return how many processor seconds a level may take."""
        return self.limits.get(level, LIMIT)


def judge(
    reference: RememberingReference,
    pair: Pair,
    mutant: Mutant | None,
    question: Question,
    watch: Watch,
) -> Judgement:
    """Plant a mutant (None: the candidate as it is) and ask the levels that the question names."""
    with planted(pair.candidate, mutant):
        return asked(QuickLab(pair, reference), question, watch)


def asked(lab: QuickLab, question: Question, watch: Watch) -> Judgement:
    """Ask the levels that the question names."""
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
    """Run a level's checks up to the first that fails. spent: takes the seconds of each."""
    name, clock, limit = "", _Clock(), question.limit(level)
    found = list(checks(lab, level, question.shipped))
    # Where level 3 is to locate, those that find a single case, and so a suspect, come first.
    if not (question.locate and level == 3):
        found.sort(key=lambda one: -watch.worth(level, one[0]))
    try:
        with clock.running(limit):
            for name, check in found:
                watch.begins(level, name, limit)
                lab.test, lab.level, lab.driver, lab.notes = name, level, "", {}
                with _timed(spent, (level, name)), contextlib.suppress(pytest.skip.Exception):
                    check()
        return None, None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of Rust is no Exception
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
    """Return how a check noticed, and one line; raise again what is no verdict on a mutant.

    compiled: whether it runs because it could be built, so that what it raises is a crash.
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
    """Return the module that a report of this outcome names first, "" if it names none."""
    clock = _Clock()
    try:
        with clock.running(limit):
            Lab.require_equal(lab, outcome)
    except Divergence as found:
        return next((s["module"] for s in found.record["suspects"]), "")
    except (CandidateBroken, OracleFailed, _OutOfTime):
        if clock.over:
            lab.oracle.close()
    return ""


class _OutOfTime(Exception):  # noqa: N818 - no error of the code that it interrupts
    """The time is over."""


class _Clock:
    """A limit of processor time. over: whether it was reached, whoever caught the exception."""

    def __init__(self) -> None:
        self.over = False

    @contextlib.contextmanager
    def running(self, limit: float) -> Iterator[None]:
        """Raise _Over in this, the main, thread after `limit` processor seconds.

        A loop without end inside a compiled program is not interrupted: Python's signals wait
        for it. `workers` ends the process then.
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
