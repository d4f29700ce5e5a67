"""Algorithm 1: translate module by module, compose, whole episodes, transfer; repair on the way.

1. Each module in dependency order: prompt for it, run its level 1 tests, repair.
2. The whole at levels 1 and 2.
3. Whole episodes at level 3, with seeds that every edit re-rolls. The witness of each failure is
   kept as a regression before the next prompt. Then hidden seeds, and everyone's.
4. Policy transfer, if the contract requires it; a gap leads back to 1.
5. Speed, if requested. A change that is not proven again, or is not faster, is undone.
6. A user's own program, in a fresh process with new hidden seeds: a candidate that passed every
   check and differs there can tell a check from a user.

Every decision depends on the journal's entries alone, so that a killed run continues where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from twinstep.repair.attempt import Workbench
from twinstep.repair.checks import CheckResult, Checks
from twinstep.repair.journal import Journal
from twinstep.repair.prompting import PromptSource
from twinstep.repair.speedup import Stopwatch, speed_line
from twinstep.repair.verifier import Stage

#: The ends of a run: the command's exit codes.
VERIFIED, BUDGET, PERSON, BREACH = 0, 1, 2, 3
#: Number of tries with changes outside the agent's files that ends a run.
BREACHES = 2
#: The phase for speed.
SPEED = 5
#: Characters of a void check's message (a compiler's, for example) kept from an undone try.
_TROUBLE = 2000


@dataclass(frozen=True)
class Limits:
    """The budget of a run.

    tries: for each module in each phase, and for the whole in each. speed: tries for speed, 0 for
    none. iterations: tries in total. dollars: 0 for no limit. seconds: of agents and checks
    together, 0 for no limit.
    """

    tries: int = 5
    speed: int = 0
    iterations: int = 50
    dollars: float = 0.0
    seconds: float = 0.0


_HOLDOUT = Stage((3,), seeds="holdout")
#: Its verdict is the run's.
_ALL = Stage((1, 2, 3))
_SHIPPED = Stage((3,), seeds="shipped")
_TRANSFER = Stage((4,))


#: How the end of a run says that it asked less than a verdict needs.
_NO_EPISODE = "no episode was played"


def word_of_success(why: str) -> str:
    """Return what a run that ended with exit code 0 may call its candidate."""
    return "not verified" if why.startswith(_NO_EPISODE) else "verified"


class RunEnded(Exception):
    """The run is over. code: one of the exit codes; why: a sentence."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code, self.why = code, why


