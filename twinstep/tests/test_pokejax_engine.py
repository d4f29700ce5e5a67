"""The JAX battles against the real simulator, until pokejax is registered and level 3 does it."""

import os

import numpy as np
import pytest

from twinstep import registry
from twinstep.candidates.pokejax.jax_pokejax import PokejaxJax
from twinstep.contracts.pokejax import POKEJAX, contract
from twinstep.drivers import random
from twinstep.frames import flatten
from twinstep.oracles.pokejax import upstream
from twinstep.recording import record
from twinstep.seeds import seeds, starts_of

LANES, STEPS = 64, 128


@pytest.mark.parametrize(
    ("rules", "teams"),
    [
        ("gen1randombattle", "randbats"),
        ("gen1customgame", "anything"),
        ("gen1ou", "families"),
        ("gen1ou", "mirror"),
    ],
)
def test_every_field_of_random_battles_equals_the_simulators_at_each_decision(rules, teams):
    agreed = contract(POKEJAX.params({"format": rules, "teams": teams}))
    probe = upstream.probe(agreed.params)
    if probe.problem:
        problem = f"{probe.problem}: {probe.mend}"
        pytest.fail(problem) if os.environ.get("CI") else pytest.skip(problem)
    starts = starts_of(agreed, seeds("public", LANES, "pokejax"))
    oracle = registry.load_object(POKEJAX.oracle.factory)(agreed)
    chunk = record(oracle, agreed, random, starts, STEPS, lambda *_: None)
    oracle.close()
    actions = np.zeros((STEPS, LANES, 2), np.int32)
    actions[: len(chunk.actions)] = chunk.actions
    candidate = PokejaxJax(agreed)
    state, first = candidate.reset(starts)
    _, later = candidate.rollout(state, actions)
    for path, values in chunk.frames.items():
        got = np.asarray(flatten(first)[path])
        assert np.array_equal(got, values[0]), (path, "at reset")
        played = np.asarray(flatten(later)[path])
        for t in range(len(chunk.actions)):
            live = t < chunk.lengths
            assert np.array_equal(played[t][live], values[t + 1][live]), (path, t)
