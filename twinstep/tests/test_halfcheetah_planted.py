"""One physical constant changed by 1 % (gravity by 0.1 %) is found, and its module is named."""

import os

import pytest

from twinstep.averages import check_averages
from twinstep.cases import outputs_differ
from twinstep.compare import Rules
from twinstep.from_states import broken_fractions, check_from_states
from twinstep.generated.halfcheetah import constraints, dynamics, forces, inertia, modules, newton
from twinstep.harness import Harness, Settings
from twinstep.registry import Pair, Subject, environment
from twinstep.running import Runner

#: The module that is named, the files that import the constant, the constant, the factor.
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
    with_defaults = Subject(env, env.variants[0])
    problem = with_defaults.probe.problem
    if problem and os.environ.get("CI", "").lower() not in ("true", "1"):
        pytest.skip(problem)
    return with_defaults


@pytest.fixture(scope="module")
def harness():
    made = Harness(Settings(episodes=2))
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
    """What README says that averages of whole episodes find, and what they do not."""
    with pytest.MonkeyPatch.context() as patch:
        _plant(patch, bug, 1.1)
        pair = Pair(subject, next(c for c in subject.env.candidates if c.name == "jax"))
        runner, contract = Runner.of(pair), subject.contract
        rules = Rules.of(contract, candidate="jax", dtype=runner.dtype, platform=runner.platform)
        harness = Harness(Settings())
        _, broken = check_averages(runner, harness.reference(subject).traces("random"), rules, None)
        harness.close()
    assert bool(broken) == found


def _both(reference, runner, module):
    inputs = reference.module_inputs(module, COUNT, "planted", module.name)
    return reference.oracle.call(module.name, inputs), runner.call(module.name, inputs)
