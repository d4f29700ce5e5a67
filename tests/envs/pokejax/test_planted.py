"""Bugs planted in the battle engine are found, module by module, and reported by draw and place."""

import json
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.candidates.pokejax import modules
from twinstep.contracts.pokejax import contract
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.generated.pokejax import (
    before,
    damage,
    episode,
    lcg,
    members,
    moves,
    requests,
    stats,
    turn,
)
from twinstep.inputs.sampling import sample_module
from twinstep.oracles.pokejax import upstream
from twinstep.oracles.pokejax.bridge import PokejaxOracle
from twinstep.tests.support.requirements import need

INPUTS = 4096
AGREED = contract(POKEJAX.params({"format": "gen1randombattle"}))


@pytest.fixture(scope="module")
def oracle():
    need(upstream.probe(AGREED.params))
    made = PokejaxOracle(AGREED)
    yield made
    made.close()


def _a_critical_hit_at_255(me, move, of=damage.critical_chance):
    return jnp.minimum(of(me, move) + 1, 256)


def _accuracy_rolls_over(battle, me, foe, move, when, of=moves._accurate):
    rolled = battle.draws.below
    # `random(256) < accuracy` became `<=`: 255 no longer misses.
    battle.draws.below = lambda n, do: rolled(n, do) - 1
    found = of(battle, me, foe, move, when)
    del battle.draws.below
    return found


def _paralysed_one_time_more(battle, me, go, of=before._paralysed):
    rolled = battle.draws.below
    battle.draws.below = lambda n, do: rolled(n, do) - 1
    found = of(battle, me, go)
    del battle.draws.below
    return found


def _no_draw_of_the_clauses(battle, target, status, by_foe, when, of=modules.catch):
    clauses, battle.clauses = battle.clauses, jnp.zeros_like(battle.clauses)
    found = of(battle, target, status, by_foe, when)
    battle.clauses = clauses
    return found


def _better_genes(base, genes, level):
    return stats.stat(base, genes + 1, level)


def _stages_rounded_otherwise(value, stage):
    return value * stats.look_up(stats.STAGES, stage + 6) // 99


def _nothing_is_immune(attacking, defending):
    return jnp.maximum(damage.look_up(damage.EFFECTIVENESS, attacking * 16 + defending), -1)


def _no_priority(fighter):
    return fighter.acts.astype(jnp.int32), -fighter.modified[4]


#: Module: the changed text and its file, and an output that must differ.
BUGS = {
    "generator": (lcg, "INCREMENT", lcg.INCREMENT + 2, "seed"),
    "member": (episode, "stat", _better_genes, "born"),
    "boosts": (stats, "scaled", _stages_rounded_otherwise, "modified"),
    "types": (damage, "effectiveness", _nothing_is_immune, "immune"),
    "damage": (damage, "critical_chance", _a_critical_hit_at_255, "amount"),
    "status": (modules, "catch", _no_draw_of_the_clauses, "seed"),
    "before": (before, "_paralysed", _paralysed_one_time_more, "goes"),
    "order": (turn, "_key", _no_priority, "second_first"),
    "legal": (requests, "usable", lambda fighter: [move > 0 for move in fighter.moves], "legal"),
    "switch": (members, "dropped", lambda values, status: list(values), "modified"),
    "move": (moves, "_accurate", _accuracy_rolls_over, "hp"),
}
#: The others compile for longer.
USUAL = ("generator", "member", "boosts", "types", "damage", "order", "legal")


@pytest.mark.parametrize(
    "module",
    [pytest.param(name, marks=() if name in USUAL else pytest.mark.slow) for name in BUGS],
)
def test_a_bug_of_a_module_is_found_by_calling_it_alone(module, oracle, monkeypatch):
    place, name, planted, shown = BUGS[module]
    inputs = sample_module(AGREED.module(module), INPUTS, np.random.default_rng(0))
    want = oracle.call(module, inputs)

    def differing():
        called = jax.jit(jax.vmap(lambda given: modules.CALLS[module](**given)))
        got = called({field: jnp.asarray(values) for field, values in inputs.items()})
        return {n for n in want if not np.array_equal(want[n], np.asarray(got[n]))}

    assert not differing()
    monkeypatch.setattr(place, name, planted)
    assert shown in differing()


