"""The document's numbers on speed, verification and planted bugs agree with their files."""

import copy
import json
import re
from collections import Counter

import pytest

from tools.evidence import paper, ppo_throughput, strength, throughput, verification
from tools.evidence.results import Results
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.source_hash import sources_hash
from twinstep.tests.support.evidence_results import COMMITTED, MADE, VERDICTS, committed, put, rows

pytestmark = pytest.mark.skipif(
    not COMMITTED.is_dir(), reason="reads the results that lie in the repository"
)


@pytest.fixture
def empty(tmp_path):
    """No results at all, and no verdicts."""
    return Results(tmp_path / "found", tmp_path / "candidates")


# Speed


def test_random_play_shows_the_largest_cell_and_all_cells(empty):
    found = committed("pong.json")
    put(empty.there("pong.json"), found)
    section = throughput.random_play(empty)
    (row,) = rows(section, "pong-v0", "cpu", "fs8", "2", "65536", "21.6M", "50.2M", "rust")
    cell = next(c for c in found["cells"]
                if (c["variant"], c["threads"], c["lanes"]) == ("fs8", 2, 65536))  # fmt: skip
    best = next(r for r in cell["results"] if r["name"] == "rust")["ratio"]["best"]
    assert row[9] == f"{best['median']:.3g} ({best['min']:.3g} to {best['max']:.3g})"
    assert row[-1] == "C 60M, Rust 122M: 2 times"
    # Two backends in each cell; a user's `make` is a column.
    assert len(rows(section, "fs1")) + len(rows(section, "fs8")) == 2 * len(found["cells"])
    (row,) = rows(section, "fs1", "1", "16384", "48.7M", "78.8M", "rust")
    assert row[9] == "237M (12.8M to 255M)"
    (picture,) = section.pictures
    assert picture.panels[0].labels == [f"pong, {v}, {b}" for v in ("fs1", "fs8")
                                        for b in ("jax", "rust")]  # fmt: skip
    assert picture.panels[0].values[3] == (best["median"], best["min"], best["max"])
    assert [row[7:9] for row in rows(section, "tcgjax", "cpu")] == [["", "not measured"]]


def test_other_implementations_stand_beside_with_their_own_speed(empty):
    put(empty.there("halfcheetah.json"), committed("halfcheetah.json"))
    text = throughput.random_play(empty).markdown("")
    assert "to Brax halfcheetah, spring" in text
    assert "| 812: 112 (102 to 182) |" in text
    assert "### halfcheetah-v0, physics alone" in text


def test_a_gpu_is_another_row(empty):
    found = committed("tcgjax.json")
    put(empty.there("tcgjax.json"), found)
    for cell in found["cells"]:
        for result in cell["results"]:
            result["platform"] = "gpu"
    put(empty.there("gpu", "tcgjax.json"), found)
    with pytest.raises(UserError, match=r"tcgjax.json was measured without a GPU: it belongs in"):
        throughput.random_play(empty)
    found["machine"]["gpu"] = "Test GPU"
    put(empty.there("gpu", "tcgjax.json"), found)
    section = throughput.random_play(empty)
    assert [row[1] for row in rows(section, "tcgjax-v0")] == ["cpu", "gpu"]
    assert section.measured == ["tcgjax", "tcgjax on a GPU"]
    assert "### tcgjax-v0, on a GPU" in section.markdown("")
    assert "tcgjax on a GPU" not in {each.what for each in section.missing}


def test_what_has_no_candidate_in_jax_is_not_asked_of_a_gpu(empty):
    for section in (throughput.random_play(empty), ppo_throughput.training(empty)):
        lacking = {each.what for each in section.missing}
        assert {"emurust", "pong", "pong on a GPU"} <= lacking
        assert "emurust on a GPU" not in lacking


def test_a_result_says_which_files_have_changed_since(empty):
    found = committed("tcgjax.json")
    put(empty.there("tcgjax.json"), found)
    ref = registry.environment("tcgjax").candidates[0]
    found["sources"]["jax"] = sources_hash(ref)[:16]
    put(empty.there("tcgjax.json"), found)
    said = "; jax measured before its files last changed"
    assert said not in throughput.random_play(empty).markdown("")
    found["sources"]["jax"] = "another"
    put(empty.there("tcgjax.json"), found)
    put(empty.there("training", "tcgjax.json"), found)
    assert said in throughput.random_play(empty).markdown("")


