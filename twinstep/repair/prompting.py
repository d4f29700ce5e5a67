"""Choose the next task of a run's agent, and write its prompt."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from twinstep.errors import UserError
from twinstep.project.registry import Pair
from twinstep.project.source_view import line_in
from twinstep.repair import prompts
from twinstep.repair.attempt import Workbench
from twinstep.repair.checks import CheckResult
from twinstep.repair.prompts import bench_text

#: The glue between the modules, in the order of writing.
GLUE = ("reset", "step", "restart")
#: Folder of `twinstep bench`'s results in a project.
_BENCHMARKS = Path("benchmarks")
#: Characters about an earlier try for speed: about the newest, and about each before it.
_NEWEST, _EARLIER = 6000, 300


class PromptSource:
    """Prompts of one candidate, about the files of a commit. pairs: one for each variant."""

    def __init__(self, pairs: Sequence[Pair], bench: Workbench) -> None:
        self._pairs, self._bench = pairs, bench

    @property
    def transfers(self) -> bool:
        """True if any contract requires policy transfer."""
        return any(pair.subject.contract.transfer for pair in self._pairs)

    @property
    def ships(self) -> bool:
        """True if any variant is shipped: one that only has auto-reset `off` is for its proof."""
        return any(pair.subject.contract.auto_resets != ("off",) for pair in self._pairs)

    def to_mend(self, commit: str, module: str, said: str, tries: int, last: str) -> str:
        """Return the next prompt for a module: a translation if it is not written, else a repair.

        said: the check's message. tries: number of earlier tries for it. last: summary of the last
        try.
        """
        pair = self._pairs[0]
        # Prompts show the branch's files, not those of the current folder.
        with contextlib.chdir(self._bench.project):
            if self.written(commit, module):
                return prompts.repair(pair, said, module, tries, last)
            written = [name for name in self.order() if self.written(commit, name)]
            prompt = prompts.translation(pair, module, written)
        return f"{prompt}\n## The last try\n{last}\n{said}\n" if tries else prompt

    def for_speed(self, history: Sequence[str]) -> str:
        """Return the prompt for speed. history: the outcome of each earlier try."""
        pair = self._pairs[0]
        with contextlib.chdir(self._bench.project):
            prompt = prompts.optimisation(pair, *bench_text.measured(pair, _BENCHMARKS))
        if not history:
            return prompt
        *earlier, newest = history
        outcomes = [f"- {said[:_EARLIER].partition(chr(10))[0]}" for said in earlier]
        return "\n".join([prompt, "## Tried before", *outcomes, newest[:_NEWEST]]) + "\n"

    def guilty(self, commit: str, found: CheckResult) -> str:
        """Return the next task: glue that is not written yet, else the first suspect."""
        missing = [name for name in GLUE if not self.written(commit, name)]
        return [*missing, found.suspect or "step"][0]

    def written(self, commit: str, module: str) -> bool:
        """Return True if a commit defines the function that the candidate declares for a module."""
        path, _, symbol = self._pairs[0].candidate.sources.get(module, "").partition(":")
        if not path:
            return True
        return line_in(self._bench.commits.text(commit, path), symbol) > 0

    def order(self) -> list[str]:
        """Return the callable modules, each after its dependencies."""
        modules = {m.name: m for p in self._pairs for m in p.subject.contract.modules if m.inputs}
        ordered: list[str] = []

        def add(name: str, above: tuple[str, ...]) -> None:
            if name in above:
                raise UserError(f"modules need each other in a circle: {', '.join(above)}")
            if name in modules and name not in ordered:
                for need in modules[name].needs:
                    add(need, (*above, name))
                ordered.append(name)

        for name in modules:
            add(name, ())
        return ordered
