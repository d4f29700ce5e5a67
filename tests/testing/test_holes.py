"""A candidate that is wrong only where nobody looks is not `equal`, and the right test says so."""

from xml.etree import ElementTree

import pytest

from twinstep.tests.support.project_folder import Project

PROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.sly:DUEL"
drift = "twinstep.tests.toys.sly:DRIFT"
faulty = "twinstep.tests.toys.sly:FAULTY"
"""
LEVELS = ("-m", "level1 or level2 or level3")
SEEDS = {
    "test_the_first_frame_matches_the_oracle_for_any_seed",
    "test_episodes_match",
}
DRAWN = "test_batches_of_sizes_drawn_for_this_run_equal_their_lanes"
TURNS = "test_states_stepped_in_turn_play_as_each_alone"
WAITS = "test_a_state_that_waits_for_hundreds_of_steps_plays_on_as_before"
#: Candidate of Duel -> the tests that must fail, and no others.
DUEL = {
    "rightinrollout": {"test_rollout_equals_the_step_loop"},
    "rightintwobatches": {"test_a_batch_equals_its_lanes_one_by_one", DRAWN},
    "wronginonebatch": {"test_episodes_match", "test_a_batch_equals_its_lanes_one_by_one", DRAWN},
    "wronginoddbatches": {DRAWN},
    "onegame": {TURNS, WAITS},
    "onegameperseeds": {TURNS, WAITS},
    "poolofstates": {WAITS},
    "savesonestoneless": {"test_saved_and_cloned_states_continue_exactly"},
    "ringofbuffers": {"test_frames_keep_their_values_for_hundreds_of_steps"},
    "noword0": SEEDS | {"test_both_words_of_the_seed_matter"},
    "noword1": SEEDS | {"test_both_words_of_the_seed_matter"},
    "nohighbit": SEEDS,
    "nomiddlebit": SEEDS,
    "onebuffer": {
        "test_a_frame_keeps_its_values_when_the_game_goes_on",
        "test_frames_keep_their_values_for_hundreds_of_steps",
    },
    "raisesincopy": {"test_a_copied_state_survives_the_step_of_its_original"},
    "skipsincopy": {"test_a_copied_state_survives_the_step_of_its_original"},
}
#: The verdict on all 100 episodes of `faulty`, of 6 steps each.
PLAYED = "equal in what was played: 600 steps"
FROM_STATES = "test_steps_from_the_oracles_states_match"


class Ran:
    """A run of the suite with several candidates: what each one's tests and verdict said."""

    def __init__(self, project, env, *args, suite):
        self.project = project
        self.run = project.pytest(*LEVELS, *args, "--junitxml", "junit.xml", suite=suite, env=env)
        self.outcomes = {}
        for case in ElementTree.parse(project.folder / "junit.xml").iter("testcase"):
            test, _, label = case.get("name", "").partition("[")
            ends = [part.tag for part in case if part.tag in ("failure", "error", "skipped")]
            self.outcomes.setdefault(label.rstrip("]"), []).append((test, *ends))

    def word(self, pair):
        return self.run.verdict["pairs"][pair]["verdict"]

    def tests(self, pair, end="failure"):
        """Return the names of a pair's tests that ended so; "" for those that passed."""
        mine = [n for n in self.outcomes if n == pair or n.startswith(f"{pair}-")]
        rows = [row for label in mine for row in self.outcomes[label]]
        return {row[0] for row in rows if end in row[1:] or (not end and len(row) == 1)}

    def records(self, pair):
        """Return the pair's reports of level 3."""
        found = [self.project.record(name) for name in self.run.verdict["reports"]]
        mine = [r for r in found if f"{r['environment']}-{r['candidate']}" == pair]
        return [r for r in mine if r["context"]["level"] == 3]


def _project(folder, cache):
    return Project(folder / "project", cache, PROJECT)


@pytest.fixture(scope="module")
def duel(tmp_path_factory, toy_cache):
    project = _project(tmp_path_factory.mktemp("sly"), toy_cache)
    suite = "properties.test_randomness interactions.test_batches rollouts.test_lockstep "
    suite += "rollouts.test_saved_states"
    return Ran(project, "duel", suite=suite)


@pytest.mark.parametrize("name", DUEL)
def test_a_wrong_candidate_of_a_masked_game_differs_by_the_test_that_is_meant_for_it(duel, name):
    assert duel.word(f"duel-{name}") == "differs"
    assert duel.tests(f"duel-{name}") == DUEL[name]


@pytest.mark.parametrize(("size", "word"), [(1000, "differs"), (999, "not verified")])
def test_a_size_that_somebody_uses_is_asked_for(tmp_path, toy_cache, size, word):
    """What is wrong in one size alone is found by no chance; who uses the size can name it."""
    asked = Ran(
        _project(tmp_path, toy_cache), "duel", "--candidate", "wronginathousand", "--batch-size",
        str(size), suite="interactions.test_batches",
    )  # fmt: skip
    assert asked.word("duel-wronginathousand") == word
    entry = asked.run.verdict["pairs"]["duel-wronginathousand"]
    assert entry["batches"] == ([size] if word != "differs" else [])