class Loop:
    """One run. phases: the active ones of the four. show: prints a line of progress."""

    def __init__(
        self,
        asking: PromptSource,
        bench: Workbench,
        checks: Checks,
        stopwatch: Stopwatch,
        journal: Journal,
        limits: Limits,
        phases: tuple[int, ...],
        show: Callable[[str], None],
    ) -> None:
        self._asking, self._bench, self._checks = asking, bench, checks
        self._stopwatch = stopwatch
        self._journal, self._limits, self._phases, self._show = journal, limits, phases, show
        self._commit = checks.base
        self._spent: Counter[tuple[int, str]] = Counter()
        self._tries: list[dict[str, Any]] = []
        self._kept: set[str] = set()
        self._last = ""
        self._history: list[str] = []

    @property
    def commit(self) -> str:
        """The newest commit of the branch."""
        return self._commit

    def run(self) -> RunEnded:
        """Run the phases; return the end of the run."""
        try:
            while True:
                if 1 in self._phases:
                    self._modules()
                if 2 in self._phases:
                    self._whole(2, Stage((1, 2)))
                if 3 in self._phases:
                    self._episodes()
                if 4 not in self._phases or self._transfers():
                    faster = self._faster()
                    self._require_shipped()
                    raise RunEnded(VERIFIED, f"{self._asked()} passed{faster}")
        except RunEnded as stop:
            entry = {"code": stop.code, "why": stop.why, "commit": self._commit}
            files = self._bench.commits.digest
            self._journal.done("end", lambda: {**entry, "files": files(self._commit)})
            return stop

    def _asked(self) -> str:
        """Return what a run's phases have asked: without phase 3 no episode was played."""
        if 3 in self._phases:
            return "every check"
        numbers = " and ".join(map(str, self._phases))
        return f"{_NO_EPISODE}, but every check of phase {numbers}"

    def _modules(self) -> None:
        """Phase 1: repair until level 1 passes as a whole."""
        stage = Stage((1,))
        check = self._check(stage)
        while not check.good:
            failing = self._failing(check)
            for name in failing:
                alone = Stage((1,), (name,))
                # Another module's repair may have fixed this one, too: check it again.
                again = name != failing[0] and self._asking.written(self._commit, name)
                self._mend(1, name, alone, self._check(alone) if again else check)
            if failing:
                check = self._check(stage)
            else:
                # A compile error, for example, fails no module's tests until it is fixed.
                check = self._mend(1, "", stage, check, self._failing)

    def _failing(self, check: CheckResult) -> list[str]:
        """Return the failing modules of a check, each after its dependencies."""
        return [name for name in self._asking.order() if check.failed_of(name)]

    def _whole(self, phase: int, stage: Stage) -> None:
        self._mend(phase, "", stage, self._check(stage))

    def _episodes(self) -> None:
        """Phase 3: tree seeds, then hidden seeds, then everyone's seeds, on one commit."""
        while True:
            self._whole(3, self._episodes_stage)
            commit = self._commit
            for stage in (_HOLDOUT, _ALL):
                check = self._check(stage)
                if not check.good:
                    self._try(3, self._asking.guilty(self._commit, check), check, stage)
                    break
            if commit == self._commit:
                return

    @property
    def _episodes_stage(self) -> Stage:
        levels = (1, 2, 3) if 2 in self._phases or 1 in self._phases else (3,)
        return Stage(levels, seeds="tree")

    def _transfers(self) -> bool:
        """Phase 4: return True if policies play alike. On a gap, prompt the agent once."""
        if not self._asking.transfers:
            return True
        check = self._check(_TRANSFER)
        if check.good:
            return True
        self._try(4, self._asking.guilty(self._commit, check), check, _TRANSFER)
        return False

    def _faster(self) -> str:
        """Phase 5: prompt for speed as often as the limits allow; return a summary.

        An exhausted budget is no failure in this phase: the candidate stays verified.
        """
        count, number = 0, 0
        proof = [_HOLDOUT, *([_TRANSFER] if 4 in self._phases and self._asking.transfers else [])]
        ended = ""
        for number in range(1, self._limits.speed + 1):
            before = self._commit
            try:
                self._require_budget(SPEED, "speed")
                self._ask(SPEED, "speed", lambda: self._asking.for_speed(self._history))
            except RunEnded as stop:
                if stop.code not in (BUDGET, PERSON):
                    raise
                number, ended = number - 1, f"; {stop.why}"
                break
            why = self._unproven([self._episodes_stage]) or self._slower(before)
            # Everyone's seeds come last: their verdict must be that of the newest commit.
            why = why or self._unproven([*proof, _ALL])
            if why:
                self._undo(why)
            count += not why
            self._history.append(f"Try {len(self._tries)}: {why or self._last}")
        if not self._limits.speed:
            return ""
        return f"; {count} of {number} changes for speed kept{ended}"

    def _require_shipped(self) -> None:
        """End the run if the candidate differs where nothing tells of a check."""
        if 3 in self._phases and self._asking.ships:
            check = self._check(_SHIPPED)
            if not check.good:
                why = f"every check passed, but not a user's own program: {check.summary}"
                if check.trouble:  # nobody knows whose fault it is
                    raise RunEnded(PERSON, why)
                raise RunEnded(BREACH, f"{why}; its report is in the run's folder `holdout`")

    def _unproven(self, stages: list[Stage]) -> str:
        """Return the message of the first stage that fails, "" if all pass."""
        for stage in stages:
            check = self._check(stage)
            if not check.good:
                text = self._checks.counts(check) if stage.hidden else self._checks.text(check, "")
                return f"{stage.name}: {check.summary}\n\n{text}"
        return ""

    def _slower(self, before: str) -> str:
        """Return the measurement if the newest commit is not faster than `before`, else ""."""
        if not self._journal.replaying:
            self._show("  speed ...")
        entry = self._journal.done("speed", lambda: self._stopwatch.compare(before, self._commit))
        line = speed_line(entry)
        self._show(f"  speed: {line}")
        if entry["kept"]:
            self._last = f"kept: {line}"
            return ""
        return f"not faster: {line}"

    def _mend(
        self,
        phase: int,
        module: str,
        stage: Stage,
        found: CheckResult,
        enough: Callable[[CheckResult], Sequence[str]] = lambda found: (),
    ) -> CheckResult:
        """Prompt until a stage passes; return its last check. A try that makes it worse is undone.

        enough: stop once this returns anything for a check.
        """
        while not found.good and not enough(found):
            self._try(phase, module or self._asking.guilty(self._commit, found), found, stage)
            newer = self._check(stage)
            if newer.worse_than(found):
                self._undo(f"it made things worse: {newer.summary}")
                if newer.trouble:
                    self._last += f"\n```\n{newer.trouble[:_TROUBLE]}\n```"
            else:
                found = newer
        return found

    def _undo(self, why: str) -> None:
        """Restore the files from before the last try. why: its first line is passed on."""
        number, commit = self._tries[-1]["number"], self._tries[-1]["base"]
        short = why.partition("\n")[0].rstrip(":")

        def restore() -> dict[str, Any]:
            made = self._bench.restore(self._commit, commit, f"undo {number}: {short}")
            return {"number": number, "commit": made, "why": short}

        self._commit = self._journal.done("undo", restore)["commit"]
        self._last = f"Try {number} was undone: {short}."
        self._show(f"  undone: {short}")

    def _check(self, stage: Stage) -> CheckResult:
        if not self._journal.replaying:
            self._show(f"  {stage.name} ...")
        entry = self._journal.done("check", lambda: self._checks.run(self._commit, stage))
        check = self._checks.found(entry)
        self._show(f"  {stage.name}: {check.summary}")
        return check

    def _try(self, phase: int, module: str, found: CheckResult, stage: Stage) -> None:
        """Prompt the agent once to fix a check's findings."""
        self._require_budget(phase, module)
        if phase >= 3:
            self._keep(found)

        def prompt() -> str:
            said = self._checks.counts(found) if stage.hidden else self._checks.text(found, module)
            tries = self._spent[phase, module] - 1
            return self._asking.to_mend(self._commit, module, said, tries, self._last)

        self._ask(phase, module, prompt)

    def _ask(self, phase: int, module: str, prompted: Callable[[], str]) -> None:
        """Prompt the agent once. End the run if it must not be prompted again."""
        number = len(self._tries) + 1
        about = {"run": self._bench.run.name, "try": str(number), "phase": str(phase)}
        about |= {"module": module}
        prompt = prompted() if not self._journal.replaying else ""
        entry = self._journal.done(
            "try",
            lambda: self._bench.ask(number, about, self._commit, prompt, self._seconds_left()),
        )
        self._tries.append(entry)
        self._commit = entry["commit"]
        self._last = _last_try(entry)
        self._show(f"try {number} (phase {phase}, {module}): {_short(entry)}")
        if entry["damage"]:
            raise RunEnded(BREACH, f"the agent changed {entry['damage'][0]}, outside its folder")
        breaches = [one for one in self._tries if one["outside"]]
        if len(breaches) >= BREACHES and entry["outside"]:
            raise RunEnded(
                BREACH, f"the agent changed {entry['outside'][0]} again, not its to change"
            )

    def _keep(self, check: CheckResult) -> None:
        """Make regressions of a check's reports: later checks include each witness."""
        names = [name for name in check.reports if name not in self._kept]
        if not names:
            return
        self._kept.update(names)

        def keep() -> dict[str, Any]:
            return {"reports": names, "commit": self._checks.keep(self._commit, names)}

        self._commit = self._journal.done("regression", keep)["commit"]

    def _require_budget(self, phase: int, module: str) -> None:
        limits, spent = self._limits, self._spent
        spent[phase, module] += 1
        if self._journal.due == "try":
            return
        costs = [one["cost"] for one in self._tries if one["cost"] is not None]
        if len(self._tries) >= limits.iterations:
            raise RunEnded(BUDGET, f"{limits.iterations} tries were made")
        if limits.dollars and sum(costs) >= limits.dollars:
            raise RunEnded(BUDGET, f"{sum(costs):.2f} of {limits.dollars:.2f} dollars are spent")
        if limits.seconds and self._seconds_left() <= 0:
            raise RunEnded(BUDGET, f"{limits.seconds:g} seconds are over")
        if spent[phase, module] > (limits.speed if phase == SPEED else limits.tries):
            raise RunEnded(
                PERSON, f"{module} still fails in phase {phase} after {limits.tries} tries"
            )

    def _seconds_left(self) -> float:
        if not self._limits.seconds:
            return float(1 << 30)
        return self._limits.seconds - sum(e.get("seconds", 0.0) for e in self._journal.entries)


def _short(entry: dict[str, Any]) -> str:
    cost = "unknown cost" if entry["cost"] is None else f"{entry['cost']:.2f} dollars"
    lines = entry["lines"]
    text = f"{entry['seconds']:.0f} s, {cost}, +{lines['added']} -{lines['removed']} lines"
    if entry["timed_out"]:
        text += ", ended for its time"
    if entry["leftovers"]:
        text += f", {entry['leftovers']} processes left behind were ended"
    if entry["outside"]:
        text += f", refused: {', '.join(entry['outside'][:3])}"
    return text


def _last_try(entry: dict[str, Any]) -> str:
    """Return the summary of the agent's last try for its next prompt."""
    files = ", ".join(f"`{name}`" for name in entry["files"][:8]) or "no file"
    text = f"Try {entry['number']} changed {files}."
    if entry["outside"]:
        names = ", ".join(f"`{name}`" for name in entry["outside"][:5])
        text += f" Its changes to {names} were thrown away: they are not yours to change."
    if entry["timed_out"]:
        text += " It was ended because its time was over."
    return text
