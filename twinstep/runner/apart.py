"""Call a candidate's probe, or its build's hash, in a process of its own behind walls."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from twinstep.contract import canonical_json
from twinstep.environment import CandidateRef, Probe
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.runner import asked
from twinstep.runner.remote import CandidateDied, CandidateProcess, CandidateRaised


def called(candidate: CandidateRef, path: str, *args: Any) -> Any:
    """Return the answer of `module:attribute`, a text or a Probe; each is asked once a process.

    UserError if it raises, or if its process ends.
    """
    plain = [dict(arg) if hasattr(arg, "items") else arg for arg in args]
    return _answer(candidate.name, candidate.factory, path, canonical_json(plain), str(Path.cwd()))


@functools.cache
def _answer(name: str, factory: str, path: str, args: str, folder: str) -> Any:
    """Ask; the folder is a part of the question."""
    pair = _pair(name, factory)
    try:
        process = CandidateProcess(pair, asked.__name__, path, args)
    except (CandidateDied, CandidateRaised) as error:
        raise UserError(f"{path} cannot be called ({error})") from error
    process.close()
    kind, *rest = process.about
    return Probe(dict(rest[0]), str(rest[1]), str(rest[2])) if kind == "probe" else str(rest[0])


def _pair(name: str, factory: str) -> Pair:
    """Return a pair of a candidate; whose environment it is says what it must not see."""
    for env in map(registry.environment, registry.names()):
        for ref in env.candidates:
            if (ref.name, ref.factory) == (name, factory):
                return Pair(EnvVariant(env, env.variants[0]), ref)
    raise UserError(f"no environment declares candidate '{name}' ({factory})")
