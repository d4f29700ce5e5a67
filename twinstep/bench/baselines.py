"""Baselines: other implementations that `twinstep bench` measures next to the candidates."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twinstep.contract import Contract
from twinstep.project import registry
from twinstep.project.registry import EnvVariant

if TYPE_CHECKING:
    from twinstep.bench.targets import Job, NamedTarget, Target


@dataclass(frozen=True)
class Baseline:
    """An implementation that is measured and not verified.

    needs: the module that it requires, which may be installed in another environment than
    twinstep's own (`--peers PYTHON`).
    make: called as `make(contract, job)`; returns its target.
    work: `environment`, whole steps with observations, rewards and auto-reset; or `physics`.
    model: `reference`, a way to run the reference itself; `same`, the same equations; or `another`.
    work_at_most: the most environment steps of a round over all lanes, for slow ones; 0: no limit.
    note: a remark for readers of the table, in a few words.
    """

    name: str
    needs: str
    make: Callable[[Contract, Job], Target]
    work: str
    model: str
    note: str = ""
    work_at_most: int = 0

    def entry(self, contract: Contract, job: Job) -> NamedTarget:
        """Return its target with the facts for the result."""
        from twinstep.bench.targets import NamedTarget

        return NamedTarget(
            self.name, self.make(contract, job), {"model": self.model, "note": self.note}
        )

    def steps(self, steps: int, lanes: int) -> int:
        """Return its steps per round if the backends play `steps`."""
        return min(steps, max(1, self.work_at_most // lanes)) if self.work_at_most else steps

    @property
    def here(self) -> bool:
        """Return True if this Python environment has the module that it needs."""
        try:
            return importlib.util.find_spec(self.needs) is not None
        except ModuleNotFoundError:
            return False


def peers_of(subject: EnvVariant, work: str) -> list[Baseline]:
    """Return an environment's baselines for one kind of work."""
    path = subject.env.oracle.peers
    return [p for p in registry.load_object(path) if p.work == work] if path else []


def find(subject: EnvVariant, name: str) -> Baseline:
    """Return a baseline by name. Raises KeyError if there is none."""
    known = {p.name: p for work in ("environment", "physics") for p in peers_of(subject, work)}
    return known[name]
