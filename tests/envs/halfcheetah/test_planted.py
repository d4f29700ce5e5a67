"""One physical constant changed by 1 % (gravity by 0.1 %) is found, and its module is named.

So are bugs reached only by placed states: beyond the speeds of play, and at a contact's edge.
"""

import numpy as np
import pytest

from twinstep.compare.arrays import Rules, frames_differ
from twinstep.compare.averages import check_averages
from twinstep.compare.resync import broken_fractions, check_from_states
from twinstep.diagnosis.case import outputs_differ
from twinstep.generated.halfcheetah import (
    constraints,
    dynamics,
    forces,
    inertia,
    kinematics,
    modules,
    newton,
)
from twinstep.inputs.sampling import sample_module, some_starts
from twinstep.project.registry import EnvVariant, Pair, environment
from twinstep.runner.runner import LOADED, Runner
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings
from twinstep.tests.support.requirements import need

#: The expected module, the files that import the constant, the constant, the factor.
BUGS = {
    "friction": ("rows", (constraints, newton, modules), "FRICTION", 1.01),
    "gravity": ("bias", (forces,), "GRAVITY", 1.001),
    "armature": ("mass_matrix", (inertia, newton, dynamics, modules), "ARMATURE", 1.01),
    "impedance": ("rows", (constraints,), "MOST_IMPEDANCE", 1.01),
    "damping": ("forces", (forces, dynamics), "damping", 1.01),
    "stiffness": ("forces", (forces,), "stiffness", 1.01),
}
#: Each costs ten seconds of compilation; the others are run with `-m slow`.
USUAL = ("friction", "gravity")
COUNT = 512


@pytest.fixture(scope="module")
def subject():
    env = environment("halfcheetah")
    with_defaults = EnvVariant(env, env.variants[0])
    need(with_defaults.probe)
    return with_defaults


@pytest.fixture(scope="module")
def harness():
    made = Harness(RunSettings(episodes=2))
    yield made
    made.close()


def _plant(monkeypatch, bug, by=None):
    module, files, name, factor = BUGS[bug]
    factor = by or factor
    for file in files:
        if name in ("damping", "stiffness"):
            joints = [j._replace(**{name: getattr(j, name) * factor}) for j in file.JOINTS]
            monkeypatch.setattr(file, "JOINTS", tuple(joints))
            continue
        value = getattr(file, name)
        many = isinstance(value, tuple)
        changed = tuple(v * factor for v in value) if many else value * factor
        monkeypatch.setattr(file, name, changed)
    return module


def _turning_is_held_to_60(monkeypatch):
    """Play turns a body by 50 rad/s at most, single fields' ranges by 40; places by 150."""

    def held(places, v):
        xp = v[2].__array_namespace__()
        bodies = kinematics.motions(places, v)
        return [body._replace(turn=xp.clip(body.turn, -60.0, 60.0)) for body in bodies]

    monkeypatch.setattr(modules, "motions", held)
    monkeypatch.setattr(dynamics, "motions", held)


def _a_nanometre_in_the_floor_does_not_touch(monkeypatch):
    """The requirement on float64: the side of the floor that a point is on, to 1e-12 m."""

    def short(*where):
        apart, *point = constraints.distance(*where)
        xp = apart.__array_namespace__()
        return xp.where((apart < 0.0) & (apart > -1e-9), 0.0, apart), *point

    monkeypatch.setattr(newton, "distance", short)


#: Bug -> the expected module.
BEYOND_PLAY = {
    _turning_is_held_to_60: "bias",
    _a_nanometre_in_the_floor_does_not_touch: "contacts",
}


@pytest.mark.parametrize("bug", BEYOND_PLAY)
def test_a_bug_beyond_play_is_found_by_placed_states_alone(harness, subject, monkeypatch, bug):
    """Play and single fields' ranges do not show it; the inputs and states of levels 1 and 2 do."""
    bug(monkeypatch)
    name = BEYOND_PLAY[bug]
    pair = Pair(subject, next(c for c in subject.env.candidates if c.name == "jax64"))
    reference = harness.reference(subject)
    runner, contract = Runner.of(pair), subject.contract
    rules = Rules.of(contract, candidate="jax64", dtype=runner.dtype, platform=runner.platform)
    drawn = sample_module(contract.module(name), COUNT, np.random.default_rng(1))
    assert not _difference(reference, runner, rules, name, drawn)
    outcome = check_from_states(runner, reference.traces("random"), rules)
    assert not outcome.divergences
    assert not broken_fractions(outcome, rules)

    placed = reference.module_inputs(contract.module(name), COUNT, "planted", dtype=runner.dtype)
    assert _difference(reference, runner, rules, name, placed)
    states, actions = reference.states(LOADED, "planted", dtype=runner.dtype)
    want, _ = reference.oracle.steps(states, actions[None], some_starts(contract, LOADED))
    got = runner.play_from(states, actions[None])
    assert frames_differ(want, got, rules.from_placed())


def _difference(reference, runner, rules, name, inputs):
    """Return the outputs of a module that differ on these inputs."""
    both = reference.oracle.call(name, inputs), runner.call(name, inputs)
    return outputs_differ(reference.contract, rules, name, *both)


def _cases():
    for bug in BUGS:
        for candidate in ("jax64", "jax"):
            usual = bug in USUAL and candidate == "jax64"
            yield pytest.param(bug, candidate, marks=() if usual else pytest.mark.slow)


@pytest.mark.parametrize(("bug", "candidate"), list(_cases()))
def test_a_changed_constant_fails_its_module_and_its_one_step_gate(
    harness, subject, monkeypatch, bug, candidate
):
    """The first module that differs is the one that uses it; A or B fails by its own numbers."""
    wanted = _plant(monkeypatch, bug)
    pair = Pair(subject, next(c for c in subject.env.candidates if c.name == candidate))
    reference = harness.reference(subject)
    runner, contract = Runner.of(pair), subject.contract
    rules = Rules.of(contract, candidate=candidate, dtype=runner.dtype, platform=runner.platform)
    first = next(
        module.name
        for module in contract.modules
        if outputs_differ(contract, rules, module.name, *_both(reference, runner, module))
    )
    assert first == wanted
    outcome = check_from_states(runner, reference.traces("random"), rules)
    assert outcome.divergences or broken_fractions(outcome, rules)


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "found"), [("damping", True), ("friction", False)])
def test_gate_d_sees_ten_percent_more_damping_and_is_blind_to_friction(subject, bug, found):
    """README's claim about the changes that averages of whole episodes find and miss."""
    with pytest.MonkeyPatch.context() as patch:
        _plant(patch, bug, 1.1)
        pair = Pair(subject, next(c for c in subject.env.candidates if c.name == "jax"))
        runner, contract = Runner.of(pair), subject.contract
        rules = Rules.of(contract, candidate="jax", dtype=runner.dtype, platform=runner.platform)
        harness = Harness(RunSettings())
        _, broken = check_averages(runner, harness.reference(subject).traces("random"), rules, None)
        harness.close()
    assert bool(broken) == found


def _both(reference, runner, module):
    inputs = reference.module_inputs(module, COUNT, "planted", module.name)
    return reference.oracle.call(module.name, inputs), runner.call(module.name, inputs)
