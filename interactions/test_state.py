"""Level 2: the frame's state is enough, and what is called irrelevant is irrelevant."""

import weakref

import numpy as np
import pytest

from twinstep.compare.arrays import Rules
from twinstep.contract import Role
from twinstep.diagnosis.two_answers import first_values
from twinstep.frames import take_lanes
from twinstep.gates import Lockstep
from twinstep.testing import Case, differs, frames_differ

pytestmark = pytest.mark.level2

#: Steps continued after a state was handed over, and steps before it: fewer where episodes are
#: shorter.
STEPS, BEFORE = 50, 8
#: Episodes shorter than this are level 3's alone: hardly a step would be left to continue.
LEAST = 16
#: Lanes that are cut at most.
LANES = 32
#: Candidate -> driver -> its `_cut`, and what the candidate gives from there.
_CONTINUED = weakref.WeakKeyDictionary()


def _cut(reference, driver, pair=None):
    """Return (starts, states, actions [T, N], frames after) from the middle of episodes.

    None if all episodes are too short. Hidden fields of the states are the oracle's after playing
    so far once more.
    """
    traces = reference.traces(driver, pair=pair)
    names = [field.name for field in reference.contract.shown]
    paths = [f"state.{name}" for name in names]
    chunks = traces.chunks()
    chunk = next(chunks)
    longest = int(chunk.lengths.max())
    if longest < LEAST:
        return None
    steps = min(STEPS, (longest + 1) // 2)
    before = min(BEFORE, longest - steps)
    lanes = np.flatnonzero(chunk.lengths >= steps + before)[:LANES]
    compared = reference.contract.compared_paths()
    frames = chunk.window(0, sorted({*paths, *compared}))
    actions = chunk.window_actions(0)
    at = np.minimum(before + 13 * np.arange(len(lanes)), chunk.lengths[lanes] - steps)
    at = np.minimum(at, len(actions) - steps)
    states = {name: frames[f"state.{name}"][at, lanes] for name in names}
    moves = np.stack([actions[at + k, lanes] for k in range(steps)])
    after = {p: np.stack([frames[p][at + k + 1, lanes] for k in range(steps)]) for p in compared}
    starts = take_lanes(chunk.starts, lanes)
    chunks.close()
    if reference.contract.hidden:
        trials = [
            (take_lanes(starts, n), {}, actions[: at[n], lane]) for n, lane in enumerate(lanes)
        ]
        found = reference.oracle.hidden_after(trials)
        states |= {name: np.stack([each[name] for each in found]) for name in found[0]}
    return starts, states, moves, after


def _cut_or_skip(reference, driver, pair=None):
    cut = _cut(reference, driver, pair)
    if cut is None:
        pytest.skip(f"no {driver} episode has {LEAST} steps")
    return cut


def _continued(lab, driver):
    """Return a driver's cut, None if there is none, and what the candidate gives from there.

    The run's other drivers are played with it: a compiled candidate has room for their lanes.
    """
    known = _CONTINUED.setdefault(lab.runner, {})
    if driver not in known:
        drivers = dict.fromkeys([driver, *lab.reference.drivers])
        cuts = {name: _cut(lab.reference, name, lab.pair) for name in drivers}
        known.update((name, (None, {})) for name in drivers)
        lengths = {name: len(cut[2]) for name, cut in cuts.items() if cut is not None}
        for steps in set(lengths.values()):
            known.update(_played(lab, {n: cuts[n] for n in lengths if lengths[n] == steps}))
    return known[driver]


def _played(lab, cuts):
    """Return `_continued` of each driver's cut; all have as many steps."""
    states, moves = ([cut[place] for cut in cuts.values()] for place in (1, 2))
    together = {name: np.concatenate([each[name] for each in states]) for name in states[0]}
    got = lab.runner.play_from(together, np.concatenate(moves, 1))
    ends = np.cumsum([each.shape[1] for each in moves])[:-1]
    parts = {path: np.split(values, ends, 1) for path, values in got.items()}
    return {
        driver: (cut, {path: each[n] for path, each in parts.items()})
        for n, (driver, cut) in enumerate(cuts.items())
    }


def _from_itself(subject, want, got, how):
    """Say where two answers [T, N, ...] of the oracle differ first; "" where they do not.

    Exactly, but zeros of both signs are one where no candidate's gate tells them apart. how: the
    two ways in which it was asked.
    """
    contract = subject.contract
    gates = [
        Rules.of(contract, candidate=each.name, dtype=dtype, platform="cpu").one_step()
        for each in subject.env.candidates
        for dtype in ("float32", "float64")
    ]
    exact = {
        path: Lockstep(signed_zeros=any(path in of and of[path].signed_zeros for of in gates))
        for path in want
    }
    found = frames_differ(want, got, exact)
    return found and first_values(contract, want, got, exact, found, how, 1)


def _require_equal(lab, starts, states, actions, want, got):
    """Fail with the shortest run from a loaded state that differs from the oracle's."""
    found = frames_differ(want, got, lab.rules.lockstep())
    if not found:
        return
    wrong = np.logical_or.reduce(list(found.values()))
    step = int(wrong.any(1).argmax())
    lane = int(wrong[step].argmax())
    state = {name: values[lane] for name, values in states.items()}
    case = Case("step", take_lanes(starts, lane), actions[: step + 1, lane], state)
    note = f"{wrong.any(0).sum()} of {wrong.shape[1]} loaded states differ; the first:"
    lab.fail_with_case(case, note)


def _irrelevant(contract):
    return [field for field in contract.state if field.role is Role.IRRELEVANT]


def _can_present(facts, row):
    """Hidden fields of a candidate's state are read by `frame`."""
    hidden = facts.pair.subject.contract.hidden
    return not hidden or facts.candidate is None or "frame" in facts.candidate.methods


#: Continuous physics is compared one step from the oracle's states.
_continues = pytest.mark.needs("candidate.load", "not rules.from_states")


@pytest.mark.needs("oracle.load")
def test_oracle_continues_exactly_from_a_frames_state(twinstep_reference):
    """The declared state is sufficient: loaded into the oracle, it plays on as if uninterrupted."""
    for driver in twinstep_reference.contract.drivers:
        starts, states, actions, after = _cut_or_skip(twinstep_reference, driver)
        got, _ = twinstep_reference.oracle.steps(states, actions, starts)
        how = "uninterrupted", "from there"
        if said := _from_itself(twinstep_reference.subject, after, got, how):
            pytest.fail(
                f"{twinstep_reference.subject.label}: the oracle, loaded with its own frame's "
                f"state, goes on otherwise than uninterrupted ({said}): `state` lacks a "
                "field that matters, or the oracle's `load` does not set one"
            )


@pytest.mark.needs(
    "oracle.load",
    when=lambda facts, row: _irrelevant(facts.pair.subject.contract),
    why="the contract calls no field irrelevant",
)
def test_irrelevant_fields_change_nothing_else(twinstep_reference):
    """A field called irrelevant is perturbed; no compared field of the next 50 steps moves."""
    fields = _irrelevant(twinstep_reference.contract)
    for driver in twinstep_reference.contract.drivers:
        starts, states, actions, after = _cut_or_skip(twinstep_reference, driver)
        for field in fields:
            changed = dict(states)
            other = np.ones_like(states[field.name]) + states[field.name] * 3
            assert not np.array_equal(other, states[field.name])
            changed[field.name] = other
            got, _ = twinstep_reference.oracle.steps(changed, actions, starts)
            how = "with the value played", "with another"
            if said := _from_itself(twinstep_reference.subject, after, got, how):
                pytest.fail(
                    f"{twinstep_reference.subject.label}: `{field.name}` is declared irrelevant "
                    f"and is not: with other values of it the oracle differs ({said})"
                )


@_continues
def test_oracles_state_continues_in_the_candidate(twinstep_lab, twinstep_driver):
    """The oracle's state, loaded into the candidate, gives the oracle's next 50 steps."""
    cut, got = _continued(twinstep_lab, twinstep_driver)
    if cut is None:
        pytest.skip(f"no {twinstep_driver} episode has {LEAST} steps")
    starts, states, actions, after = cut
    _require_equal(twinstep_lab, starts, states, actions, after, got)


@_continues
@pytest.mark.needs("oracle.load", when=_can_present, why="needs candidate.frame")
def test_candidates_state_continues_in_the_oracle(twinstep_lab, twinstep_driver):
    """The candidate's state, loaded into the oracle, gives the candidate's next 50 steps."""
    starts, states, actions, _ = _cut_or_skip(
        twinstep_lab.reference, twinstep_driver, twinstep_lab.pair
    )
    first = min(10, len(actions) // 2)
    if twinstep_lab.contract.hidden:
        state, moved = twinstep_lab.runner.step_loop(
            twinstep_lab.runner.load(states), actions[:first]
        )
    else:
        state, moved = None, twinstep_lab.runner.play_from(states, actions[:first])
    handed = states | {
        f.name: moved[f"state.{f.name}"][-1]
        for f in twinstep_lab.contract.shown
        if f"state.{f.name}" in moved
    }
    if state is not None:
        handed = twinstep_lab.runner.present(state)
    ended = moved["terminated"].any(0) | moved["truncated"].any(0)
    want, _ = twinstep_lab.oracle.steps(handed, actions[first:], starts)
    got = twinstep_lab.runner.play_from(handed, actions[first:])
    alive = ~(ended | want["terminated"].any(0) | want["truncated"].any(0))
    _require_equal(
        twinstep_lab,
        take_lanes(starts, alive),
        {name: values[alive] for name, values in handed.items()},
        actions[first:, alive],
        {path: want[path][:, alive] for path in got},
        {path: values[:, alive] for path, values in got.items()},
    )


@pytest.mark.needs("contract.hidden", "candidate.frame")
def test_hidden_state_matches_the_oracle(twinstep_lab, twinstep_driver):
    """Fields that no frame shows agree too, in the middle of episodes and at their beginning."""
    starts, states, actions, _ = _cut_or_skip(
        twinstep_lab.reference, twinstep_driver, twinstep_lab.pair
    )
    trials = [
        (take_lanes(starts, n), {name: v[n] for name, v in states.items()}, actions[:, n])
        for n in range(actions.shape[1])
    ]
    begins = [(start, {}, none[:0]) for start, _, none in trials]
    rounds = [(False, begins), *([(True, trials)] if twinstep_lab.runner.offers("load") else [])]
    for loaded, asked in rounds:
        found = twinstep_lab.oracle.hidden_after(asked)
        want = {name: np.stack([each[name] for each in found]) for name in found[0]}
        state = twinstep_lab.runner.load(states) if loaded else twinstep_lab.runner.reset(starts)[0]
        if loaded:
            state, _ = twinstep_lab.runner.step_loop(state, actions)
        have = twinstep_lab.runner.present(state)
        got = {name: have[name] for name in want}
        differ = [name for name in sorted(want) if differs(want[name], got[name], Lockstep()).any()]
        if differ:
            twinstep_lab.fail(
                f"{', '.join(differ)} differ (hidden fields), "
                f"{f'after {len(actions)} steps from a given state' if loaded else 'at reset'}."
            )
