"""The results of `twinstep bench`, on CPUs and on a GPU."""

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

#: Subfolder of the results measured on a GPU.
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
        # Older results have a single kind of work and do not name it.
        return [c for c in self.found["cells"] if c.get("work", "environment") == work]

    def outdated(self) -> str:
        """Return the end of a line that names backends with changed files; "" if there are none."""
        names = older(self.env, self.found.get("sources") or {})
        return f"; {', '.join(names)} measured before its files last changed" if names else ""


def named(env: str, where: str) -> str:
    """Return an environment's name, with `on a GPU` if it was measured there."""
    return f"{env} on a GPU" if where else env


def can_be(env: str, where: str) -> bool:
    """Return True if it can be measured there: on a GPU, if it has a candidate in JAX."""
    return not where or any(ref.name == "jax" for ref in registry.environment(env).candidates)


def folders(where: str, *more: str) -> tuple[str, ...]:
    """Return the subfolders of the results."""
    return (where, *more) if where else more


def files(results: Results, *parts: str) -> Iterator[Measured]:
    """Yield all results, the paper's environments first, grouped by environment.

    parts: their subfolder, below the results or those of a GPU.
    """
    places = [(where, folders(where, *parts)) for where in ("", GPU)]
    for env in paper.ordered(name for _, place in places for name in results.names(*place)):
        for where, place in places:
            path = results.there(*place, f"{env}.json")
            if (found := read(path, _PARTS, (command.SCHEMA,))) is not None:
                require_gpu(path, where, found)
                yield Measured(env, where, path, found)


def older(env: str, sources: Found) -> list[str]:
    """Return the backends whose files no longer match these hashes.

    [] for an environment that is not installed here.
    """
    if env not in registry.names():
        return []
    return [
        ref.name
        for ref in registry.environment(env).candidates
        if ref.name in sources and sources_hash(ref)[:16] != sources[ref.name]
    ]


def require_gpu(path: Path, where: str, found: Found) -> None:
    """UserError if a result lies in the GPU's folder, but its machine had no GPU."""
    with whole(path):
        fits = not where or "gpu" in (found["machine"] or {})
    if not fits:
        raise UserError(f"{path} was measured without a GPU: it belongs in {path.parents[1]}")


def missing(results: Results, there: Collection[str], more: str = "") -> list[Missing]:
    """Return the missing results of the paper's environments.

    there: names of the existing ones. more: options of the command.
    """
    return [
        Missing(named(env, where), f"twinstep bench {env}{more}{results.out(*folders(where))}")
        for where in ("", GPU)
        for env in paper.environments()
        if named(env, where) not in there and can_be(env, where)
    ]
