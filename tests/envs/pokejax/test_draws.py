"""Every place in the simulator that draws a number for Generation 1 is reached, and every move.

The places are read from the pinned package's own sources; the generator is wrapped for that, and a
battle is the same with and without.
"""

import collections
import re

import numpy as np
import pytest

from twinstep.contracts.pokejax import contract
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.contracts.pokejax.events import reached
from twinstep.drivers import random
from twinstep.frames import take_lanes
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.oracles.pokejax import upstream
from twinstep.oracles.pokejax.bridge import PokejaxOracle
from twinstep.reference.recording import record
from twinstep.tests.support.requirements import need

LANES, STEPS = 64, 150
VARIANTS = [variant.params for variant in POKEJAX.variants]
#: Calls that no battle reaches, with the proof.
EXCLUDED = {
    "scripts.js:449": "a range of hits other than 2 to 5: gen1/moves.js has none",
}
#: Places where ties of speed and of handlers draw: the callers of the sorting.
TIES = {
    "Update after an action": r"eachEvent .*runAction",
    "BeforeTurn": r"eachEvent .*runAction \(battle\.js:26\d\d\)",
    "the queue": r"sort \(battle-queue\.js",
    "a locked move inserted anew": r"insertChoice",
    "Residual": r"fieldEvent .*runAction",
    "two clauses at a status": r"runEvent .*setStatus",
    "DisableMove at the end of a turn": r"runEvent .*endTurn",
}


@pytest.fixture(scope="module")
def drawn():
    """Return each place's number of draws over battles of all variants."""
    need(upstream.probe(contract(POKEJAX.params({})).params))
    total = collections.Counter()
    for params in VARIANTS:
        agreed = contract(POKEJAX.params(params))
        oracle = PokejaxOracle(agreed)
        starts = starts_of(agreed, seeds("public", LANES, "pokejax"))
        chunk = record(oracle, agreed, random, starts, STEPS, lambda *_: None)
        for lane in range(LANES):
            length = int(chunk.lengths[lane])
            places, seed = oracle.draws(take_lanes(starts, lane), chunk.actions[:length, lane])
            assert np.array_equal(seed, chunk.frames["state.seed"][length, lane])
            total.update(places)
        oracle.close()
    return total


def test_every_call_of_the_generator_in_the_rules_of_generation_1_is_met(drawn):
    calls = set()
    for name in ("conditions.js", "moves.js", "scripts.js"):
        file = upstream.ensure() / "build" / "cjs" / "data" / "mods" / "gen1" / name
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(r"\.(random|randomChance|sample|shuffle)\(", line):
                calls.add(f"{name}:{number}")
    met = {re.search(r"\((\S+:\d+)\)", place)[1] for place in drawn}
    assert len(calls) == 19
    assert calls - met == set(EXCLUDED)


@pytest.mark.parametrize("tie", TIES)
def test_every_kind_of_tie_is_met(tie, drawn):
    assert sum(count for place, count in drawn.items() if re.search(TIES[tie], place)) > 0


def test_no_draw_comes_from_a_place_that_is_not_listed(drawn):
    ours = r"(conditions|moves|scripts)\.js:"
    kinds = "|".join(TIES.values())
    assert [p for p in drawn if not re.search(ours, p) and not re.search(kinds, p)] == []


def test_every_move_is_met_in_play():
    met = {
        name
        for params in VARIANTS
        for name in reached(params.get("format", "gen1customgame"), params["teams"])
    }
    assert {f"move {number}" for number in range(1, 166)} <= met
