"""What a run asks its agent for next, and the prompt that asks for it."""

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

#: The parts that are no modules: what puts them together, in the order that they are written in.
GLUE = ("reset", "step", "restart")
#: Where a project keeps what `twinstep bench` measured.
_BENCHMARKS = Path("benchmarks")
#: Characters of what is told of one earlier try for speed, of the newest and of those before it.
_NEWEST, _EARLIER = 6000, 300


class PromptSource:
    """Prompts of one candidate, about the files of a commit. pairs: one for each variant."""

    def __init__(self, pairs: Sequence[Pair], bench: Workbench) -> None:
        self._pairs, self._bench = pairs, bench

    @property
    def transfers(self) -> bool:
        """Whether any contract asks for policy transfer."""
        return any(pair.subject.contract.transfer for pair in self._pairs)

    def to_mend(self, commit: str, module: str, said: str, tries: int, last: str) -> str:
        """Return the next prompt for a module: a translation if it is not written, else a repair.

        said: what the check says. tries: how often it was asked for before. last: what the
        last try did.
        """
        pair = self._pairs[0]
        # Prompts show the branch's files, not those that the command was started beside.
        with contextlib.chdir(self._bench.project):
            if self.written(commit, module):
                return prompts.repair(pair, said, module, tries, last)
            written = [name for name in self.order() if self.written(commit, name)]
            asked = prompts.translation(pair, module, written)
        return f"{asked}\n## The last try\n{last}\n{said}\n" if tries else asked

    def for_speed(self, history: Sequence[str]) -> str:
        """Return the prompt that asks for speed. history: what became of each earlier try."""
        pair = self._pairs[0]
        with contextlib.chdir(self._bench.project):
            asked = prompts.optimisation(pair, *bench_text.measured(pair, _BENCHMARKS))
        if not history:
            return asked
        *earlier, newest = history
        told = [f"- {said[:_EARLIER].partition(chr(10))[0]}" for said in earlier]
        return "\n".join([asked, "## Tried before", *told, newest[:_NEWEST]]) + "\n"

    def guilty(self, commit: str, found: CheckResult) -> str:
        """Return what to ask for: glue that is not written yet, else the first suspect."""
        missing = [name for name in GLUE if not self.written(commit, name)]
        return [*missing, found.suspect or "step"][0]

    def written(self, commit: str, module: str) -> bool:
        """Whether a commit has what the candidate declares as a module's function."""
        path, _, symbol = self._pairs[0].candidate.sources.get(module, "").partition(":")
        if not path:
            return True
        return line_in(self._bench.repository.text(commit, path), symbol) > 0

    def order(self) -> list[str]:
        """Return the modules that can be called, each after those it needs."""
        known = {m.name: m for p in self._pairs for m in p.subject.contract.modules if m.inputs}
        ordered: list[str] = []

        def add(name: str, above: tuple[str, ...]) -> None:
            if name in above:
                raise UserError(f"modules need each other in a circle: {', '.join(above)}")
            if name in known and name not in ordered:
                for need in known[name].needs:
                    add(need, (*above, name))
                ordered.append(name)

        for name in known:
            add(name, ())
        return ordered
