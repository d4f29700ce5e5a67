"""Algorithm 1: translate module by module, compose, whole episodes, transfer; repair on the way.

1. Each module in the order of its needs: ask for it, run its level 1 tests, repair.
2. The whole at levels 1 and 2.
3. Whole episodes at level 3, with seeds that every edit re-rolls. The witness of each failure is
   kept as a regression before the next prompt. Then hidden seeds, and what ships.
4. Policy transfer, where the contract asks for it; a gap leads back to 1.
5. If it is asked for: speed. What is not proven again, or is not faster, is undone.

Nothing is decided but by the journal's entries, so that a killed run goes on where it was.
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
from twinstep.repair.speedup import Stopwatch, told
from twinstep.repair.verifier import Stage

#: How a run ends: the command's exit codes.
VERIFIED, BUDGET, PERSON, BREACH = 0, 1, 2, 3
#: Changes outside its files after which an agent is not asked again.
BREACHES = 2
#: The phase that asks for speed.
SPEED = 5
#: Characters of what the compiler says, say, of a try that was undone.
_TROUBLE = 2000


@dataclass(frozen=True)
class Limits:
    """What a run may spend.

    tries: for each module in each phase, and for the whole in each. speed: for speed, 0 for none.
    iterations: in all. dollars: 0 for no limit. seconds: of agents and checks together, 0 for no
    limit.
    """

    tries: int = 5
    speed: int = 0
    iterations: int = 50
    dollars: float = 0.0
    seconds: float = 0.0


_HOLDOUT = Stage((3,), seeds="holdout")
_SHIPPED = Stage((1, 2, 3), isolate=False)
_TRANSFER = Stage((4,), isolate=False)


class RunEnded(Exception):
    """The run is over. code: one of the exit codes; why: a sentence."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code, self.why = code, why


