"""HalfCheetah in JAX: are its searches as short as they are written to be?

Longer ones end at the same accelerations, so that nothing but time would show.
"""

from __future__ import annotations

import os

import jax
import numpy as np
import pytest

from twinstep import registry
from twinstep.generated.halfcheetah import modules, newton
from twinstep.harness import Harness, Reference, Settings

#: Six are enough for all of these states; halving a bracket, without Newton's steps, takes more.
ROUNDS = 8


def test_every_search_from_a_placed_state_ends_within_eight_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the accelerations, and in each of its steps of the share that lowers the cost most."""
    subject = registry.subjects(registry.environment("halfcheetah"), {})[0]
    if subject.probe.problem and os.environ.get("CI", "").lower() not in ("true", "1"):
        pytest.skip(subject.probe.problem)
    reference = Reference(Harness(Settings()), subject)
    try:
        given = reference.module_inputs(subject.contract.module("newton"), 4096, "rounds")
    finally:
        reference.close()

    def accelerations() -> np.ndarray:
        found = jax.jit(jax.vmap(lambda inputs: modules.newton(**inputs)))(given)
        return np.asarray(found["qacc"])

    with jax.enable_x64(True):
        expected = accelerations()
        monkeypatch.setattr(newton, "MOST_STEPS", ROUNDS)
        found = accelerations()
    assert expected.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
