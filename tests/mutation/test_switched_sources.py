"""Bugs compiled together: each one, switched on, behaves as it does when planted alone."""

import ast
import importlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.errors import UserError
from twinstep.mutation import chunks, schemata
from twinstep.mutation.cached_oracle import RememberingReference
from twinstep.mutation.campaign import Plan, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.judge import Question, judge
from twinstep.mutation.planting import all_mutants, planted
from twinstep.mutation.python_operators import mutants_of
from twinstep.mutation.switched_sources import Together
from twinstep.mutation.xla_switch import position, switch
from twinstep.project import registry
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings

#: A step with what candidates do: objects that are written to, calls that must not be made twice,
#: loops and conditions of XLA, lists by number, tables, numbers that a shape hangs on.
SOURCE = b"""
import jax
import jax.numpy as jnp
from jax import lax

TABLE = jnp.array([3, 5, 7, 9]) + 1
SIZE = 2 * 2


class Draws:
    def __init__(self, seed):
        self.seed = seed

    def take(self):
        self.seed = self.seed * 5 + 3
        return self.seed % 16

    def put(self, when, **fields):
        for name, value in fields.items():
            setattr(self, name, jnp.where(when, value, getattr(self, name)))


def turn(x, y):
    return -x + y * 2


def step(x):
    draws = Draws(x)
    sides = [draws.take() + 1, draws.take() - x]
    sides = [side * 2 - draws.take() for side in sides]
    first = jnp.where(sides[0] < draws.take(), sides[1], jnp.minimum(-x, draws.take() + 2))
    draws.put(first > 4, seed=draws.seed + turn(first, 1))
    looped = lax.fori_loop(0, 3, lambda i, v: v * 3 + i, first)
    chosen = lax.cond(looped > x, lambda v: v - 1, lambda v: ~v, looped)
    grouped = (x > 2) & (first > 4) & (looped < 9) | (x * 3 * x - turn(x, 1) == first - x - 1)
    chosen = chosen + jnp.where(grouped, first, x) * x * 3 + (x & 12 & first)
    spread = jnp.zeros(SIZE, jnp.int32).at[1].set(chosen).at[x % 3].add(turn(chosen, x))
    near = TABLE[jnp.clip(x, 0, 3)] + spread[-1] * (1 if SIZE > 3 else 2)
    return jnp.concatenate([spread, near[None], draws.seed[None] & 255])
"""


def _module(code):
    names = {}
    exec(compile(code, "m.py", "exec"), names)
    return names


@pytest.fixture(scope="module")
def mutants():
    return mutants_of(SOURCE, "m.py", "m")


@pytest.fixture(scope="module")
def together(mutants):
    made = Together(mutants)
    tree, placed = schemata.with_switches(SOURCE, dict(enumerate(mutants, 1)))
    made.unable |= set(range(1, len(mutants) + 1)) - placed
    names = {schemata.PICK: made.pick}
    exec(compile(tree, "m.py", "exec"), names)
    step = jax.jit(jax.vmap(names["step"]))
    step(_INPUTS)  # what cannot be switched shows itself when it is traced
    return made, step


_INPUTS = jnp.arange(-8, 24, dtype=jnp.int32)


def test_with_no_bug_on_it_is_the_program_as_it_was(together):
    _, step = together
    want = jax.vmap(_module(SOURCE)["step"])(_INPUTS)
    np.testing.assert_array_equal(step(_INPUTS), want)


def test_each_bug_switched_on_is_that_bug_planted_alone(together, mutants):
    made, step = together
    able = [one for one in mutants if made.can(one)]
    assert len(able) >= 45
    kinds = set()
    for mutant in able:
        with made.switched(mutant):
            got = np.asarray(step(_INPUTS))
        alone = jax.vmap(_module(mutant.applied(SOURCE))["step"])(_INPUTS)
        np.testing.assert_array_equal(got, alone, err_msg=f"{mutant.line}: {mutant.what}")
        kinds.add(mutant.operator)
    assert kinds >= {"comparison", "arithmetic", "constant", "index", "where-swap", "clip-drop"}
    assert kinds >= {"and-or", "minus-drop", "not-drop"}
    np.testing.assert_array_equal(step(_INPUTS), jax.vmap(_module(SOURCE)["step"])(_INPUTS))


def test_what_a_program_cannot_switch_is_known_once_it_is_traced(together, mutants):
    made, _ = together
    unable = {SOURCE.splitlines()[m.line - 1].strip().decode() for m in mutants if not made.can(m)}
    assert "SIZE = 2 * 2" in unable
    assert "TABLE = jnp.array([3, 5, 7, 9]) + 1" in unable
    assert any("1 if SIZE > 3 else 2" in line for line in unable)