_SLIP = """
import dataclasses
from twinstep.candidates.pokejax.jax_pokejax import PokejaxJax
from twinstep.contracts.pokejax import POKEJAX
from twinstep.generated.pokejax import moves
from twinstep.tests.test_pokejax_planted import _accuracy_rolls_over


class Planted(PokejaxJax):
    def __init__(self, contract):
        moves._accurate = _accuracy_rolls_over
        super().__init__(contract)


(jax,) = POKEJAX.candidates
ENV = dataclasses.replace(
    POKEJAX,
    name="planted",
    candidates=(dataclasses.replace(jax, factory="planted:Planted", packages=("planted",)),),
    variants=POKEJAX.variants[1:2],
)
"""
_OTHER = """
import dataclasses
import os
from pathlib import Path
from twinstep.contract import Role
from twinstep.contracts.pokejax import POKEJAX
from twinstep.oracles.pokejax.bridge import PokejaxOracle


class Other(PokejaxOracle):
    def __init__(self, contract):
        super().__init__(contract, Path(os.environ["OTHER_SHOWDOWN"]))


# What the other one remembers of moves is another thing, in every battle: left aside.
MEMORY = ("last_move", "side_last_move", "selected_move", "selected_slot")


def contract(params):
    made = POKEJAX.contract(params)
    state = [
        dataclasses.replace(field, role=Role.IRRELEVANT) if field.name in MEMORY else field
        for field in made.state
    ]
    return dataclasses.replace(made, state=tuple(state))


oracle = dataclasses.replace(POKEJAX.oracle, factory="planted:Other", package="planted")
(first, *_) = POKEJAX.variants
ENV = dataclasses.replace(
    POKEJAX,
    name="planted",
    contract=contract,
    oracle=oracle,
    variants=(dataclasses.replace(first, params={**first.params, "engine": "node"}),),
)
"""
OTHER = "pokemon-showdown"
#: npm's hash of version 0.11.11, as in the lockfile that `npm install` writes.
INTEGRITY = (
    "sha512-FdW7gt3TkG4AdXmpMTPYX2kx42VEfY8tQApjW9wEHOGzwH6Kn97wD0o5uIzAc4xp"
    "O1W+Tim70Ti9+FNkMNCA2w=="
)


def _verified(folder, source, **variables):
    """Run level 3 with random play in a project of its own; return its one record and report."""
    (folder / "planted").mkdir()
    (folder / "planted" / "__init__.py").write_text(source)
    (folder / "pyproject.toml").write_text('[tool.twinstep.envs]\nplanted = "planted:ENV"\n')
    chosen = ["-m", "level3", "--env", "planted", "--driver", "random", "-k", "test_episodes_match"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", "twinstep.rollouts", *chosen],
        cwd=folder,
        env=os.environ | variables | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    files = list((folder / ".twinstep" / "reports").glob("*.json"))
    assert len(files) == 1, done.stdout[-2000:] + done.stderr[-2000:]
    (file,) = files
    return json.loads(file.read_text()), file.with_suffix(".md").read_text()


@pytest.mark.slow
def test_a_slip_of_one_in_256_is_reported_by_turn_field_draws_and_the_oracles_function(tmp_path):
    """The report is an agent's input: it names everything that leads to the line."""
    need(upstream.probe(AGREED.params))
    record, text = _verified(tmp_path, _SLIP)
    assert record["one_step"] is True
    assert record["draws"]["oracle"] >= 1
    assert record["draws"]["candidate"] != record["draws"]["oracle"]
    assert f"draws: in this step, oracle {record['draws']['oracle']}, " in text
    assert any(row["path"].startswith("state.hp") for row in record["diff"])
    assert "moves with 100% accuracy can still miss" in text
    assert re.search(r"\d+\. ff[0-9a-f]{6} \S*tryMoveHit \(scripts\.js:\d+\)", text), text
    assert re.search(r"\bturn=\d+|state\.turn", text)


@pytest.mark.slow
def test_the_other_package_of_the_same_simulator_is_found_to_be_another_reference(tmp_path):
    """pokemon-showdown and @pkmn/sim differ in a few of 100 battles; the harness finds them."""
    need(upstream.probe(AGREED.params))
    (tmp_path / "package.json").write_text('{"private": true}')
    quiet = ("--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["npm", "install", *quiet, f"{OTHER}@0.11.11"], cwd=tmp_path, check=True)
    lock = json.loads((tmp_path / "package-lock.json").read_text())
    assert lock["packages"][f"node_modules/{OTHER}"]["integrity"] == INTEGRITY
    simulator = tmp_path / "node_modules" / OTHER
    record, _ = _verified(tmp_path, _OTHER, OTHER_SHOWDOWN=str(simulator))
    assert 1 <= record["context"]["counts"]["diverging"] <= 20
