"""HalfCheetah in JAX: searches end at the least cost, after as few rounds as intended.

Longer ones end at the same accelerations, so only time would show them.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.generated.halfcheetah import modules, newton
from twinstep.project import registry
from twinstep.testing.harness import Harness
from twinstep.testing.reference import Reference
from twinstep.testing.settings import RunSettings

Array = Any  # jax.Array
#: Five are enough for all of these states; halving a bracket, without Newton's steps, takes more.
ROUNDS = 8
WAYS = 4096
#: Of the sum of a slope's terms; measured 6e-14 at most.
LEVEL = 1e-12


def test_searches_from_placed_states_end_by_themselves_after_few_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All for accelerations do, and nearly all for the share that lowers the cost most."""
    subject = registry.subjects(registry.environment("halfcheetah"), {})[0]
    if subject.probe.problem and os.environ.get("CI", "").lower() not in ("true", "1"):
        pytest.skip(subject.probe.problem)
    reference = Reference(Harness(RunSettings()), subject)
    try:
        given = reference.module_inputs(subject.contract.module("newton"), 4096, "rounds")
    finally:
        reference.close()
    rounds: dict[str, list[int]] = {"_Search": [], "_Share": []}
    real = jax.lax.while_loop

    def loop(*given: Any) -> Any:
        found = real(*given)
        jax.debug.callback(
            lambda steps: rounds[type(found).__name__].append(int(steps)), found.steps
        )
        return found

    monkeypatch.setattr(jax.lax, "while_loop", loop)
    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(lambda inputs: modules.newton(**inputs)))(given)
        assert found["qacc"].dtype == np.float64
        jax.effects_barrier()
    # One number for each block of 64 lanes, one of which may alternate.
    assert max(rounds["_Search"]) <= ROUNDS
    assert np.quantile(rounds["_Share"], 0.9) <= ROUNDS


class _Ways(NamedTuple):
    """The parts of the cost's slope along N ways: start + share * curve, and of each row
    weight * change * (late + share * change) where the bracket is below 0.

    start, curve: [N]. The others, of rows forward, backward and upward [16, N], of limits [6, N].
    """

    start: Array
    curve: Array
    late: list[Array]
    change: list[Array]
    weights: list[Array]

    def slope(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the slope [N], and the sum of its terms' sizes."""
        terms = [self.start[None], (share * self.curve)[None]]
        for late, change, weight in zip(self.late, self.change, self.weights, strict=True):
            terms.append(weight * change * np.minimum(late + share * change, 0.0))
        every = np.concatenate(terms)
        return every.sum(0), np.abs(every).sum(0)


def drawn_ways(count: int) -> _Ways:
    """Return ways of many pieces, whose cost is least at shares from 1e-3 to 100."""
    rng = np.random.default_rng(0)
    contacts, limits = (
        np.where(rng.random((rows, count)) < some, 10 ** rng.uniform(-1, 3, (rows, count)), 0.0)
        for rows, some in ((16, 0.1), (6, 0.3))
    )
    weights = [contacts, contacts, 2 * contacts, limits]
    change = [rng.normal(size=weight.shape) for weight in weights]
    signs = [rng.choice([-1, 1], weight.shape, p=[0.1, 0.9]) for weight in weights]
    late = [-c * s * 10 ** rng.uniform(-3, 2, c.shape) for c, s in zip(change, signs, strict=True)]
    ways = _Ways(np.zeros(count), 10 ** rng.uniform(-2, 0, count), late, change, weights)
    return ways._replace(start=-ways.slope(10 ** rng.uniform(-3, 2, count))[0])


def searched(ways: _Ways, patch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """Return the share and the rounds of each way's search, [N]."""
    real = jax.lax.while_loop

    def search(way: _Ways) -> tuple[Array, Array]:
        """Of one lane. The mass is 1, and only the first joint moves."""
        way = jax.tree.map(lambda numbers: numbers[..., None], way)
        here = jnp.zeros((9, 1))
        there = here.at[0].set(jnp.sqrt(way.curve))
        smooth = [-way.start / there[0], *[jnp.zeros(1)] * 8]
        ends: list[Any] = []

        def loop(*given: Any) -> Any:
            ends.append(real(*given))
            return ends[0]

        def late(given: Any, places: Any, at: Array) -> tuple[Array, ...]:
            share = (at[0] / there[0])[None]
            return tuple(a + share * b for a, b in zip(way.late, way.change, strict=True))

        patch.setattr(jax.lax, "while_loop", loop)
        patch.setattr(newton, "times", lambda mass, vector: vector)
        patch.setattr(newton, "_late", late)
        limit, contact = (SimpleNamespace(weight=way.weights[at]) for at in (3, 0))
        given: Any = SimpleNamespace(contacts=contact, limits=limit)
        problem = newton.Problem([], [], smooth, given)
        share, _ = newton._best_share(problem, {}, here, there, jnp.zeros(1, bool))
        return share[0], ends[0].steps

    with jax.enable_x64(True), patch.context() as patch:
        return jax.tree.map(np.asarray, jax.jit(jax.vmap(search, in_axes=-1))(ways))


def test_a_search_ends_where_the_cost_is_least_on_its_way_after_few_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A few alternate between two shares a rounding apart, until the bound ends them."""
    ways = drawn_ways(WAYS)
    share, rounds = searched(ways, monkeypatch)
    assert share.dtype == np.float64
    assert (ways.slope(np.zeros(WAYS))[0] < 0).all()
    slope, terms = ways.slope(share)
    assert (np.abs(slope) <= LEVEL * terms).all()
    assert (np.quantile(rounds, [0.5, 0.9]) <= [4, 20]).all()  # measured 2 and 9
