"""The core on environments that Pong is not, declared as a third party declares them."""

import json
import os

import pytest

from twinstep.tests.support import fork_server
from twinstep.tests.support.project_folder import HANGS

# A long way from end to end.
pytestmark = pytest.mark.e2e

PROJECT = """
[tool.twinstep.envs]
duel = "twinstep.tests.toys.duel:DUEL"
drift = "twinstep.tests.toys.drift:DRIFT"
veiled = "twinstep.tests.toys.veiled:VEILED"
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(tmp_path, cache):
    """Run all levels of the installed suite on one toy; give exit code, output and verdict."""
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    env = os.environ | {"TWINSTEP_CACHE": str(cache), "CI": "", "PYTHONDONTWRITEBYTECODE": "1"}
    here = {"folder": tmp_path, "env": env, "timeout": HANGS}

    def go(*args):
        suites = [f"twinstep.{name}" for name in ("properties", "interactions", "rollouts")]
        options = ("-p", "no:cacheprovider", "-q", "-m", "level1 or level2 or level3")
        done = fork_server.run("pytest", "--pyargs", *suites, *options, *args, **here)
        verdict = json.loads((tmp_path / ".twinstep" / "verdict.json").read_text())
        return done.returncode, done.stdout + done.stderr, verdict

    def replay(name):
        report = f".twinstep/reports/{name}.json"
        return fork_server.run("twinstep.cli", "replay", report, **here)

    go.replay = replay
    go.reports = tmp_path / ".twinstep" / "reports"
    return go


def test_two_players_with_masks_are_verified(run):
    code, text, verdict = run("--env", "duel", "--candidate", "vector")
    assert code == 0, text
    pair = verdict["pairs"]["duel-vector"]
    assert pair["verdict"] == "equal"
    for driver in ("random", "sticky", "seeking"):
        seen = pair["drivers"][driver]
        assert seen["terminated"] + seen["truncated"] == 100
    events = [pair["drivers"][d]["events"] for d in pair["drivers"]]
    assert all(any(e[name] for e in events) for name in events[0])


def test_wrong_mask_is_found_and_shrunk(run):
    code, text, verdict = run("--env", "duel", "--candidate", "wrongmask", "-k", "episodes_match")
    assert code == 1
    assert verdict["pairs"]["duel-wrongmask"]["verdict"] == "differs"
    for name in verdict["reports"]:
        record = json.loads((run.reports / f"{name}.json").read_text())
        assert record["diff"][0]["path"].startswith("legal")
        assert record["context"]["minimal"]
        assert record["one_step"]
    again = run.replay(verdict["reports"][0])
    assert again.returncode == 1, again.stderr
    assert again.stdout.strip().endswith("Reproduced byte for byte.")


def test_wrong_module_is_named(run):
    code, _, verdict = run("--env", "duel", "--candidate", "wrongtake", "-k", "test_module_matches")
    assert code == 1
    (name,) = verdict["reports"]
    record = json.loads((run.reports / f"{name}.json").read_text())
    assert record["suspects"][0]["module"] == "take"
    inputs = record["case"]["inputs"]
    assert inputs["first"] + inputs["second"] > inputs["heap"]


def _of_an_episode(run, candidate):
    """Return the record of the one report on a candidate's episodes."""
    args = ("--driver", "sticky", "-k", "episodes_match")
    code, _, verdict = run("--env", "duel", "--candidate", candidate, *args)
    assert code == 1
    (name,) = verdict["reports"]
    return json.loads((run.reports / f"{name}.json").read_text())


def test_a_wrong_module_is_named_in_an_episode_where_it_owns_no_field_that_differs(run):
    record = _of_an_episode(run, "wrongtake")
    assert not {"state.heap", "obs[0, 0]"} & {row["path"] for row in record["diff"]}
    (suspect,) = record["suspects"]
    assert suspect["module"] == "take"
    assert "called alone" in suspect["why"]
    given, oracle, mine = (record["call"][part] for part in ("inputs", "oracle", "candidate"))
    assert given["first"] + given["second"] > given["heap"]
    assert oracle["got_right"] < mine["got_right"]


def test_where_the_owner_of_a_field_agrees_when_called_alone_the_step_is_suspected_first(run):
    record = _of_an_episode(run, "wrongstep")
    assert {row["path"] for row in record["diff"]} == {"state.heap"}
    first, second = record["suspects"]
    assert (first["module"], second["module"]) == ("step", "take")
    assert "how the step joins it" in first["why"]
    assert "agrees when called alone" in second["why"]


def test_physics_is_verified_under_its_gates(run):
    code, text, verdict = run("--env", "drift", "--candidate", "f64", "--candidate", "f32")
    assert code == 0, text
    pairs = verdict["pairs"]
    assert {pair["verdict"] for pair in pairs.values()} == {"equal but for rounding"}
    assert not pairs["drift-f64"]["numbers"]
    numbers = pairs["drift-f32"]["numbers"]
    assert 0 < numbers["random: obs max"] < 1e-4
    assert "Window" in pairs["drift-f32"]["gates"]["state.angle"]


def test_a_small_error_of_one_constant_fails_the_resync_gate(run):
    code, text, verdict = run("--env", "drift", "--candidate", "wrong32", "-m", "level3")
    assert code == 1
    assert verdict["pairs"]["drift-wrong32"]["verdict"] == "differs"
    records = [json.loads((run.reports / f"{r}.json").read_text()) for r in verdict["reports"]]
    assert "step" in [record["case"]["kind"] for record in records]
    assert "auto_reset='off'" in text, "what ships is not compared from the oracle's states"


def test_hidden_state_and_large_memory_are_verified(run):
    code, text, verdict = run("--env", "veiled", "--candidate", "vector")
    assert code == 0, text
    pair = verdict["pairs"]["veiled-vector"]
    assert pair["verdict"] == "equal"
    assert pair["drivers"]["random"]["truncated"] == 100
    # The oracle's own continuation, both hand-overs for both drivers, hidden fields, placed states.
    assert "test_hidden_state_matches_the_oracle" not in text


def test_a_witness_of_one_step_has_the_hidden_fields(run):
    code, _, verdict = run("--env", "veiled", "--candidate", "wrongnote", "-k", "episodes_match")
    assert code == 1
    for name in verdict["reports"]:
        record = json.loads((run.reports / f"{name}.json").read_text())
        assert record["one_step"] is True
        assert record["context"]["minimal"]
        assert {"phase", "turns", "memory"} <= record["witness"]["state"].keys()
        assert set(record["witness"]["state"]["memory"]) == {"shape", "zlib"}
        assert (run.reports / f"{name}.json").stat().st_size < 20_000, "memory is not packed"
    again = run.replay(verdict["reports"][0])
    assert again.returncode == 1, again.stderr
    assert again.stdout.strip().endswith("Reproduced byte for byte.")


def test_a_hidden_field_that_a_load_forgets_is_found(run):
    code, text, _ = run("--env", "veiled", "--candidate", "forgetsturns", "-m", "level2")
    assert code == 1
    for test in (
        "test_oracles_state_continues_in_the_candidate",
        "test_candidates_state_continues_in_the_oracle",
        "test_hidden_state_matches_the_oracle",
    ):
        assert f"{test}[veiled-forgetsturns" in text


def test_a_wrong_hidden_field_is_found_where_play_is_right(run):
    code, text, verdict = run("--env", "veiled", "--candidate", "wronghidden")
    assert code == 1
    assert "phase differ (hidden fields)" in text
    assert "test_episodes_match" not in text