def test_ppo_says_the_models_work_where_it_is_known(empty):
    found = committed("emurust.json")
    put(empty.there("emurust.json"), found)
    (row,) = rows(
        ppo_throughput.training(empty), "emurust-v0", "cpu", "catch-values", "2", "32", "rust"
    )
    assert row[6:11] == [
        "38.9K (38.2K to 39.6K)", "17.4 (16.8 to 18.1)", "52.6 % (51 to 53.9)", "not recorded",
        "not measured",
    ]  # fmt: skip
    cell = next(c for c in found["cells"] if c["work"] == "training")
    cell["results"][1] |= {"parameters": 12_345, "flops": 1e6}
    put(empty.there("emurust.json"), found)
    (row,) = rows(
        ppo_throughput.training(empty), "emurust-v0", "cpu", "catch-values", "2", "32", "rust"
    )
    assert row[9:11] == ["12,345", "38.9"]


def test_ppo_measured_alone_stands_for_what_was_measured_beside_random_play(empty):
    found = committed("emurust.json")
    put(empty.there("emurust.json"), found)
    cells = [c for c in found["cells"] if c["work"] == "training"]
    cells[0]["results"][1]["rate"]["median"] *= 2
    put(empty.there("training", "emurust.json"), found | {"cells": cells})
    section = ppo_throughput.training(empty)
    (row,) = rows(section, "emurust-v0", "cpu", "catch-values", "2", "32", "rust")
    assert row[6].startswith("77.9K")
    assert section.measured == ["emurust"]


def test_what_would_add_ppo_is_a_result_of_its_own(empty):
    put(empty.there("tcgjax.json"), committed("tcgjax.json"))
    commands = {each.what: each.command for each in ppo_throughput.training(empty).missing}
    assert commands["tcgjax"] == f"twinstep bench tcgjax --train-only --out {empty.folder}"
    assert commands["pong on a GPU"].endswith(f"--train-only --out {empty.folder}/gpu")


# What was verified


def test_counts_are_those_of_the_packaged_verdicts():
    section = verification.counts(Results(COMMITTED, VERDICTS))
    # Games end by themselves, HalfCheetah's episodes by the clock.
    for env in ("tcgjax", "halfcheetah"):
        verdict = json.loads((VERDICTS / env / "verdict.json").read_text())
        for label, pair in verdict["pairs"].items():
            (row,) = rows(section, label, pair["verdict"])
            steps = sum(one["steps"] for one in pair["drivers"].values())
            episodes = str(100 * len(pair["drivers"]))
            # Nothing but passes: what does not apply is not counted as a skip.
            assert row[2] == str(pair["levels"]["level1"]["passed"])
            assert row[5:8] == [episodes, episodes, f"{steps:,}"]
    assert section.measured == paper.environments()


def test_candidates_that_saw_the_same_episodes_share_a_row(empty):
    verdict = json.loads((VERDICTS / "pong" / "verdict.json").read_text())
    pairs = {n: p for n, p in verdict["pairs"].items() if n.startswith("pong@fs1-cont-")}
    pairs = {n: copy.deepcopy(pairs["pong@fs1-cont-jax"]) | {"candidate": p["candidate"]}
             for n, p in pairs.items()}  # fmt: skip
    pairs["pong@fs1-cont-rust"]["drivers"]["sticky"]["steps"] += 1
    pairs["pong@fs1-cont-rust"]["levels"]["level1"]["failed"] = 3
    put(empty.verdict_file("pong"), verdict | {"pairs": pairs})
    section = verification.counts(empty)
    assert len(rows(section, "pong@fs1-cont", "jax, rust")) == 3
    (one,), (other,) = (rows(section, "pong@fs1-cont", name, "sticky") for name in ("jax", "rust"))
    assert int(other[7].replace(",", "")) == int(one[7].replace(",", "")) + 1
    assert rows(section, "pong@fs1-cont-rust")[0][2] == "40, 3 failed"


def test_coverage_joins_the_drivers_and_names_what_none_met(empty):
    verdict = json.loads((VERDICTS / "pong" / "verdict.json").read_text())
    pair = verdict["pairs"]["pong@fs8-jax"]
    put(empty.verdict_file("pong"), verdict | {"pairs": {"pong@fs8-jax": pair}})
    # The winning driver alone wins games; together they meet everything.
    assert rows(verification.coverage(empty), "pong@fs8") == [["pong@fs8", "15", "15 of 15", ""]]
    del pair["drivers"]["tracking"]
    # The last driver's events are not all.
    pair["drivers"]["sticky"]["events"]["game_lost"] = 0
    put(empty.verdict_file("pong"), verdict | {"pairs": {"pong@fs8-jax": pair}})
    (row,) = rows(verification.coverage(empty), "pong@fs8")
    never = "ball_clipped_y, corner_bounce, game_won, vy_limited"
    assert row == ["pong@fs8", "15", "11 of 15", never]


