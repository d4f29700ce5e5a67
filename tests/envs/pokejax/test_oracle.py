"""The pokejax bridge: two engines, one reference, and states that continue."""

import os
import shutil

import numpy as np
import pytest

from twinstep.contracts.pokejax import contract
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.drivers import random
from twinstep.errors import OracleMissing
from twinstep.frames import flatten, take_lanes
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.oracles.pokejax import upstream
from twinstep.project import registry
from twinstep.reference.recording import record
from twinstep.tests.support.requirements import need

LANES = 36


def made(**chosen):
    agreed = contract(POKEJAX.params({"teams": "families", "format": "gen1ou"} | chosen))
    need(upstream.probe(agreed.params))
    oracle = registry.load_object(POKEJAX.oracle.factory)(agreed)
    return agreed, oracle, starts_of(agreed, seeds("public", LANES, "pokejax"))


def played(agreed, oracle, starts, steps=120):
    return record(oracle, agreed, random, starts, steps, lambda *_: None)


@pytest.fixture(scope="module")
def inside():
    agreed, oracle, starts = made()
    yield agreed, oracle, starts, played(agreed, oracle, starts)
    oracle.close()


def test_pythonmonkey_and_node_play_the_same_battles(inside):
    _, _, _, chunk = inside
    agreed, oracle, starts = made(engine="node")
    other = played(agreed, oracle, starts)
    oracle.close()
    assert np.array_equal(chunk.actions, other.actions)
    assert np.array_equal(chunk.events, other.events)
    for path, values in chunk.frames.items():
        assert np.array_equal(values, other.frames[path]), path


def test_a_battle_played_in_one_call_is_the_battle_stepped(inside):
    _, oracle, starts, chunk = inside
    for lane in range(3):
        length = int(chunk.lengths[lane])
        whole = oracle.play(take_lanes(starts, lane), chunk.actions[:length, lane])
        for path, values in flatten(whole).items():
            assert np.array_equal(values, chunk.frames[path][: length + 1, lane]), path


def test_a_state_loaded_at_any_decision_continues_as_the_battle_did(inside):
    agreed, oracle, starts, chunk = inside
    lanes = oracle.lanes(LANES)
    lanes.reset(starts)
    for t in range(0, len(chunk.actions), 2):
        live = t < chunk.lengths
        before = {f.name: chunk.frames[f"state.{f.name}"][t] for f in agreed.state}
        which = np.flatnonzero(live)
        lanes.load({name: value[which] for name, value in before.items()}, which)
        after = flatten(lanes.step(chunk.actions[t], live))
        for path, values in chunk.frames.items():
            assert np.array_equal(after[path][live], values[t + 1][live]), (t, path)


def test_the_explanation_of_a_step_counts_its_draws_and_leaves_it_as_it_is(inside):
    agreed, oracle, _, chunk = inside
    multiplier, increment = 0x5D588B656C078965, 0x269EC3
    for t in range(20):
        state = {f.name: chunk.frames[f"state.{f.name}"][t, 0] for f in agreed.state}
        text = oracle.explain(state, chunk.actions[t, 0])
        lines = text.splitlines()
        (count,) = [int(line.split()[0]) for line in lines if line.endswith(" draws:")]
        assert sum(".js:" in line for line in lines) == count
        seed = int(state["seed"][0]) << 32 | int(state["seed"][1])
        for _ in range(count):
            seed = (seed * multiplier + increment) % 2**64
        after = chunk.frames["state.seed"][t + 1, 0]
        assert seed == int(after[0]) << 32 | int(after[1])


def test_a_changed_file_of_the_reference_is_refused(inside, tmp_path, monkeypatch):
    package = upstream.ensure()
    modules = package.parent.parent
    copy = tmp_path / "node_modules"
    shutil.copytree(modules, copy, copy_function=os.link)
    changed = copy / "@pkmn" / "sim" / "build" / "cjs" / "data" / "mods" / "gen1" / "scripts.js"
    text = changed.read_text()
    changed.unlink()
    changed.write_text(text.replace("randomChance(accuracy, 256)", "randomChance(accuracy, 255)"))
    monkeypatch.setenv(upstream.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(OracleMissing, match="not those of the pinned packages"):
        upstream.ensure.__wrapped__()


def test_a_folder_without_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(upstream.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(OracleMissing, match="there is no node_modules/@pkmn/sim"):
        upstream.ensure.__wrapped__()
