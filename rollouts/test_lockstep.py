"""Level 3: whole episodes, the same starts, the same actions, every field at every step."""

import pytest

from twinstep import drivers
from twinstep.compare.averages import check_averages
from twinstep.compare.horizon import check_horizons
from twinstep.compare.resync import broken_fractions, check_from_states
from twinstep.project import registry
from twinstep.testing import require_alike_steps

pytestmark = pytest.mark.level3

_plays_on_the_candidate = pytest.mark.needs(
    when=lambda facts, row: row["twinstep_driver"] not in drivers.LOOKING,
    why="this driver looks ahead in the oracle: it cannot play on the candidate",
)


@pytest.mark.gates("lockstep")
@pytest.mark.needs("rules.lockstep")
def test_episodes_match(twinstep_lab, twinstep_driver):
    """Every recorded episode, replayed without correction, agrees under the lockstep gates."""
    traces = twinstep_lab.traces(twinstep_driver)
    twinstep_lab.notes["compared"] = [f"lockstep {twinstep_driver}"]
    twinstep_lab.require_lockstep(traces)
    for more in twinstep_lab.further(twinstep_driver):
        twinstep_lab.require_lockstep(more)


@pytest.mark.gates("resync")
@pytest.mark.needs("rules.from_states")
def test_steps_from_the_oracles_states_match(twinstep_lab, twinstep_driver):
    """Short runs from the oracle's own states agree under the resync and window gates."""
    rules = twinstep_lab.rules
    traces = twinstep_lab.traces(twinstep_driver)
    twinstep_lab.notes["compared"] = [f"resync {twinstep_driver}"]
    outcome = check_from_states(twinstep_lab.runner, traces, rules)
    _note(twinstep_lab, twinstep_driver, outcome)
    twinstep_lab.require_equal(outcome)
    broken = broken_fractions(outcome, rules)
    if broken:
        twinstep_lab.fail("; ".join(broken))
    for more in twinstep_lab.further(twinstep_driver):
        twinstep_lab.require_equal(check_from_states(twinstep_lab.runner, more, rules))


@pytest.mark.gates("horizon")
@pytest.mark.needs("rules.horizons")
def test_episodes_stay_together_as_long_as_the_gate_asks(twinstep_lab, twinstep_driver):
    """Whole episodes from the same start, never corrected, part no sooner than the gate allows."""
    traces = twinstep_lab.traces(twinstep_driver)
    twinstep_lab.notes["compared"] = [f"horizon {twinstep_driver}"]
    outcome, broken = check_horizons(twinstep_lab.runner, traces, twinstep_lab.rules)
    _note(twinstep_lab, twinstep_driver, outcome)
    if broken:
        twinstep_lab.fail("; ".join(broken))


@pytest.mark.gates("averages")
@pytest.mark.needs("rules.averages")
@_plays_on_the_candidate
def test_whole_episodes_are_alike_on_average(twinstep_lab, twinstep_driver):
    """Returns and moments of whole episodes are equivalent, whatever their single steps are."""
    twinstep_lab.notes["compared"] = [f"averages {twinstep_driver}"]
    outcome, broken = check_averages(
        twinstep_lab.runner,
        twinstep_lab.traces(twinstep_driver),
        twinstep_lab.rules,
        _on_candidate(twinstep_lab, twinstep_driver),
    )
    _note(twinstep_lab, twinstep_driver, outcome)
    if broken:
        twinstep_lab.fail("; ".join(broken))


@pytest.mark.gates("distribution")
@pytest.mark.needs("rules.distributions")
@_plays_on_the_candidate
def test_starts_and_steps_are_alike_in_distribution(twinstep_lab, twinstep_driver):
    """What each side draws for itself is exchangeable: first frames, and a step of each episode."""
    twinstep_lab.notes["compared"] = [f"distribution {twinstep_driver}"]
    require_alike_steps(twinstep_lab, twinstep_driver)


def _on_candidate(lab, driver):
    """Return the driver that plays on the candidate; None where its actions depend on no frame."""
    if driver in drivers.BLIND and not lab.contract.masked:
        return None
    return registry.load_object(lab.pair.subject.driver(driver))


def _note(lab, driver, outcome):
    """Print what was measured beside what is allowed, and keep the numbers for the verdict."""
    lab.notes["numbers"] = {f"{driver}: {name}": value for name, value in outcome.numbers.items()}
    label = lab.pair.label
    lab.notes["lines"] = [f"L3 {label} {driver}, {line}" for line in outcome.lines]
