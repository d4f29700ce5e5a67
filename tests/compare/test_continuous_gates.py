"""Gates of continuous physics: windows, horizons, averages, placed states; on the drifting toy."""

import dataclasses

import numpy as np
import pytest

from twinstep._lib import stats
from twinstep.compare.arrays import Named, Rules, broken_shares, frames_differ
from twinstep.compare.averages import check_averages
from twinstep.compare.horizon import check_horizons
from twinstep.compare.resync import broken_fractions, check_from_states
from twinstep.frames import take_lanes
from twinstep.gates import Averages, GateRule, Horizon, Resync, Window
from twinstep.inputs.sampling import sample_actions, sample_states, some_starts
from twinstep.reference import placed_states
from twinstep.tests.support import toy_labs
from twinstep.tests.toys import drift
from twinstep.tests.toys.drift import DRIFT, Oracle


@pytest.fixture(scope="module")
def labs(tmp_path_factory):
    with toy_labs.labs(tmp_path_factory.mktemp("drift"), DRIFT, 20) as lab_of:
        yield {ref.name: lab_of(ref.name) for ref in DRIFT.candidates}


def _with(lab, gate):
    return dataclasses.replace(lab.rules, named=(Named("H", "state.angle", gate),))


def _first_beyond(lab, eps):
    """Count, episode by episode, the steps before an error exceeds eps."""
    found = []
    for chunk in lab.traces("random").chunks():
        truth = chunk.window(0, ["state.angle"])["state.angle"]
        for lane in range(chunk.lanes):
            play = (take_lanes(chunk.starts, lane), chunk.actions_of(lane))
            (got,) = lab.runner.replays([play])
            length = int(chunk.lengths[lane])
            size = np.abs(got["state.angle"] - truth[: length + 1, lane])
            found.append(int(np.argmax(size > eps)) - 1 if (size > eps).any() else length)
    return found


@pytest.mark.parametrize(("name", "eps"), [("f32", 3e-7), ("wrong32", 1e-3), ("f64", 1e-9)])
def test_a_horizon_is_the_number_of_steps_before_the_first_error_beyond_it(labs, name, eps):
    lab = labs[name]
    outcome, broken = check_horizons(lab.runner, lab.traces("random"), _with(lab, Horizon(eps, 0)))
    steps = _first_beyond(lab, eps)
    assert not broken
    assert outcome.numbers == {f"state.angle within {eps:g}, median steps": np.median(steps)}
    assert f"for {min(steps)} / {np.median(steps):g} / {max(steps)} steps" in outcome.lines[0]


def test_episodes_that_part_too_soon_are_said_with_what_was_asked(labs):
    lab = labs["wrong32"]
    _, broken = check_horizons(
        lab.runner, lab.traces("random"), _with(lab, Horizon(1e-3, 50, least=40))
    )
    least, median = broken
    assert "an episode leaves 0.001 after" in least
    assert "at least 40 are asked" in least
    assert "the median episode leaves 0.001 after" in median


def test_a_window_may_allow_a_share_beyond_its_threshold(labs):
    lab = labs["wrong32"]
    for allowed, ends in ((1.0, []), (0.0, ["allowed 0.000%"])):
        rules = _with(lab, Window(5, 1.0, ((2e-4, allowed),)))
        outcome = check_from_states(lab.runner, lab.traces("random"), rules)
        assert not outcome.divergences
        assert 0 < outcome.numbers["state.angle over 5 steps > 0.0002"] < 1
        found = broken_fractions(outcome, rules)
        assert [line[-len(end) :] for line, end in zip(found, ends, strict=True)] == ends
        assert outcome.lines[0].startswith("gate H, 1,200 steps: state.angle max over 5 steps")


def test_steps_from_placed_states_are_held_to_shares_too():
    """A step's error is its worst element's; a share may be reached, not exceeded."""
    want = {"reward": np.zeros((1, 10, 1)), "obs": np.zeros((1, 10, 1, 3))}
    got = {path: values.copy() for path, values in want.items()}
    got["obs"][0, :3, 0, 1] = 0.5
    got["obs"][0, 2, 0, 2] = np.nan
    gates = {"reward": Resync(1.0, ((0.0, 0.0),)), "obs": Resync(1.0, ((0.1, 0.3),))}
    assert broken_shares(want, got, gates) == []
    got["obs"][0, 3] = -0.2
    (line,) = broken_shares(want, got, gates)
    assert line == "`obs`: 40.000% of 10 errors from placed states exceed 0.1, allowed 30.000%"
    assert broken_shares(want, got, {"obs": Window(1, 1.0, ((0.1, 0.0),))}) == []


def test_placed_states_are_played_in_groups_of_few_lanes(monkeypatch):
    """A reference whose lanes are large cannot open one for each of 16,384 states."""
    contract, rng = DRIFT.contract(DRIFT.params({})), np.random.default_rng(1)

    class Many(Oracle):
        opened = []

        def lanes(self, count):
            self.opened.append(count)
            return Side(contract, count)

    states, starts = sample_states(contract, 23, rng), some_starts(contract, 23)
    actions = np.stack([sample_actions(contract, 23, rng) for _ in range(3)])
    plays = []
    for most in (1024, 5):
        monkeypatch.setattr(placed_states, "MOST_LANES", most)
        args = (states, actions, starts, lambda *_: None)
        plays.append(placed_states.play_from(Many(contract), contract, *args)[0])
    assert Many.opened == [23, 5]
    for path, values in plays[0].items():
        np.testing.assert_array_equal(values, plays[1][path])


