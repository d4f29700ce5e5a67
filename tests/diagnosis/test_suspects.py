"""Who is suspected, by what differs and what agrees when it is called alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from twinstep.contract import Field, Module
from twinstep.diagnosis.case import Answer, Case
from twinstep.diagnosis.diagnose import _suspects
from twinstep.frames import Start
from twinstep.project import registry


def _module(name: str, *owned: str) -> Module:
    return Module(name, (), tuple(Field(field, "uint8") for field in owned))


_MODULES = (
    _module("view", "obs", "legal"),
    _module("physics", "x", "v"),
    _module("score", "points", "obs"),
)


@pytest.mark.parametrize(
    ("paths", "agree", "suspects"),
    [
        (["obs"], [], ["view", "score"]),
        (["obs", "legal"], [], ["view", "score"]),
        (["obs", "state.x"], [], ["physics", "view", "score"]),
        (["obs", "state.x"], ["physics"], ["step", "physics", "view"]),
        (["legal", "state.x", "state.points", "obs"], [], ["physics", "score", "view"]),
        (["obs", "state.points"], [], ["score", "view"]),
        (["obs", "state.other"], [], ["step", "view", "score"]),
        (["obs"], ["view", "score"], ["step", "view", "score"]),
        (["obs", "reward"], [], ["view", "score"]),
    ],
)
def test_what_is_seen_is_suspected_behind_the_state_that_it_is_seen_of(
    paths: list[str], agree: list[str], suspects: list[str]
) -> None:
    env = registry.environment("cartpole")
    contract = replace(env.contract(env.params({})), modules=_MODULES)
    start = Start(np.zeros(2, np.uint32), {})
    none: dict[str, Any] = {}
    case = Case("episode", start, np.zeros((1, 1), np.int32))
    answer = Answer(1, tuple(paths), none, none, none, none, case.actions)
    found = _suspects(contract, answer, None, "", False, case, frozenset(agree))
    assert [suspect.module for suspect in found] == suspects