def test_a_program_compiled_before_reads_the_switch_wherever_it_is():
    def read(x):
        once = position()
        looped = jax.lax.fori_loop(0, 2, lambda i, v: v + position(), x)
        chosen = jax.lax.cond(x > 1, lambda: position(), lambda: -position())
        return once, looped, chosen

    program = jax.jit(jax.vmap(read))
    for number in (0, 3, 7):
        switch(number)
        once, looped, chosen = program(jnp.arange(4))
        assert once.tolist() == [number] * 4
        assert looped.tolist() == [i + 2 * number for i in range(4)]
        assert chosen.tolist() == [-number, -number, number, number]
    switch(0)


def test_code_without_its_bugs_is_the_same_tree():
    tree, placed = schemata.with_switches(SOURCE, {})
    assert not placed
    assert ast.dump(tree) == ast.dump(ast.parse(SOURCE))


def test_a_part_is_evaluated_once_and_in_order():
    source = b"def f(take, x):\n    return take(1) * x[take(0) + 1] - take(3) + 1\n"
    mutants = mutants_of(source, "m.py", "m")
    made = Together(mutants)
    tree, placed = schemata.with_switches(source, dict(enumerate(mutants, 1)))
    assert {mutants[n - 1].what for n in placed} == {"* to +", "+ to -", "1 to 2", "- to +"}
    names = {schemata.PICK: made.pick}
    exec(compile(tree, "m.py", "exec"), names)
    seen = []

    def take(value):
        seen.append(value)
        return jnp.int32(value)

    jax.jit(lambda x: names["f"](take, x))(jnp.arange(4))
    assert seen == [1, 0, 3]


def test_a_candidates_modules_have_their_bugs_inside_but_for_one_planted_alone_and_none_after():
    ref = next(c for c in registry.environment("pong").candidates if c.name == "jax")
    mutants = all_mutants(ref)
    made = Together(mutants)
    package = importlib.import_module(ref.packages[0])
    kept = dict(vars(package))
    with made.planted(ref):
        inside = importlib.import_module(ref.packages[0])
        assert inside is not package
        assert inside.__path__ == package.__path__
        hit = {one.module for one in mutants if made.can(one)}
        assert len(hit) > 5
        assert all(hasattr(importlib.import_module(name), schemata.PICK) for name in hit)
        for alone in (None, mutants[0]):
            with planted(ref, alone):
                names = {importlib.import_module(name) for name in hit}
                assert not any(hasattr(module, schemata.PICK) for module in names)
        assert all(hasattr(importlib.import_module(name), schemata.PICK) for name in hit)
    assert importlib.import_module(ref.packages[0]) is package
    assert dict(vars(package)) == kept
    assert not any(hasattr(sys.modules[name], schemata.PICK) for name in hit)


@pytest.fixture
def campaign():
    return prepare(Plan("pong", "jax", sample=8))


@pytest.fixture
def remembering(campaign):
    made = RememberingReference(Harness(RunSettings(episodes=20)), campaign.pair.subject)
    yield made
    made.close()


@pytest.mark.slow
def test_a_chunks_mutants_get_the_verdicts_that_they_get_alone(campaign, remembering):
    pair, watch, question = campaign.pair, Watch(), Question()
    judge(remembering, pair, None, question, watch)
    held = chunks.Chunks(pair.candidate, campaign.mutants)
    together = [
        held.ask(chunks.MutantQuestion(remembering, pair, one, question), watch)
        for one in campaign.mutants
    ]
    held.close()
    assert sum(verdict is not None for verdict in together) >= 5
    for mutant, verdict in zip(campaign.mutants, together, strict=True):
        if verdict is not None:
            alone = judge(remembering, pair, mutant, question, watch)
            assert {level: kill.how for level, kill in verdict.kills.items()} == {
                level: kill.how for level, kill in alone.kills.items()
            }, mutant


def test_what_a_bug_changes_is_measured_with_the_programs_that_all_bugs_are_in(
    campaign, remembering
):
    pair, watch, question = campaign.pair, Watch(), Question((1,))
    judge(remembering, pair, None, question, watch)
    held = chunks.Chunks(pair.candidate, campaign.mutants)
    for mutant in campaign.mutants:
        about = chunks.MutantQuestion(remembering, pair, mutant, question)
        noticed, found = held.ask(about, watch), held.effect(about, watch)
        assert (noticed is None) == (found is None)
        if noticed is not None:
            assert bool(found["where"]) == bool(noticed.kills), mutant
    held.close()


def test_a_chunk_that_fails_with_no_bug_on_is_no_verdict(campaign, remembering):
    # As where a switch changed what a program computes.
    held = chunks.Chunks(campaign.pair.candidate, campaign.mutants)
    about = chunks.MutantQuestion(remembering, campaign.pair, campaign.mutants[0], Question((1,)))
    switch(1)
    try:
        with pytest.raises(UserError, match=r"pong@fs8-jax fails level 1 .* run with --alone"):
            held.ask(about, Watch())
    finally:
        switch(0)
        held.close()
