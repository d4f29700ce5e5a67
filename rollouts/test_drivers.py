"""Level 3 proves something only if its episodes go somewhere: coverage over all drivers."""

import pytest

from twinstep.testing import some_starts

pytestmark = pytest.mark.level3


@pytest.mark.needs("contract.events", "oracle.events")
def test_every_declared_event_is_reached_by_public_episodes_or_placed_states(twinstep_reference):
    """Whatever seeds a run asks for; what play alone misses is printed with coverage."""
    contract = twinstep_reference.contract
    seen = dict.fromkeys(contract.events, 0)
    for driver in contract.drivers:
        for name, count in twinstep_reference.traces(driver).events().items():
            seen[name] += count
    never = [name for name, count in seen.items() if not count]
    drawn = contract.placed and (not contract.masked or twinstep_reference.oracle.offers("places"))
    if never and drawn and twinstep_reference.oracle.offers("load"):
        placed = _placed(twinstep_reference)
        never = [name for name in never if not placed[name]]
    assert not never, f"neither play nor placed states reached {', '.join(never)}"


def _placed(reference):
    """Return which events one step from the placed states of level 2 shows."""
    contract, count = reference.contract, reference.contract.placed
    states, actions = reference.states(count, "placed")
    _, events = reference.oracle.steps(states, actions[None], some_starts(contract, count))
    return dict(zip(contract.events, events.any((0, 1)), strict=True))


@pytest.mark.needs("contract.ends")
def test_some_driver_ends_episodes(twinstep_reference):
    """At least one driver's episodes end, so that terminal frames are compared."""
    ended = {}
    for driver in twinstep_reference.contract.drivers:
        traces = twinstep_reference.traces(driver)
        ended[driver] = traces.total("terminated") + traces.total("truncated")
    if not sum(ended.values()):
        horizon = twinstep_reference.contract.horizon
        pytest.fail(
            f"{twinstep_reference.subject.label}: no episode of {', '.join(ended)} ended within "
            f"the horizon of {horizon} steps, so that no last frame is compared: declare a driver "
            "that reaches an end or a longer horizon, or `ends=False` in the contract if episodes "
            "have no end"
        )
