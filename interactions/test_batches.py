"""Level 2: how a candidate is called must not matter. No oracle is asked."""

import numpy as np
import pytest

from twinstep.action_mask import legalise
from twinstep.frames import flatten, take_lanes
from twinstep.testing import WINDOW, chunk_lanes, drawn_sizes, sample_actions, some_starts

# How a candidate is called does not hang on its parameters.
pytestmark = [pytest.mark.level2, pytest.mark.calling]

STEPS = 40
#: Lanes that are played without compilation.
FEW = 4
#: Steps in batches of drawn sizes, and those for which frames are held.
DRAWN, HELD = 8, 300
#: Steps of one process in the long proof.
LONG = 100_000


def _plan(lab, steps=STEPS, name="batches"):
    """Return starts and actions [T, N, P, ...], each legal where the candidate says what is.

    name: of the actions' random numbers; the starts are always the same.
    """
    rng = lab.reference.rng(name)
    lanes = chunk_lanes(lab.contract)  # as level 3 has, so that nothing further is compiled
    starts = some_starts(lab.contract, lanes)
    actions = np.stack([sample_actions(lab.contract, lanes, rng) for _ in range(steps)])
    if lab.contract.masked:
        _make_legal(lab.runner, starts, actions)
    return starts, actions


def _play(runner, starts, actions):
    state, first = runner.reset(starts)
    _, frames = runner.step_loop(state, actions)
    return {path: np.concatenate([first[path][None], frames[path]]) for path in frames}


