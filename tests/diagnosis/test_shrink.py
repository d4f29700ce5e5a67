"""Shrinking: what comes out diverges, and nothing can be left out of it."""

import time
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twinstep import Box
from twinstep.diagnosis import diagnose
from twinstep.diagnosis.shrink import runs_of, shrink, unroll

RUNS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 30)), min_size=1, max_size=12)
PATTERN = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def _actions(runs):
    return np.repeat([a for a, _ in runs], [n for _, n in runs]).astype(np.int32)[:, None]


def _first(pattern, gap):
    """Diverge once the pattern was played, with at least `gap` equal actions before its end."""

    def at(actions):
        wanted, held = 0, 0
        for step, action in enumerate(actions[:, 0].tolist(), 1):
            held = held + 1 if step > 1 and action == actions[step - 2, 0] else 1
            if wanted < len(pattern) and action == pattern[wanted]:
                wanted += 1
            if wanted == len(pattern) and held >= gap:
                return step
        return -1

    return at


def _without_one(actions):
    """Every list that lacks one run, or one step of a run."""
    runs = runs_of(actions)
    for place, (action, count) in enumerate(runs):
        yield unroll(runs[:place] + runs[place + 1 :], actions)
        yield unroll([*runs[:place], (action, count - 1), *runs[place + 1 :]], actions)


@given(RUNS, PATTERN, st.integers(1, 5))
def test_result_is_one_minimal_by_brute_force(runs, pattern, gap):
    first = _first(pattern, gap)
    actions = _actions(runs)
    at = first(actions)
    if at < 0:
        return
    small = shrink(actions[:at], lambda trials: [first(trial) for trial in trials])
    assert small.minimal
    assert first(small.actions) == len(small.actions)
    assert all(first(fewer) < 0 for fewer in _without_one(small.actions))


@given(RUNS, PATTERN, st.integers(0, 300))
def test_a_spent_budget_still_answers_with_what_was_seen_to_diverge(runs, pattern, budget):
    first = _first(pattern, 1)
    actions = _actions(runs)
    at = first(actions)
    if at < 0:
        return
    small = shrink(actions[:at], lambda trials: [first(trial) for trial in trials], budget, 0)
    assert first(small.actions) == len(small.actions)
    # A batch that has begun is finished: the budget is overdrawn by one batch at most.
    assert small.oracle_steps <= budget + 32 * at


def test_no_question_is_asked_twice():
    first = _first([1, 2, 1], 2)
    actions = _actions([(0, 20), (1, 9), (3, 5), (2, 8), (0, 4), (1, 12)])
    asked = []

    def diverges(trials):
        asked.extend(trial.tobytes() for trial in trials)
        return [first(trial) for trial in trials]

    shrink(actions[: first(actions)], diverges)
    assert len(asked) == len(set(asked))


def test_a_divergence_at_reset_needs_no_action():
    small = shrink(_actions([(0, 1)])[:0], lambda trials: [0 for _ in trials])
    assert len(small.actions) == 0
    assert small.minimal


def test_steps_that_cancel_each_other_are_left_out_together():
    """Action 2 shows the bug at place 0 alone; 1 and 3 move there and back."""

    def first(actions):
        place = 0
        for step, action in enumerate(actions[:, 0].tolist(), 1):
            place += (0, 1, 0, -1)[action]
            if action == 2 and place == 0:
                return step
        return -1

    actions = _actions([(1, 1), (0, 1), (3, 1), (2, 1)])
    small = shrink(actions, lambda trials: [first(trial) for trial in trials])
    assert small.actions[:, 0].tolist() == [2]
    assert small.minimal


def test_pairs_are_left_alone_where_they_would_cost_too_much():
    def asked_of(length):
        asked = []

        def diverges(trials):
            asked.extend(len(trial) for trial in trials)
            return [length if len(trial) == length else -1 for trial in trials]

        assert shrink(_actions([(n % 3, 1) for n in range(length)]), diverges).minimal
        return asked.count(length - 2)

    assert asked_of(10) >= 45
    assert asked_of(60) < 60 * 59 // 2


def test_cheap_steps_may_be_more_than_the_budget_and_dear_ones_end_by_the_clock(monkeypatch):
    first = _first([1, 2, 1], 2)
    actions = _actions([(0, 20), (1, 9), (3, 5), (2, 8), (0, 4), (1, 12)])
    actions = actions[: first(actions)]
    diverges = lambda trials: [first(trial) for trial in trials]  # noqa: E731
    assert shrink(actions, diverges, 1).minimal
    clock = iter(range(0, 10**6, 200))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert not shrink(actions, diverges).minimal


def _shrunk_torque(monkeypatch, differs):
    """Shrink actions of which the third lies beyond its range; differs(actions [T]) -> bool[T]."""

    def asked(trials, *_):
        found = [np.flatnonzero(differs(actions[:, 0, 0])) for _, actions in trials]
        steps = [int(at[0]) + 1 if len(at) else -1 for at in found]
        return [SimpleNamespace(step=step, paths=("obs",)) for step in steps]

    monkeypatch.setattr(diagnose, "ask_episodes", asked)
    actions = np.array([0.5, -0.25, 3.0], np.float32).reshape(3, 1, 1)
    first = SimpleNamespace(actions=actions, start=None, miss=SimpleNamespace(paths=("obs",)))
    contract = SimpleNamespace(action=Box(-2.0, 2.0, (1,), beyond=1.5))
    case, _ = diagnose.shrink_episode(first, None, SimpleNamespace(contract=contract), None)
    return case.actions[:, 0, 0].tolist()


def test_an_action_beyond_its_range_is_left_where_one_inside_shows_it_too(monkeypatch):
    assert _shrunk_torque(monkeypatch, lambda actions: actions >= 1.0) == [2.0]


def test_an_action_beyond_its_range_stays_where_it_takes_one(monkeypatch):
    assert _shrunk_torque(monkeypatch, lambda actions: actions > 2.0) == [3.0]
