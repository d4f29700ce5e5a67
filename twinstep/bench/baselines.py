"""Peers: other implementations that `twinstep bench` measures beside the candidates."""

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

    needs: the module without which it cannot run; it may be installed in another environment than
        twinstep's own (`--peers PYTHON`).
    make: called as `make(contract, job)`; returns its player.
    work: `environment`, whole steps with observations, rewards and auto-reset; or `physics`.
    model: `reference`, a way to run the reference itself; `same`, the same equations; or `another`.
    work_at_most: environment steps of a round in all lanes together, for slow ones; 0 for no limit.
    note: what a reader of the table must know, in a few words.
    """

    name: str
    needs: str
    make: Callable[[Contract, Job], Target]
    work: str
    model: str
    note: str = ""
    work_at_most: int = 0

    def entry(self, contract: Contract, job: Job) -> NamedTarget:
        """Return its player with what a result says of it."""
        from twinstep.bench.targets import NamedTarget

        return NamedTarget(
            self.name, self.make(contract, job), {"model": self.model, "note": self.note}
        )

    def steps(self, steps: int, lanes: int) -> int:
        """Return the steps of a round in which the backends play `steps`."""
        return min(steps, max(1, self.work_at_most // lanes)) if self.work_at_most else steps

    @property
    def here(self) -> bool:
        """Whether this environment has what it needs."""
        try:
            return importlib.util.find_spec(self.needs) is not None
        except ModuleNotFoundError:
            return False


def peers_of(subject: EnvVariant, work: str) -> list[Baseline]:
    """Return an environment's peers for one kind of work."""
    path = subject.env.oracle.peers
    return [p for p in registry.load_object(path) if p.work == work] if path else []


def find(subject: EnvVariant, name: str) -> Baseline:
    """Return a peer by name; KeyError if there is none."""
    known = {p.name: p for work in ("environment", "physics") for p in peers_of(subject, work)}
    return known[name]