def test_a_batch_equals_its_lanes_one_by_one(twinstep_lab):
    """Batch N equals N batches of one, to the last bit, or within gates where each lane parts."""
    starts, actions = _plan(twinstep_lab)
    whole = _play(twinstep_lab.runner, starts, actions)
    lanes = actions.shape[1]
    for lane in range(0, lanes, max(1, lanes // 5)):
        alone = _play(
            twinstep_lab.runner, take_lanes(starts, np.array([lane])), actions[:, lane : lane + 1]
        )
        part = {p: v[:, lane : lane + 1] for p, v in whole.items()}
        how = (f"as lane {lane} of {lanes}", "alone")
        twinstep_lab.require_same_play(part, alone, how)


@pytest.mark.calling(compiles="own")
def test_batches_of_sizes_drawn_for_this_run_equal_their_lanes(twinstep_lab):
    """Nobody knows beforehand in which sizes a candidate is called, as nobody does in use."""
    runner, contract = twinstep_lab.runner, twinstep_lab.contract
    asked = twinstep_lab.reference.harness.settings.batch_sizes
    any_size = getattr(runner.candidate, "any_size", False)
    sizes = asked or drawn_sizes(contract, DRAWN, 6 if any_size else 1)
    rng = twinstep_lab.reference.rng("drawn batches")
    for size in sizes:
        # The lanes of several of level 3's batches, the last one filled up.
        usual = chunk_lanes(contract)
        filled = -(-size // usual) * usual
        starts = some_starts(contract, filled)
        actions = np.stack([sample_actions(contract, filled, rng) for _ in range(DRAWN)])
        parts = []
        for begin in range(0, filled, usual):
            some = np.arange(begin, begin + usual)
            if contract.masked:
                _make_legal(runner, take_lanes(starts, some), actions[:, some[0] : some[-1] + 1])
            parts.append(_play(runner, take_lanes(starts, some), actions[:, some]))
        want = {p: np.concatenate([part[p] for part in parts], 1)[:, :size] for p in parts[0]}
        got = _play(runner, take_lanes(starts, np.arange(size)), actions[:, :size])
        how = (f"in batches of {usual}", f"in one of {size}")
        twinstep_lab.require_same_play(want, got, how)
    twinstep_lab.notes["batches"] = sizes


def _make_legal(runner, starts, actions):
    """Change actions [T, N, P, ...] in place so that each is legal where it is played."""
    state, frame = runner.reset(starts)
    for t in range(len(actions)):
        actions[t] = legalise(actions[t], frame["legal"])
        state, frame = runner.step(state, actions[t])


def test_the_order_of_lanes_does_not_matter(twinstep_lab):
    """Lanes in reverse order give the same episodes in reverse order."""
    starts, actions = _plan(twinstep_lab)
    back = np.arange(actions.shape[1])[::-1]
    whole = _play(twinstep_lab.runner, starts, actions)
    turned = _play(twinstep_lab.runner, take_lanes(starts, back), actions[:, back])
    back_again = {path: values[:, back] for path, values in whole.items()}
    how = ("in order", "with the lanes in reverse")
    twinstep_lab.require_same_play(back_again, turned, how)


def test_a_run_equals_its_repetition(twinstep_lab):
    """Two runs in one process are equal to the last bit."""
    starts, actions = _plan(twinstep_lab)
    one, other = (_play(twinstep_lab.runner, starts, actions) for _ in range(2))
    twinstep_lab.require_same(one, other, ("at first", "when repeated"))


@pytest.mark.needs("candidate.rollout")
def test_rollout_equals_the_step_loop(twinstep_lab):
    """The compiled rollout gives the frames of single steps, as above."""
    starts, actions = _plan(twinstep_lab, min(WINDOW, twinstep_lab.contract.horizon))
    # In the batch in which level 3 replays, so that nothing further is compiled.
    first, frames = twinstep_lab.runner.windows(starts, lambda _: actions, 1, actions.shape[1])
    joined = {path: np.concatenate([first[path], frames[path]]) for path in frames}
    stepped = _play(twinstep_lab.runner, starts, actions)
    twinstep_lab.require_same_play(stepped, joined, ("step by step", "in the rollout"))


@pytest.mark.recompiles
@pytest.mark.needs("candidate.eager")
def test_compiled_equals_eager(twinstep_lab):
    """Compilation changes nothing: exact, or within the contract's gates for floats."""
    starts, actions = _plan(twinstep_lab, 1 if twinstep_lab.pair.candidate.slow_to_compile else 6)
    want = {
        path: values[:, :FEW]
        for path, values in _play(twinstep_lab.runner, starts, actions).items()
    }
    few = take_lanes(starts, np.arange(FEW))
    got = _play(twinstep_lab.runner.eager(), few, actions[:, :FEW])
    how = ("compiled", "without compilation")
    twinstep_lab.require_same(want, got, how, twinstep_lab.rules.one_step())


def test_a_frame_keeps_its_values_when_the_game_goes_on(twinstep_lab):
    """What a step has returned is the caller's: a later step does not write over it."""
    starts, actions = _plan(twinstep_lab, 3)
    candidate = twinstep_lab.runner.candidate
    state, frame = candidate.reset(starts)
    frames = [frame]
    for action in actions:
        kept = [{path: np.array(v) for path, v in flatten(f).items()} for f in frames]
        state, frame = candidate.step(state, action)
        for before, held in zip(kept, frames, strict=True):
            now = flatten(held)
            changed = [p for p, v in before.items() if v.tobytes() != np.asarray(now[p]).tobytes()]
            if changed:
                twinstep_lab.fail(f"a later step changes an earlier frame: {', '.join(changed)}.")
        frames.append(frame)


def test_frames_keep_their_values_for_hundreds_of_steps(twinstep_lab):
    """A ring of buffers is long enough for a few steps, and not for a rollout of a trainer."""
    starts, actions = _plan(twinstep_lab, min(HELD, twinstep_lab.contract.horizon))
    candidate = twinstep_lab.runner.candidate
    state, frame = candidate.reset(starts)
    held = []
    for step, action in enumerate(actions):
        if step & (step - 1) == 0:  # 0, 1, 2, 4, 8, ...
            held.append((step, frame, {p: np.array(v) for p, v in flatten(frame).items()}))
        state, frame = candidate.step(state, action)
    for step, frame, before in held:
        now = flatten(frame)
        changed = [p for p, v in before.items() if v.tobytes() != np.asarray(now[p]).tobytes()]
        if changed:
            later = f"the frame of step {step} has changed after {len(actions)} steps"
            twinstep_lab.fail(f"{later}: {', '.join(changed)}.")


def test_states_stepped_in_turn_play_as_each_alone(twinstep_lab):
    """A candidate that keeps its game to itself, or by its seeds, and not in the state, plays one.

    Two of the three begin alike and go on differently.
    """
    starts, actions = _plan(twinstep_lab)
    back = np.arange(actions.shape[1])[::-1]
    runner = twinstep_lab.runner
    _, others = _plan(twinstep_lab, name="other actions")
    games = ((starts, actions), (take_lanes(starts, back), actions[:, back]), (starts, others))
    alone = [_play(runner, *game) for game in games]
    begun = [runner.reset(begin) for begin, _ in games]
    states = [state for state, _ in begun]
    rows = [[{path: v.copy() for path, v in frame.items()}] for _, frame in begun]
    for t in range(len(actions)):
        for game, (_, moves) in enumerate(games):
            states[game], frame = runner.step(states[game], moves[t])
            rows[game].append({path: v.copy() for path, v in frame.items()})
    for game, want in enumerate(alone):
        got = {path: np.stack([row[path] for row in rows[game]]) for path in want}
        twinstep_lab.require_same_play(want, got, ("alone", "in turn with other games"))


def test_a_state_that_waits_for_hundreds_of_steps_plays_on_as_before(twinstep_lab):
    """A pool of states is large enough for a few games, and not for a search that comes back."""
    starts, actions = _plan(twinstep_lab)
    runner, half = twinstep_lab.runner, len(actions) // 2
    want = _play(runner, starts, actions)
    state, _ = runner.reset(starts)
    state, _ = runner.step_loop(state, actions[:half])
    _, others = _plan(twinstep_lab, min(HELD, twinstep_lab.contract.horizon), "other actions")
    for _ in range(-(-2 * HELD // len(others))):
        other, _ = runner.reset(starts)
        for moves in others:
            other, _ = runner.candidate.step(other, moves)
    _, got = runner.step_loop(state, actions[half:])
    rest = {path: values[half + 1 :] for path, values in want.items()}
    twinstep_lab.require_same(rest, got, ("played on", "after other games"), first=half + 1)


@pytest.mark.slow
def test_after_a_hundred_thousand_steps_it_plays_as_at_first(twinstep_lab):
    """A counter that overflows, a table that fills up: a process of a trainer runs for days."""
    starts, actions = _plan(twinstep_lab)
    runner, contract = twinstep_lab.runner, twinstep_lab.contract
    want = _play(runner, starts, actions)
    _, window = _plan(twinstep_lab, min(WINDOW, contract.horizon), "other actions")
    for _ in range(-(-LONG // len(window))):
        state, _ = runner.reset(starts)
        runner.rollout(state, window)
    got = _play(runner, starts, actions)
    twinstep_lab.require_same(want, got, ("at first", f"after {LONG:,} steps"))


@pytest.mark.needs("candidate.copy")
def test_a_copied_state_survives_the_step_of_its_original(twinstep_lab):
    """A step may consume its state; a copy made before continues exactly."""
    starts, actions = _plan(twinstep_lab)
    state, _ = twinstep_lab.runner.reset(starts)
    kept = twinstep_lab.runner.candidate.copy(state)
    _, want = twinstep_lab.runner.step_loop(state, actions)
    _, got = twinstep_lab.runner.step_loop(kept, actions)
    twinstep_lab.require_same(want, got, ("played on", "from a copy"), first=1)
