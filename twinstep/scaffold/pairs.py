"""The two sides that a user names, inspected: what each KIND of `twinstep init` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from twinstep.errors import UserError
from twinstep.scaffold import introspect, objects, pools, ports, twins, zoo
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.making import Making, dm_env_of, first_line, gymnasium_of, object_of
from twinstep.scaffold.twins import Twin

_T = TypeVar("_T")
#: KIND -> the function that inspects a candidate of it.
_LIBRARIES: dict[str, Callable[[str, ReferenceFacts], Twin]] = {
    "gymnax": twins.gymnax,
    "functional": ports.functional,
    "pgx": ports.pgx,
    "jumanji": ports.jumanji,
    "brax": ports.brax,
    "navix": ports.navix,
    "envpool": pools.envpool,
}


def inspected(
    oracle: str, candidate: str | None, oracles: str, candidates: str
) -> tuple[ReferenceFacts, Twin | None]:
    """Return what both sides are; None for a candidate that is not given.

    oracles, candidates: the kinds, for messages. UserError where a side cannot be made, or where
    their spaces differ.
    """
    making = _oracle(oracle, oracles)
    in_turn = making.reader == "oracle_from_pettingzoo"
    reference = zoo.reference if in_turn else introspect.reference
    if candidate is None and in_turn:
        raise UserError(f"--oracle {oracle}: a skeleton has one player: add --candidate pgx:ID")
    if candidate is None:
        return _told("oracle", oracle, lambda: reference(making)), None
    kind, _, what = candidate.partition(":")
    if not what:
        raise UserError(f"--candidate {candidate}: write {candidates}, or leave it out")
    if kind == "functional":  # which knows no time limit
        making = making.endless()
    if kind in _LIBRARIES:
        facts = _told("oracle", oracle, lambda: reference(making))
        return facts, _told("candidate", candidate, lambda: _LIBRARIES[kind](what, facts))
    code = object_of("candidate", f"{candidates}, or leave it out", candidate)
    facts = _told("oracle", oracle, lambda: reference(making))
    return facts, _told("candidate", candidate, lambda: objects.inspected(code, facts))


def _told(side: str, given: str, inspect: Callable[[], _T]) -> _T:
    """Return what an inspection finds; one line for what a side raises while it is played."""
    try:
        return inspect()
    except UserError:
        raise
    except Exception as error:  # the side's own
        words = f"{type(error).__name__}: {first_line(error)}"
        raise UserError(f"--{side} {given}: it raises while it is played: {words}") from error


def _oracle(given: str, oracles: str) -> Making:
    kind, _, what = given.partition(":")
    if kind == "gymnasium":
        return gymnasium_of("oracle", what)
    if kind == "dm_env":
        return dm_env_of(what)
    if kind == "pettingzoo":
        return zoo.making_of(what)
    return object_of("oracle", oracles, given)
