"""The paper's figures, from one file of facts, for comparison with our measurements."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.evidence.formatting import digits, rate

_FILE = Path(__file__).with_name("paper.json")
_Fact = Mapping[str, Any]


@functools.cache
def facts() -> _Fact:
    """Return the paper's figures, its source and its machine."""
    return json.loads(_FILE.read_text())


def environments() -> list[str]:
    """Return the names of the paper's environments."""
    return list(facts()["environments"])


def ordered(names: Iterable[str]) -> list[str]:
    """Return unique names: the paper's environments in its order, then the others."""
    known = {name: place for place, name in enumerate(environments())}

    def key(name: str) -> tuple[int, str]:
        # `pong-rust` belongs to pong.
        return known.get(name, known.get(name.partition("-")[0], len(known))), name

    return sorted(set(names), key=key)


def about(kind: str, env: str) -> list[_Fact]:
    """Return the facts of a kind about an environment."""
    return [fact for fact in facts()[kind] if fact["env"] == env]


def speeds(kind: str, env: str, backend: str) -> str:
    """Return the paper's speeds of a backend as one cell of a table, "" if it has none.

    kind: `random`, `ppo` or `policies`. backend: ours, where `jax64` is not the paper's `jax`.
    """
    return "; ".join(_speed(fact) for fact in about(kind, env) if fact["backend"] == backend)


def _speed(fact: _Fact) -> str:
    fast = f"{fact['fast']} {rate(fact['rate'])}"
    if "ratio" not in fact:
        return fast
    before = f"{fact['reference']} {rate(fact['reference_rate'])}"
    return f"{before}, {fast}: {digits(fact['ratio'])} times"


def column() -> str:
    """Return the head of the column with the paper's figures."""
    return f"paper ({facts()['machine']})"
