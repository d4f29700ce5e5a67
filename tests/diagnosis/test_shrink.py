"""Shrinking: what comes out diverges, and nothing can be left out of it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
    small = shrink(actions[:at], lambda trials: [first(trial) for trial in trials], budget)
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
