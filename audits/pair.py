"""The declaration of an audited pair without its boilerplate.

A pair is one module `audits.pairs.LIBRARY.NAME` with five public names: `CONTRACT`, `Oracle`,
`Candidate`, `probe` and `PAIR`. Its name in results is `LIBRARY_NAME`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from twinstep import (
    CandidateRef,
    Contract,
    Environment,
    Field,
    GateRule,
    Lockstep,
    OracleRef,
    Probe,
    Resync,
    Start,
)

PAIRS = Path(__file__).parent / "pairs"
PREFIX = "audits.pairs."
#: Lanes and steps of the recording through auto-resets.
SHIPPED = (8, 96)


def names() -> list[str]:
    """Return the names of all pairs, without importing any."""
    files = PAIRS.glob("*/*.py")
    return sorted(f"{file.parent.name}_{file.stem}" for file in files if file.stem[0] != "_")


def module_of(name: str) -> str:
    """Return the module of a pair: the library is the longest folder that the name begins with."""
    libraries = [folder.name for folder in PAIRS.iterdir() if name.startswith(f"{folder.name}_")]
    library = max(libraries, key=len)
    return f"{PREFIX}{library}.{name.removeprefix(library + '_')}"


def declared(
    module: str, reference: str, contract: Contract, slow_to_compile: bool = False
) -> Environment:
    """Return the declaration of a pair. module: its `__name__`. reference: its title.

    Its only candidate is called like the library that ports. The recording through auto-resets,
    which twinstep makes and not the library, is short. slow_to_compile: see `CandidateRef`.
    """
    contract = dataclasses.replace(contract, shipped=SHIPPED)
    library, _, name = module.removeprefix(PREFIX).partition(".")
    oracle = OracleRef(
        reference, f"{module}:Oracle", f"{module}:probe", f"{PREFIX}{library}", limit=300.0
    )
    candidate = CandidateRef(library, f"{module}:Candidate", slow_to_compile=slow_to_compile)
    return Environment(f"{library}_{name}", lambda params: contract, oracle, (candidate,))


def pins(*packages: str) -> Callable[[Mapping[str, Any]], Probe]:
    """Return the probe of a pair that is made of these distributions, the reference's first."""
    return lambda params: Probe({name: version(name) for name in packages})


def uniform(low: Any, high: Any, dtype: str = "float32") -> dict[str, Any]:
    """Return `starts` and `make_start` of a contract whose start is one vector `state`.

    low, high: the ends of its elements' ranges [K].
    """
    low, high = np.broadcast_arrays(np.asarray(low, np.float64), high)

    def make_start(seed: np.ndarray) -> dict[str, np.ndarray]:
        unit = np.random.default_rng(seed).random(low.shape)
        return {"state": (low + unit * (high - low)).astype(dtype)}

    return {"starts": (Field("state", dtype, low.shape),), "make_start": make_start}


def rounding(bounds: Mapping[str, float]) -> tuple[GateRule, ...]:
    """Return the gates of rounding's size that `python -m audits --measure` prints.

    bounds: frame path -> bound of one step from the reference's own state. All other fields must be
    equal there.
    """
    named = [GateRule(Resync(bound), fields=path) for path, bound in bounds.items()]
    return (*named, GateRule(Resync(0.0)))


def drifting(atol: float, *fields: str) -> tuple[GateRule, ...]:
    """Return gates for a port that cannot be placed, so that its rounding adds up in an episode."""
    return tuple(GateRule(Lockstep(atol=atol, rtol=atol), fields=field) for field in fields)


def placed(observe: Callable[[Any], Any], dtype: str = "float64") -> Callable[[Any, Start], Any]:
    """Return the `place` of a Gymnasium environment that keeps its whole state in `state`.

    observe(unwrapped) -> the observation there.
    """

    def place(env: Any, start: Start) -> Any:
        env.unwrapped.state = np.array(start.fields["state"], dtype)
        return observe(env.unwrapped)

    return place


def swung(observation: Any) -> dict[str, np.ndarray]:
    """Return a pendulum's start, `state` f64[2], from its first observation: cos, sin, speed."""
    cos, sin, speed = np.asarray(observation, np.float64)
    return {"state": np.array([np.arctan2(sin, cos), speed])}


def elements(names: tuple[str, ...], clock: bool = True) -> dict[str, str]:
    """Return the paths of the elements of a Gymnasium environment's `state`, and of its clock."""
    paths = {name: f"unwrapped.state[{place}]" for place, name in enumerate(names)}
    return paths | ({"time": "_elapsed_steps"} if clock else {})


def ranged(names: tuple[str, ...], ends: Any, dtype: str = "float64") -> tuple[Field, ...]:
    """Return state fields. ends: (low, high) of each, or the high end of a symmetric range."""
    both = [end if isinstance(end, tuple) else (-end, end) for end in ends]
    return tuple(
        Field(name, dtype, low=low, high=high)
        for name, (low, high) in zip(names, both, strict=True)
    )
