"""Level 2: the modules together, one step and a few, from states that play may never reach."""

from collections import Counter

import numpy as np
import pytest

from twinstep.frames import take_lanes
from twinstep.reference.ranges_seen import values_seen
from twinstep.testing import Case, broken_shares, frames_differ, some_starts

pytestmark = pytest.mark.level2

#: Fields, and values of each, that a note names at most.
MOST = 5


def _has_legal_actions(facts, row):
    """Placed states of a masked game have legal actions only where the reference places them."""
    masked = facts.pair.subject.contract.masked
    return not masked or facts.oracle is None or "places" in facts.oracle


_placed = pytest.mark.needs(
    *("contract.placed", "candidate.load", "oracle.load"),
    when=_has_legal_actions,
    why="needs oracle.places",
)


def _first_wrong(found, count):
    wrong = _wrong(found, count)
    return int(np.flatnonzero(wrong)[0]), int(wrong.sum())


def _wrong(found, count):
    return np.logical_or.reduce([rows.reshape(-1, count).any(0) for rows in found.values()])


def _likeliest(lab, states, wrong):
    """Return a wrong state, one of values that play had if there is one; else say which it had not.

    A range may hold values from which no step begins, as the places where an episode ends.
    """
    traces = lab.reference.traces(lab.contract.drivers[0], pair=lab.pair)
    strange, names = np.zeros(len(wrong), bool), []
    for name, values in values_seen(lab.contract, traces).items():
        new = ~np.isin(states[name], values).reshape(len(wrong), -1).all(1)
        strange |= new
        if (new & wrong).any():
            those = np.setdiff1d(states[name][new & wrong], values)[:MOST].tolist()
            names.append(f"{name} {', '.join(map(str, those))}")
    usual = np.flatnonzero(wrong & ~strange)
    if len(usual):
        return int(usual[0]), ""
    note = (
        "Each placed state that differs has a value with which no recorded step begins "
        f"({'; '.join(names[:MOST])}): if the reference is never there, narrow the field's range, "
        "offer `places` in the oracle, or leave this check out by `placed=0` in the contract. "
    )
    return int(np.flatnonzero(wrong)[0]), note


def _sorts(found, count):
    """Say how many states differ in which paths together: each may be a bug of its own."""
    rows = {path: wrong.reshape(-1, count).any(0) for path, wrong in found.items()}
    sorts = Counter(
        tuple(path for path in sorted(rows) if rows[path][at])
        for at in np.flatnonzero(np.logical_or.reduce(list(rows.values())))
    )
    return ", ".join(f"{n} in {{{', '.join(paths)}}}" for paths, n in sorts.most_common(3))


@_placed
def test_step_from_placed_states_matches_the_oracle(twinstep_lab):
    """One step from states over the whole declared range gives the oracle's frame."""
    contract, count = twinstep_lab.contract, twinstep_lab.contract.placed
    states, actions = twinstep_lab.reference.states(
        count, "placed", dtype=twinstep_lab.runner.dtype
    )
    actions = actions[None]
    starts = some_starts(contract, count)
    want, _ = twinstep_lab.oracle.steps(states, actions, starts)
    twinstep_lab.notes["seen"] = ["truncated"] if want["truncated"].any() else []
    got = twinstep_lab.runner.play_from(states, actions)
    found = frames_differ(want, got, twinstep_lab.rules.from_placed())
    if found:
        wrong = _wrong(found, count)
        at, strange = _likeliest(twinstep_lab, states, wrong)
        case = Case(
            "step",
            take_lanes(starts, at),
            actions[:, at],
            {name: values[at] for name, values in states.items()},
        )
        total = int(wrong.sum())
        note = f"{total} of {count} placed states differ ({_sorts(found, count)}); the first:"
        twinstep_lab.fail_with_case(case, strange + note)
    broken = broken_shares(want, got, twinstep_lab.rules.placed)
    if broken:
        twinstep_lab.fail("; ".join(broken))


@_placed
@pytest.mark.needs("candidate.restart", "oracle.restart")
def test_restart_of_placed_states_matches_the_oracle(twinstep_lab):
    """The auto-reset keeps and clears the same fields as the reference's."""
    contract, count = twinstep_lab.contract, twinstep_lab.contract.placed
    states, _ = twinstep_lab.reference.states(count, "restart", dtype=twinstep_lab.runner.dtype)
    starts = some_starts(contract, count)
    want = twinstep_lab.oracle.restarts(states, starts)
    _, got = twinstep_lab.runner.restart(twinstep_lab.runner.load(states))
    found = frames_differ(want, got, twinstep_lab.rules.one_step())
    if found:
        at, total = _first_wrong(found, count)
        none = np.zeros((0, *contract.action_layout()[1]), contract.action_layout()[0])
        state = {name: values[at] for name, values in states.items()}
        case = Case("restart", take_lanes(starts, at), none, state)
        twinstep_lab.fail_with_case(case, f"{total} of {count} placed states differ; the first:")
