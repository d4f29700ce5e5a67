"""The results of `twinstep bench`, of this machine and of one with a GPU."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.evidence import paper
from tools.evidence.results import Found, Results, read, whole
from tools.evidence.section import Missing
from twinstep.bench import command
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.verdicts import sources_hash

#: The folder, below that of the results, of what was measured on a GPU.
GPU = "gpu"
_PARTS = ("environment", "reference", "command", "machine", "versions", "cells", "policies")


class Measured(NamedTuple):
    """One result file. env: its name; where: "" or `gpu`."""

    env: str
    where: str
    path: Path
    found: Found

    @property
    def name(self) -> str:
        """`pong`, or `pong on a GPU`."""
        return named(self.env, self.where)

    def cells(self, work: str) -> list[Found]:
        """Return the cells of a kind of work: `environment`, `physics` or `training`."""
        # Results of before there was other work do not name theirs.
        return [c for c in self.found["cells"] if c.get("work", "environment") == work]

    def outdated(self) -> str:
        """Return which backends' files have changed since, as what ends a line; "" if none's."""
        names = older(self.env, self.found.get("sources") or {})
        return f"; {', '.join(names)} measured before its files last changed" if names else ""


def named(env: str, where: str) -> str:
    """Return an environment's name with where it was measured, if on a GPU."""
    return f"{env} on a GPU" if where else env


def can_be(env: str, where: str) -> bool:
    """Whether it can be measured there: on a GPU, what has a candidate in JAX."""
    return not where or any(ref.name == "jax" for ref in registry.environment(env).candidates)


def folders(where: str, *more: str) -> tuple[str, ...]:
    """Return the folders below that of the results."""
    return (where, *more) if where else more


def files(results: Results, *parts: str) -> Iterator[Measured]:
    """Return all results, the paper's environments first, those of each environment together.

    parts: the folder they lie in, below that of the results or of those of a GPU.
    """
    places = [(where, folders(where, *parts)) for where in ("", GPU)]
    for env in paper.ordered(name for _, place in places for name in results.names(*place)):
        for where, place in places:
            path = results.there(*place, f"{env}.json")
            if (found := read(path, _PARTS, (command.SCHEMA,))) is not None:
                require_gpu(path, where, found)
                yield Measured(env, where, path, found)


def older(env: str, sources: Found) -> list[str]:
    """Return the backends whose files are no longer those of these hashes.

    None of an environment that is not installed here.
    """
    if env not in registry.names():
        return []
    return [
        ref.name
        for ref in registry.environment(env).candidates
        if ref.name in sources and sources_hash(ref)[:16] != sources[ref.name]
    ]


def require_gpu(path: Path, where: str, found: Found) -> None:
    """UserError if a result lies among those of a GPU, and its machine had none."""
    with whole(path):
        fits = not where or "gpu" in (found["machine"] or {})
    if not fits:
        raise UserError(f"{path} was measured without a GPU: it belongs in {path.parents[1]}")


def missing(results: Results, there: Collection[str], more: str = "") -> list[Missing]:
    """Return what the paper's environments lack.

    there: names of those that are there. more: options of the command.
    """
    return [
        Missing(named(env, where), f"twinstep bench {env}{more}{results.out(*folders(where))}")
        for where in ("", GPU)
        for env in paper.environments()
        if named(env, where) not in there and can_be(env, where)
    ]
