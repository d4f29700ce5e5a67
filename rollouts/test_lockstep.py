"""Level 3: whole episodes, the same starts, the same actions, every field at every step."""

import pytest

from twinstep.lockstep import broken_fractions, check_episodes, check_from_states

pytestmark = pytest.mark.level3


@pytest.mark.gates("lockstep")
def test_episodes_match(lab, driver):
    """Every recorded episode, replayed without correction, agrees under the lockstep gates."""
    gates = lab.rules.lockstep()
    if not gates:
        pytest.skip("every field of this candidate has a resync or window gate")
    traces = lab.traces(driver)
    lab.notes["compared"] = [f"lockstep {driver}"]
    lab.require_equal(check_episodes(lab.runner, traces, gates))


@pytest.mark.gates("resync")
def test_steps_from_the_oracles_states_match(lab, driver):
    """Short runs from the oracle's own states agree under the resync and window gates."""
    rules = lab.rules
    if not (rules.resync() or rules.windows()):
        pytest.skip("every field of this candidate is compared in lockstep")
    traces = lab.traces(driver)
    lab.notes["compared"] = [f"resync {driver}"]
    outcome = check_from_states(lab.runner, traces, rules)
    lab.notes["numbers"] = {f"{driver}: {name}": value for name, value in outcome.numbers.items()}
    lab.require_equal(outcome)
    broken = broken_fractions(outcome, rules)
    if broken:
        lab.fail("; ".join(broken))
