"""Real PyBoys for tests, closed at the end, and comparisons of their frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.emurust.declaration import EMURUST
from twinstep.frames import Frame, Start, flatten
from twinstep.oracles.emurust import upstream
from twinstep.tests.support.requirements import need


def need_reference() -> None:
    """Skip the test (fail it in CI) if PyBoy is not installed as published."""
    need(upstream.probe({}))


def closing(kind: Callable[..., Any]) -> Iterator[Any]:
    """Yield a factory of oracles or Boys, for a fixture; they are closed afterwards."""
    objects: list[Any] = []

    def make(*args: Any) -> Any:
        objects.append(kind(*args))
        return objects[-1]

    yield make
    for each in objects:
        each.close()


def contract_of(**params: Any) -> Contract:
    return EMURUST.contract(EMURUST.params(params))


def start(contract: Contract, low: int, high: int = 0) -> Start:
    seed = np.array([low, high], np.uint32)
    return Start(seed, contract.make_start(seed) if contract.make_start else {})


def actions(contract: Contract, steps: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, contract.action.n, (steps, 1), np.int32)  # type: ignore[union-attr]


def same(one: Frame, other: Frame) -> list[str]:
    """Return the paths in which two frames differ."""
    a, b = flatten(one), flatten(other)
    return [name for name in a if not np.array_equal(a[name], b[name])]


def whole(oracle: Any, frame: Frame) -> dict[str, np.ndarray]:
    return {**frame.state, **oracle.hidden()}