class Loop:
    """One run. phases: those of the four that are walked. told: shows a line of progress."""

    def __init__(
        self,
        asking: PromptSource,
        bench: Workbench,
        checks: Checks,
        stopwatch: Stopwatch,
        journal: Journal,
        limits: Limits,
        phases: tuple[int, ...],
        told: Callable[[str], None],
    ) -> None:
        self._asking, self._bench, self._checks = asking, bench, checks
        self._stopwatch = stopwatch
        self._journal, self._limits, self._phases, self._told = journal, limits, phases, told
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
        """Walk the phases; return how it ended."""
        try:
            while True:
                if 1 in self._phases:
                    self._modules()
                if 2 in self._phases:
                    self._whole(2, Stage((1, 2)))
                if 3 in self._phases:
                    self._episodes()
                if 4 not in self._phases or self._transfers():
                    raise RunEnded(VERIFIED, f"every check passed{self._faster()}")
        except RunEnded as stop:
            entry = {"code": stop.code, "why": stop.why, "commit": self._commit}
            self._journal.done("end", lambda: entry)
            return stop

    def _modules(self) -> None:
        """Phase 1: until level 1 passes as a whole."""
        stage = Stage((1,))
        found = self._check(stage)
        while not found.good:
            failing = self._failing(found)
            for name in failing:
                alone = Stage((1,), (name,))
                # What another module's mending may have mended, too, is looked at again.
                again = name != failing[0] and self._asking.written(self._commit, name)
                self._mend(1, name, alone, self._check(alone) if again else found)
            if failing:
                found = self._check(stage)
            else:
                # What does not compile, say, fails no module's tests: they tell once it does.
                found = self._mend(1, "", stage, found, self._failing)

    def _failing(self, found: CheckResult) -> list[str]:
        """Return the modules that a check names, each after those it needs."""
        return [name for name in self._asking.order() if found.failed_of(name)]

    def _whole(self, phase: int, stage: Stage) -> None:
        self._mend(phase, "", stage, self._check(stage))

    def _episodes(self) -> None:
        """Phase 3: seeds of the tree, then hidden ones, then what ships; all of the same commit."""
        while True:
            self._whole(3, self._episodes_stage)
            commit = self._commit
            for stage in (_HOLDOUT, _SHIPPED):
                found = self._check(stage)
                if not found.good:
                    self._try(3, self._asking.guilty(self._commit, found), found, stage)
                    break
            if commit == self._commit:
                return

    @property
    def _episodes_stage(self) -> Stage:
        levels = (1, 2, 3) if 2 in self._phases or 1 in self._phases else (3,)
        return Stage(levels, seeds="tree")

    def _transfers(self) -> bool:
        """Phase 4: whether policies play alike. On a gap the agent is asked once."""
        if not self._asking.transfers:
            return True
        found = self._check(_TRANSFER)
        if found.good:
            return True
        self._try(4, self._asking.guilty(self._commit, found), found, _TRANSFER)
        return False

    def _faster(self) -> str:
        """Phase 5: ask for speed as often as the limits let; return what came of it.

        What this phase may not spend any more is no failure: the candidate stays verified.
        """
        kept, number = 0, 0
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
            # What ships comes last: its verdict is kept, and must be that of the newest commit.
            why = why or self._unproven([*proof, _SHIPPED])
            if why:
                self._undo(why)
            kept += not why
            self._history.append(f"Try {len(self._tries)}: {why or self._last}")
        if not self._limits.speed:
            return ""
        return f"; {kept} of {number} changes for speed kept{ended}"

    def _unproven(self, stages: list[Stage]) -> str:
        """Return what the first stage that does not pass says, "" if all do."""
        for stage in stages:
            found = self._check(stage)
            if not found.good:
                hidden = stage.seeds == "holdout"
                said = self._checks.counts(found) if hidden else self._checks.text(found, "")
                return f"{stage.name}: {found.summary}\n\n{said}"
        return ""

    def _slower(self, before: str) -> str:
        """Return what was measured where the newest commit is not faster than another, else ""."""
        if not self._journal.replaying:
            self._told("  speed ...")
        entry = self._journal.done("speed", lambda: self._stopwatch.compare(before, self._commit))
        said = told(entry)
        self._told(f"  speed: {said}")
        if entry["kept"]:
            self._last = f"kept: {said}"
            return ""
        return f"not faster: {said}"

    def _mend(
        self,
        phase: int,
        module: str,
        stage: Stage,
        found: CheckResult,
        enough: Callable[[CheckResult], Sequence[str]] = lambda found: (),
    ) -> CheckResult:
        """Ask until a stage passes; return what it said last. What makes it worse is undone.

        enough: of what a stage says; no more is asked for where there is any of it.
        """
        while not found.good and not enough(found):
            self._try(phase, module or self._asking.guilty(self._commit, found), found, stage)
            again = self._check(stage)
            if again.worse_than(found):
                self._undo(f"it made things worse: {again.summary}")
                if again.trouble:
                    self._last += f"\n```\n{again.trouble[:_TROUBLE]}\n```"
            else:
                found = again
        return found

    def _undo(self, why: str) -> None:
        """Make the files of the last try those of before it. why: its first line is told."""
        number, commit = self._tries[-1]["number"], self._tries[-1]["base"]
        short = why.partition("\n")[0].rstrip(":")

        def restore() -> dict[str, Any]:
            made = self._bench.restore(commit, f"undo {number}: {short}")
            return {"number": number, "commit": made, "why": short}

        self._commit = self._journal.done("undo", restore)["commit"]
        self._last = f"Try {number} was undone: {short}."
        self._told(f"  undone: {short}")

    def _check(self, stage: Stage) -> CheckResult:
        if not self._journal.replaying:
            self._told(f"  {stage.name} ...")
        entry = self._journal.done("check", lambda: self._checks.run(self._commit, stage))
        found = self._checks.found(entry)
        self._told(f"  {stage.name}: {found.summary}")
        return found

    def _try(self, phase: int, module: str, found: CheckResult, stage: Stage) -> None:
        """Ask the agent to mend what a check found, once."""
        self._require_budget(phase, module)
        if phase >= 3:
            self._keep(found)

        def prompt() -> str:
            hidden = stage.seeds == "holdout"
            said = self._checks.counts(found) if hidden else self._checks.text(found, module)
            tries = self._spent[phase, module] - 1
            return self._asking.to_mend(self._commit, module, said, tries, self._last)

        self._ask(phase, module, prompt)

    def _ask(self, phase: int, module: str, prompted: Callable[[], str]) -> None:
        """Ask the agent once. Stop where it must not be asked again."""
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
        self._last = _told_of(entry)
        self._told(f"try {number} (phase {phase}, {module}): {_short(entry)}")
        if entry["damage"]:
            raise RunEnded(BREACH, f"the agent changed {entry['damage'][0]}, outside its folder")
        breaches = [one for one in self._tries if one["outside"]]
        if len(breaches) >= BREACHES and entry["outside"]:
            raise RunEnded(
                BREACH, f"the agent changed {entry['outside'][0]} again, not its to change"
            )

    def _keep(self, found: CheckResult) -> None:
        """Make regressions of a check's reports: the witness of each is asked for ever after."""
        fresh = [name for name in found.reports if name not in self._kept]
        if not fresh:
            return
        self._kept.update(fresh)

        def keep() -> dict[str, Any]:
            return {"reports": fresh, "commit": self._checks.keep(self._commit, fresh)}

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


def _told_of(entry: dict[str, Any]) -> str:
    """Tell the agent of its last try."""
    files = ", ".join(f"`{name}`" for name in entry["files"][:8]) or "no file"
    text = f"Try {entry['number']} changed {files}."
    if entry["outside"]:
        names = ", ".join(f"`{name}`" for name in entry["outside"][:5])
        text += f" Its changes to {names} were thrown away: they are not yours to change."
    if entry["timed_out"]:
        text += " It was ended because its time was over."
    return text