def test_level_4_shows_the_lines_of_the_run(empty):
    verdict = json.loads((VERDICTS / "pong" / "verdict.json").read_text())
    pair = verdict["pairs"]["pong@fs8-jax"]
    counts = dict.fromkeys(pair["levels"]["level1"], 0)
    pair["levels"] = {"level4": counts | {"passed": 4}}
    pair["lines"] = ["L3 other", "L4 pong@fs8: n=10 seeds, |d| < 1: equivalent"]
    one = {"command": "pytest -m level4", "pairs": {"pong@fs8-jax": pair}}
    put(empty.there("transfer", "pong.json"), verdict | MADE | one)
    section = verification.transfer(empty)
    assert section.measured == ["pong"]
    text = section.markdown("")
    assert r"| pong@fs8-jax | 4 | L4 pong@fs8: n=10 seeds, \|d\| < 1: equivalent |" in text
    assert "L3 other" not in text
    assert (
        "- pong: `pytest -m level4`; Test CPU (x86_64, instruction sets 2880), 1 of 2 cores" in text
    )
    assert rows(section, "pong", "return", "1", "C") == [
        ["pong", "return", "1", "C", "28.01", "28.04"]
    ]
    assert [each.what for each in section.missing] == paper.environments()[1:]


# How strong the suite is


def test_kill_rates_are_those_of_the_campaigns_own_tables():
    section = strength.mutants(Results(COMMITTED, VERDICTS))
    # Only the newest schema: tables of older ones differ.
    for name in ("halfcheetah", "pokejax", "tcgjax", "emurust-rust"):
        found = committed(f"mutants/{name}.json")
        told = (COMMITTED / "mutants" / f"{name}.md").read_text()
        (row,) = [r for r in rows(section, found["environment"], found["candidate"]) if len(r) == 8]
        killed, share = re.search(
            r"\*\*(\d+ of \d+) mutants are killed: (.*?)\.\*\*", told
        ).groups()
        assert row[3:5] == [killed, share]
        by_level = [r for r in rows(section, found["environment"], found["candidate"])
                    if len(r) == 6]  # fmt: skip
        for _, _, level, hits, share, first in by_level:
            assert f"| {level} | {hits}, {share} | {first} |" in told
        assert len(by_level) == 3
    assert section.measured == ["pong", "halfcheetah", "emurust", "pokejax", "tcgjax", "cartpole"]
    assert not section.missing


def test_a_bug_that_was_called_equivalent_and_is_killed_counts(empty):
    found = committed("mutants/cartpole.json")
    before = Counter(row["class"] for row in found["mutants"])
    next(row for row in found["mutants"] if row["class"] == "equivalent")["class"] = "refuted"
    put(empty.there("mutants", "cartpole.json"), found)
    (row,) = [r for r in rows(strength.mutants(empty), "cartpole-v0", "jax") if len(r) == 8]
    killed, left, build = (before[n] for n in ("killed", "equivalent", "build"))
    assert row[3] == f"{killed + 1} of {killed + 1}"
    assert row[5:] == ["0", str(left - 1), str(build)]


def test_a_campaign_that_was_stopped_says_so(empty):
    found = committed("mutants/cartpole.json")
    put(empty.there("mutants", "cartpole.json"), found | {"stopped": True})
    put(empty.there("mutants", "pong.part.json"), found)
    section = strength.mutants(empty)
    told = [row[2] for row in rows(section, "cartpole-v0", "jax")][0]
    assert told == f"{found['sites']} of {found['sites']}, stopped"
    assert section.measured == ["cartpole"]


def test_ablation_and_neighbours_say_what_their_own_tables_say():
    held = Results(COMMITTED, VERDICTS)
    told = (COMMITTED / "ablation.md").read_text()
    for row in rows(strength.hierarchy(held)):
        if row[0] in ("all levels", "episodes alone"):
            assert f"| {row[0]} | {row[3]} | {row[4]} | {row[5]} (" in told
    told = (COMMITTED / "neighbours.md").read_text()
    section = strength.neighbours(held)
    asked = [*rows(section, "halfcheetah"), *rows(section, "emurust")]
    assert len(asked) == 12
    for row in asked:
        if "cannot" not in " ".join(row):
            assert f"| {' | '.join(row)} |" in told