@pytest.mark.e2e
def test_what_is_wrong_after_many_steps_is_found_by_the_long_proof(tmp_path, toy_cache):
    ran = Ran(
        _project(tmp_path, toy_cache), "duel", "--candidate", "wrongaftermanysteps",
        "--candidate", "vector", "-m", "level2 and slow", suite="interactions.test_batches",
    )  # fmt: skip
    long = "test_after_a_hundred_thousand_steps_it_plays_as_at_first"
    assert ran.tests("duel-wrongaftermanysteps") == {long}
    assert ran.tests("duel-vector", "") == {long}


@pytest.mark.parametrize("name", ["vector", "saves"])
def test_the_right_candidates_beside_them_are_equal(duel, name):
    assert duel.word(f"duel-{name}") == "equal", duel.run.text
    assert not duel.tests(f"duel-{name}")


def test_a_shared_buffer_does_not_spoil_the_report_of_another_bug(duel):
    """The frames that shrinking compares are copies."""
    plain = duel.records("duel-wrongmask")
    both = duel.records("duel-onebufferwrongmask")
    assert len(plain) == len(both) == 3
    key = lambda r: r["context"]["driver"]  # noqa: E731
    for want, got in zip(sorted(plain, key=key), sorted(both, key=key), strict=True):
        assert got["context"]["minimal"]
        for part in ("case", "step", "diff", "suspects"):
            assert got[part] == want[part]


def test_what_does_not_happen_again_alone_is_not_called_minimal(duel):
    records = duel.records("duel-wronginonebatch")
    assert len(records) == 3
    for record in records:
        assert "did not happen again when asked alone" in record["context"]["note"]
        assert not record["context"]["minimal"]
        text = (duel.project.reports / f"{record['id']}.md").read_text()
        assert "inimal" not in text
        assert "shrunk" not in text


@pytest.fixture(scope="module")
def drift(tmp_path_factory, toy_cache):
    project = _project(tmp_path_factory.mktemp("sly"), toy_cache)
    return Ran(project, "drift", "-m", "level3", suite="rollouts")


@pytest.mark.parametrize("name", ["fast32", "fast64"])
def test_physics_passes_all_of_level_3_as_shipped_too(drift, name):
    """The fields with a resync or window gate would not survive free play."""
    assert drift.word(f"drift-{name}") == "equal but for rounding", drift.run.text
    passed = drift.tests(f"drift-{name}", "")
    assert "test_shipped_environment_matches_the_oracle_through_auto_resets" in passed
    assert (FROM_STATES in passed) == (name == "fast32")


@pytest.mark.parametrize("name", ["wrongreset32", "wrongtail32"])
def test_physics_that_is_wrong_in_its_first_or_last_frames_differs(drift, name):
    assert drift.word(f"drift-{name}") == "differs"
    assert drift.tests(f"drift-{name}") == {FROM_STATES}


@pytest.mark.parametrize("name", ["fast32", "wrongtail32"])
def test_the_last_steps_are_compared_where_they_fill_no_window(project, name):
    """Sixty steps, windows of seven; the last one is moved back."""
    (project.folder / "pyproject.toml").write_text(PROJECT)
    chosen = ("--candidate", name, "--set", "window=7")
    run = project.pytest(*chosen, *LEVELS, env="drift")
    (pair,) = run.verdict["pairs"].values()
    right = "equal but for rounding"
    assert pair["verdict"] == (right if name == "fast32" else "differs"), run.text


def test_a_window_gate_longer_than_every_episode_is_reported(project):
    (project.folder / "pyproject.toml").write_text(PROJECT)
    chosen = ("--candidate", "fast32", "--set", "window=61")
    run = project.pytest(*chosen, *LEVELS, env="drift")
    assert run.code == 1
    says = "`state.angle`: no episode was long enough for its gate, Window(steps=61, max=0.001"
    assert says in run.text
    (pair,) = run.verdict["pairs"].values()
    assert pair["verdict"] == "differs"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory, toy_cache):
    project = _project(tmp_path_factory.mktemp("sly"), toy_cache)
    return Ran(project, "faulty", suite="rollouts.test_drivers rollouts.test_lockstep")


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("raise", "the oracle raised ZeroDivisionError: in the reference at start 0, step 3"),
        ("crash", 'the oracle crashed (SIGSEGV) [File "faulty.py", line '),
        ("user", "table.csv cannot be read: make it anew"),
    ],
)
def test_what_is_not_the_candidates_fault_is_an_error_not_a_difference(faulty, fault, says):
    pair = f"faulty@{fault}-counter"
    assert faulty.word(pair) == "error"
    levels = faulty.run.verdict["pairs"][pair]["levels"].values()
    assert not any(level["failed"] for level in levels)
    assert f"{pair}: {says}" in faulty.run.text


def test_the_same_candidate_is_equal_where_its_oracle_does_not_fail(faulty):
    assert faulty.word("faulty@none-counter") == PLAYED, faulty.run.text


def test_a_crash_of_the_oracle_that_did_not_repeat_stands_in_the_verdict(faulty):
    pair = faulty.run.verdict["pairs"]["faulty@once-counter"]
    assert pair["verdict"] == PLAYED, faulty.run.text
    (line,) = pair["lines"]
    assert "crashed (SIGSEGV)" in line
    assert line in faulty.run.text