class Side:
    """Lanes made of single pendulums."""

    def __init__(self, contract, count):
        self._all = [Oracle(contract) for _ in range(count)]

    def reset(self, starts):
        assert len(starts.seed) == len(self._all)

    def load(self, state, lanes):
        for lane in lanes:
            self._all[lane].load({name: values[lane] for name, values in state.items()})

    def step(self, actions, live):
        frames = [oracle.step(action) for oracle, action in zip(self._all, actions, strict=True)]
        heads = {n: np.stack([getattr(f, n) for f in frames]) for n in
                 ("obs", "reward", "terminated", "truncated", "acting")}  # fmt: skip
        state = {n: np.stack([f.state[n] for f in frames]) for n in frames[0].state}
        return frames[0]._replace(**heads, state=state)


def _averaged(lab, margin, paths=("reward", "obs")):
    named = tuple(Named("D", path, Averages(margin)) for path in paths)
    return dataclasses.replace(lab.rules, named=named)


def _episodes(lab, candidate):
    """Return rewards f64[E, T] and observations f64[E, T, 3] of whole episodes, one by one."""
    rewards, seen = [], []
    for chunk in lab.traces("random").chunks():
        truth = chunk.window(0, ["reward", "obs"])
        for lane in range(chunk.lanes):
            steps = slice(1, int(chunk.lengths[lane]) + 1)
            of = {path: values[:, lane] for path, values in truth.items()}
            if candidate:
                (of,) = lab.runner.replays(
                    [(take_lanes(chunk.starts, lane), chunk.actions_of(lane))]
                )
            rewards.append(of["reward"][steps, 0].astype(np.float64))
            seen.append(of["obs"][steps, 0].astype(np.float64))
    return np.array(rewards), np.array(seen)


def test_averages_are_those_of_the_episodes_one_by_one(labs):
    """The return, and of an element the mean and the mean of its square, paired by episode."""
    lab = labs["wrong32"]
    outcome, broken = check_averages(lab.runner, lab.traces("random"), _averaged(lab, 50.0), None)
    (theirs, seen), (ours, shown) = _episodes(lab, False), _episodes(lab, True)
    reach = {}
    for name, one, other in (
        ("reward", ours.sum(1), theirs.sum(1)),
        ("obs", shown.mean(1), seen.mean(1)),
        ("obs", (shown**2).mean(1), (seen**2).mean(1)),
    ):
        pairs = zip(one.reshape(20, -1).T, other.reshape(20, -1).T, strict=True)
        for mine, truth in pairs:
            found = stats.paired(mine / truth.std(ddof=1), truth / truth.std(ddof=1), 50.0)
            reach[name] = max(reach.get(name, 0.0), -found.low, found.high)
    assert not broken
    assert outcome.numbers == {
        f"{name} averages reach": pytest.approx(far) for name, far in reach.items()
    }
    assert "6 averages of obs" in outcome.lines[1]


def test_averages_that_are_off_are_said_to_be_different(labs):
    """Planted: 5 % more damping lowers the speed of every episode a little."""
    lab = labs["wrong32"]
    _, broken = check_averages(lab.runner, lab.traces("random"), _averaged(lab, 1e-3), None)
    # Its return varies too much to be told apart, which does not make it equivalent.
    assert any(line.startswith("return: not shown within 0.001") for line in broken)
    assert any(line.startswith("obs.speed squared: different") for line in broken)


def test_a_driver_that_looks_plays_on_what_the_candidate_shows(labs):
    """Actions of a policy are its own on either side; recorded ones would be another game."""
    seen = []

    def watching(contract, starts, look):
        def act(frame, t):
            seen.append(np.asarray(frame.obs).dtype)
            return np.sign(np.asarray(frame.obs)[:, :, 2]).reshape(-1, 1)

        return act

    lab = labs["f32"]
    outcome, _ = check_averages(lab.runner, lab.traces("random"), _averaged(lab, 1e9), watching)
    assert len(seen) == 60  # steps of an episode; all lanes fit into one batch
    assert set(seen) == {np.dtype("float32")}
    assert outcome.steps == 20 * 60


def test_a_bound_of_zero_on_one_step_tells_no_zero_from_the_other():
    """Its errors are 0; Acrobot's reward is -0 in one library and 0 in another."""
    contract = dataclasses.replace(drift.contract({}), gates=(GateRule(Resync(0.0)),))
    rules = Rules.of(contract, candidate="f64", dtype="float64", platform="cpu")
    one = {"reward": np.array([[[0.0]], [[1.0]]])}
    other = {"reward": np.array([[[-0.0]], [[1.5]]])}
    gates = {"reward": rules.one_step()["reward"]}
    assert frames_differ(one, other, gates)["reward"].ravel().tolist() == [False, True]
