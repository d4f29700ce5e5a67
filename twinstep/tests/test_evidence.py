"""`twinstep evidence`: every number is that of its file, and what is not there is said."""

import copy
import functools
import importlib.util
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from twinstep import bench, cli, elo, registry
from twinstep.cli import main
from twinstep.evidence import (
    again,
    benches,
    breakdown,
    curves,
    document,
    figures,
    paper,
    ppo,
    ratings,
    strength,
    throughput,
    verification,
    wording,
)
from twinstep.evidence.reading import Results, results
from twinstep.oracles.pong import upstream
from twinstep.plans import PPO
from twinstep.tests.need import need
from twinstep.training import command as train
from twinstep.training import loop
from twinstep.training.evaluating import Row
from twinstep.training.metrics import NAMES, Metrics
from twinstep.training.settings import Settings

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "benchmarks"
VERDICTS = ROOT / "candidates"
pytestmark = pytest.mark.skipif(
    not COMMITTED.is_dir(), reason="reads the results that lie in the repository"
)
drawn = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None,
    reason="draws with matplotlib, of the extra `report`",
)
MADE = {
    "machine": {
        "cpu": "Test CPU", "architecture": "x86_64", "cores_used": 1, "cores_online": 2,
        "isa": ["avx"], "os": "Test OS", "libc": "",
    },
    "versions": {"twinstep": "0.0.7", "jax": "1.2.3"},
    "date": "2026-11-26",
}  # fmt: skip
SPREAD = {"median": 0.25, "min": 0.2, "max": 0.3}


@pytest.fixture
def empty(tmp_path):
    """No results at all, and no verdicts."""
    return Results(tmp_path / "found", tmp_path / "candidates")


def put(at, found):
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(json.dumps(found))


def committed(name):
    return json.loads((COMMITTED / name).read_text())


def rows(section, *begin):
    """Return the cells of the table rows of a part that begin so."""
    text = section.markdown("")
    found = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in found if row[: len(begin)] == list(begin)]


# The document


def test_the_committed_document_is_what_the_results_say(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["evidence", "--check"]) == 0, capsys.readouterr().err


@drawn
def test_the_same_results_give_the_same_bytes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(COMMITTED / "mutants", "benchmarks/mutants")
    shutil.copy(COMMITTED / "tcgjax.json", "benchmarks")
    held = []
    for _ in range(2):
        assert main(["evidence"]) == 0
        held.append({path: path.read_bytes() for path in Path("benchmarks").rglob("*.[mp][dn]*")})
        # What lies there from before changes nothing.
        Path("benchmarks/evidence/throughput.png").write_bytes(b"")
    assert held[0] == held[1]
    png = held[0][Path("benchmarks/evidence/throughput.png")]
    assert png.startswith(b"\x89PNG")
    assert not re.search(rb"Software|tIME|Date|matplotlib", png)
    assert "written: benchmarks/EVIDENCE.md and 2 pictures" in capsys.readouterr().out


@drawn
def test_check_says_what_is_out_of_date(tmp_path, capsys):
    shutil.copy(COMMITTED / "tcgjax.json", tmp_path)
    words = ["evidence", "--out", str(tmp_path)]

    def said():
        code, told = main([*words, "--check"]), capsys.readouterr()
        assert told.err.count("\n") == (code == 1)
        return code, told.err

    code, line = said()
    assert code == 1
    assert "EVIDENCE.md cannot be read" in line
    assert main(words) == 0
    assert said() == (0, "")
    (tmp_path / "evidence/throughput.png").unlink()
    code, line = said()
    assert code == 1
    assert "throughput.png is missing" in line
    assert main(words) == 0
    found = committed("tcgjax.json")
    found["cells"][-1]["results"][-1]["rate"]["median"] *= 2
    put(tmp_path / "tcgjax.json", found)
    code, line = said()
    assert code == 1
    assert "EVIDENCE.md is not what the results say: `twinstep evidence --out" in line


def test_what_is_not_there_is_not_measured_and_has_a_command_that_exists(empty):
    parts = document.sections(empty)
    text = document.markdown(parts, empty)
    assert not any(part.measured or part.pictures for part in parts)
    lacking = [each for part in parts for each in part.missing]
    parser = cli._parser()
    known = next(a.choices for a in parser._actions if a.choices)
    for each in lacking:
        assert f"| {each.what} | not measured | `{each.command}` |" in text
        words = shlex.split(each.command)
        if words[0] == "twinstep" and words[1] in known:
            parser.parse_args(words[1:])
        else:
            assert words[0] in ("pytest", "python")
    for env in paper.environments():
        assert f"| {env} | not measured |" in text
        assert f"| {env} on a GPU | not measured |" in text
    assert {each.what for each in lacking if each.here} == {
        *paper.environments(), "pokejax, players", "tcgjax, players",
    }  # fmt: skip


def test_every_result_of_the_repository_is_named_with_what_it_was_made_on(monkeypatch):
    monkeypatch.chdir(ROOT)
    held = Results(Path("benchmarks"), VERDICTS)
    text = document.markdown(document.sections(held), held)
    for path in COMMITTED.rglob("*.json"):
        found = json.loads(path.read_text())
        if "command" in found:
            assert wording.made_on(found) in text, path
    assert not re.search(r"/work|/tmp|/home|site-packages", text)


def test_a_result_says_command_machine_versions_and_date():
    line = wording.made_on({"command": "twinstep x", **MADE})
    assert line == (
        "`twinstep x`; Test CPU (x86_64), 1 of 2 cores, Test OS; twinstep 0.0.7, jax 1.2.3; "
        "2026-11-26"
    )
    gpu = {**MADE["machine"], "gpu": ["H100"]}
    assert "1 of 2 cores, gpu H100, Test OS" in wording.made_on({**MADE, "machine": gpu})
    line = wording.made_on({}, "pytest")
    assert line == (
        "command not recorded, `pytest` measures the same; machine not recorded; versions not "
        "recorded; date not recorded"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (3.891, "3.89"), (37.0, "37"), (99.6, "99.6"), (22320, "22,320"),
     (0.00021, "2.10e-04"), (float("nan"), "unknown")],
)  # fmt: skip
def test_numbers_have_three_digits(value, text):
    assert wording.digits(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(681, "681"), (14.5e3, "14.5K"), (122e6, "122M"), (7.1e9, "7.1B")]
)
def test_rates_have_their_units(value, text):
    assert wording.rate(value) == text


def test_a_bar_in_a_cell_does_not_end_it():
    assert wording.table([["a"], ["largest |vy|\nx"]]).splitlines()[2] == r"| largest \|vy\| x |"


# The paper's facts


def test_the_papers_ratios_are_those_of_its_rates():
    facts = [fact for kind in ("random", "ppo", "policies") for fact in paper.facts()[kind]]
    told = [fact for fact in facts if "ratio" in fact]
    assert len(told) >= 13
    for fact in told:
        # Rates are rounded to two or three digits.
        assert fact["rate"] / fact["reference_rate"] == pytest.approx(fact["ratio"], rel=0.05)
    assert {fact["env"] for fact in facts} == set(paper.environments())


def test_our_environments_come_in_the_papers_order():
    names = ["zoo", "tcgjax", "pong-rust", "pong", "cartpole", "pong"]
    assert paper.ordered(names) == ["pong", "pong-rust", "tcgjax", "cartpole", "zoo"]


# Speed


def test_random_play_shows_the_largest_cell_and_all_cells(empty):
    found = committed("pong.json")
    put(empty.there("pong.json"), found)
    section = throughput.random_play(empty)
    (row,) = rows(section, "pong-v0", "cpu", "fs8", "2", "65536", "17.1M", "42.2M", "rust")
    cell = next(c for c in found["cells"]
                if (c["variant"], c["threads"], c["lanes"]) == ("fs8", 2, 65536))  # fmt: skip
    best = next(r for r in cell["results"] if r["name"] == "rust")["ratio"]["best"]
    assert row[9] == f"{best['median']:.3g} ({best['min']:.3g} to {best['max']:.3g})"
    assert row[-1] == "C 60M, Rust 122M: 2 times"
    # Two backends in each cell; a user's `make` is a column.
    assert len(rows(section, "fs1")) + len(rows(section, "fs8")) == 2 * len(found["cells"])
    (row,) = rows(section, "fs1", "1", "16384", "42.6M", "69.5M", "rust")
    assert row[9] == "219M (174M to 234M)"
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
    section = throughput.random_play(empty)
    assert [row[1] for row in rows(section, "tcgjax-v0")] == ["cpu", "gpu"]
    assert section.measured == ["tcgjax", "tcgjax on a GPU"]
    assert "### tcgjax-v0, on a GPU" in section.markdown("")
    assert "tcgjax on a GPU" not in {each.what for each in section.missing}


def test_ppo_says_the_models_work_where_it_is_known(empty):
    found = committed("emurust.json")
    put(empty.there("emurust.json"), found)
    (row,) = rows(ppo.training(empty), "emurust-v0", "cpu", "catch-values", "2", "32", "rust")
    assert row[6:11] == [
        "38.9K (38.2K to 39.6K)", "17.4 (16.8 to 18.1)", "52.6 % (51 to 53.9)", "not recorded",
        "not measured",
    ]  # fmt: skip
    cell = next(c for c in found["cells"] if c["work"] == "training")
    cell["results"][1] |= {"parameters": 12_345, "flops": 1e6}
    put(empty.there("emurust.json"), found)
    (row,) = rows(ppo.training(empty), "emurust-v0", "cpu", "catch-values", "2", "32", "rust")
    assert row[9:11] == ["12,345", "38.9"]


def test_what_would_add_ppo_to_a_result_measures_its_other_cells_too(empty):
    put(empty.there("tcgjax.json"), committed("tcgjax.json"))
    commands = {each.what: each.command for each in ppo.training(empty).missing}
    wanted = committed("tcgjax.json")["command"] + " --train --out "
    assert commands["tcgjax"].startswith(wanted)
    assert commands["pong"].startswith("twinstep bench pong --train")


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
            assert row[2].startswith(f"{pair['levels']['level1']['passed']}, ")
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
    assert rows(section, "pong@fs1-cont-rust")[0][2] == "40, 3 failed, 2 skipped"


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
    put(empty.there("transfer", "pong.json"), verdict | {"pairs": {"pong@fs8-jax": pair}})
    section = verification.transfer(empty)
    assert section.measured == ["pong"]
    text = section.markdown("")
    assert r"| pong@fs8-jax | 4 | L4 pong@fs8: n=10 seeds, \|d\| < 1: equivalent |" in text
    assert "L3 other" not in text
    assert "machine not recorded; twinstep 0.1.0" in text
    assert rows(section, "pong", "return", "1", "C") == [
        ["pong", "return", "1", "C", "28.01", "28.04"]
    ]
    assert [each.what for each in section.missing] == paper.environments()[1:]


# How strong the suite is


def test_kill_rates_are_those_of_the_campaigns_own_tables():
    section = strength.mutants(Results(COMMITTED, VERDICTS))
    # Of the newest schema: the others' tables read otherwise.
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
    next(row for row in found["mutants"] if row["class"] == "equivalent")["class"] = "refuted"
    put(empty.there("mutants", "cartpole.json"), found)
    (row,) = [r for r in rows(strength.mutants(empty), "cartpole-v0", "jax") if len(r) == 8]
    assert (row[3], row[5:]) == ("180 of 180", ["0", "7", "20"])


def test_a_campaign_that_was_stopped_says_so(empty):
    found = committed("mutants/cartpole.json")
    put(empty.there("mutants", "cartpole.json"), found | {"stopped": True})
    put(empty.there("mutants", "pong.part.json"), found)
    section = strength.mutants(empty)
    assert [row[2] for row in rows(section, "cartpole-v0", "jax")][0] == "207 of 207, stopped"
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


# Where the time goes


def shares(**other):
    return {
        "backend": "oracle", "size": 2_000_000, "parameters": 2_001_234, "operations": 1e12,
        "shares": [], "environment_share": SPREAD, "transfer_share": {**SPREAD, "median": 0.05},
        "model_share": {**SPREAD, "median": 0.7}, "flop_use": {**SPREAD, "median": 0.4},
    } | other  # fmt: skip


def timed(found):
    return {
        "schema": 1, "environment": "tcgjax-v0", "variant": "apex", "command": "twinstep breakdown",
        "peak": 2.5e11, "lanes": 64, "steps": 128, "rows": found, **MADE,
    }  # fmt: skip


def test_shares_of_an_iterations_time(empty):
    one = shares(backend="jax", size=200_000_000)
    del one["transfer_share"]
    left = {"backend": "jax", "size": 20_000_000, "not_measured": "64 GB are needed"}
    put(empty.there("breakdown", "tcgjax.json"), timed([shares(), one, left]))
    put(empty.there("gpu", "breakdown", "tcgjax.json"), timed([left]))
    section = breakdown.breakdown(empty)
    assert section.measured == ["tcgjax", "tcgjax on a GPU"]
    (row,) = rows(section, "the reference", "2M")
    assert row == [
        "the reference", "2M", "2,001,234", "25 % (20 to 30)", "5 % (20 to 30)", "70 % (20 to 30)",
        "40 % (20 to 30)", "1,000,000,000,000", "35 %",
    ]  # fmt: skip
    (row,) = rows(section, "jax", "200M")
    assert (row[4], row[-1]) == ("not told apart", "3 %")
    for row in rows(section, "jax", "20M"):
        assert (row[3], row[-1]) == ("not measured: 64 GB are needed", "18 %")
    assert "64 lanes x 128 steps; peak 250 GFLOP/s; `twinstep breakdown`; Test CPU" in (
        section.markdown("")
    )
    # Where nothing was measured there is nothing to draw.
    (picture,) = section.pictures
    assert picture.name == "breakdown-tcgjax.png"
    assert picture.panels[0].labels == ["the reference, 2M", "jax, 200M"]
    assert dict(picture.panels[0].parts) == {
        "environment": [25, 25], "transfer": [5, 0], "model": [70, 70],
    }  # fmt: skip


# Training


def trained(where, backend, scores, seeds=(0, 1), **other):
    """Write a run as `twinstep train` does, with these scores [B, S] of its batches."""
    small = PPO(lanes=32, steps=8, minibatches=4, hidden=(8,))
    settings = Settings("pong", "fs8", backend, 256 * len(scores), tuple(seeds), ppo=small)
    loop.begin(where, settings)
    metrics = Metrics(where, settings.seeds, 256, 0)
    curve = {name: np.zeros((len(scores), len(seeds))) for name in NAMES}
    metrics.add(curve | {"score": np.array(scores, float)}, 1.0)
    metrics.close()
    last = np.array(scores[-1], float)
    done = loop.Done(len(scores), 256 * len(scores), 1.0, 1.0, {"w": np.zeros(2)}, last)
    played = [Row("oracle", "", 128, (3.0, 5.0), 2.5, 5.5, 0.25)]
    train._write(where, settings, done, played)


def test_curves_of_a_pair_are_means_over_the_seeds_with_a_band(empty):
    nan = float("nan")
    trained(empty.there("runs", "b-fast"), "jax", [[nan, nan], [1, nan], [2, 6]])
    trained(empty.there("runs", "a-slow"), "oracle", [[0.5], [1], [1.5]], seeds=(4,))
    section = curves.training(empty)
    (picture,) = section.pictures
    assert picture.name == "training-pong.png"
    (panel,) = picture.panels
    slow, fast = panel.lines
    assert (slow.label, fast.label) == ("the reference, 1 seed", "jax, 2 seeds")
    assert (list(fast.x), fast.y, fast.low, fast.high) == ([512, 768], [1, 4], [1, 2], [1, 6])
    assert list(slow.x) == [256, 512, 768]
    assert rows(section, "pong-v0, fs8") == [
        ["pong-v0, fs8", "", "the reference", "4", "768", "1.5 (1.5 to 1.5)", "a-slow"],
        ["pong-v0, fs8", "", "jax", "0, 1", "768", "4 (2 to 6)", "b-fast"],
    ]
    assert rows(section, "b-fast") == [
        ["b-fast", "the reference", "", "2", "128", "4 [2.5, 5.5]", "25.0 %"]
    ]
    text = section.markdown("")
    assert "train pong --config" in text
    assert "settings.toml --evaluate 128`" in text
    whats = [each.what for each in section.missing]
    assert not [what for what in whats if what.startswith("pong")]
    assert "tcgjax, trained in the reference" in whats


def test_runs_that_differ_in_more_than_the_backend_are_apart(empty):
    trained(empty.there("runs", "a"), "jax", [[1, 2]])
    trained(empty.there("runs", "b"), "jax", [[1, 2]])
    file = empty.there("runs", "b", "settings.toml")
    file.write_text(file.read_text().replace('variant = "fs8"', 'variant = "fs1"'))
    (picture,) = curves.training(empty).pictures
    assert [panel.title for panel in picture.panels] == ["pong-v0, fs1", "pong-v0, fs8"]


@pytest.mark.parametrize(
    ("file", "change", "word"),
    [
        ("result.json", None, "holds no result.json: its run did not end"),
        ("result.json", lambda text: text[:-9], "is damaged"),
        ("metrics.csv", None, "cannot be read"),
        ("metrics.csv", lambda text: "x" + text, "is no curve of a run"),
        ("metrics.csv", lambda text: text + "1,x,0,,,,,\n", "is not as twinstep writes it"),
        ("settings.toml", lambda text: "= " + text, "is no TOML"),
        ("settings.toml", None, "holds no training run"),
    ],
)
def test_a_damaged_run_is_one_clear_line(empty, capsys, file, change, word):
    trained(empty.there("runs", "a"), "jax", [[1, 2]])
    path = empty.there("runs", "a", file)
    if change:
        path.write_text(change(path.read_text()))
    else:
        path.unlink()
    assert main(["evidence", "--check", "--out", str(empty.folder)]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert word in said
    assert str(path.parent) in said


# Elo


@functools.cache
def rated():
    """Four players that 40 games of each pair were drawn for: fitting them takes seconds."""
    won = {
        ("random", "good"): 10, ("random", "runs/a"): 20, ("random", "runs/b"): 5,
        ("good", "runs/a"): 30, ("good", "runs/b"): 15, ("runs/a", "runs/b"): 8,
    }  # fmt: skip
    games = {pair: np.repeat([0.0, 1.0], [40 - wins, wins]) for pair, wins in won.items()}
    return elo.rated(["random", "good", "runs/a", "runs/b"], games)


def round_robin(**policies):
    table = rated()
    return table, {
        "schema": 1, "environment": "tcgjax-v0", "variant": "apex", "backend": "jax", "games": 40,
        **elo._plain(table), "policies": policies, "command": "twinstep elo tcgjax", **MADE,
    }  # fmt: skip


def test_ratings_are_shown_as_elo_prints_them(empty):
    table, found = round_robin()
    put(empty.there("elo", "tcgjax.json"), found)
    section = ratings.ratings(empty)
    assert "\n".join(elo.lines(table)) in section.markdown("")
    assert "40 games of each pair in jax; `twinstep elo tcgjax`; Test CPU" in section.markdown("")
    (picture,) = section.pictures
    (panel,) = picture.panels
    assert panel.labels[0] == "runs/b"
    assert panel.values[0][0] == table.elo[3]
    assert [each.what for each in section.missing] == [
        "pokejax, players", "pokejax, policies as they learn", "tcgjax, policies as they learn",
    ]  # fmt: skip


def test_policies_of_one_backend_are_a_curve_over_their_steps(empty):
    about = {"backend": "jax", "against": "scripted"}
    runs = {"runs/b": {**about, "steps": 300}, "runs/a": {**about, "steps": 900}}
    table, found = round_robin(**runs)
    put(empty.there("elo", "tcgjax.json"), found)
    section = ratings.ratings(empty)
    (picture,) = section.pictures
    (line,) = picture.panels[1].lines
    assert line.label == "trained in jax, against scripted"
    assert list(line.x) == [300, 900]
    assert list(line.y) == [table.elo[3], table.elo[2]]
    assert line.high[0] == table.elo[3] + table.spread[3]
    assert [name for name, _ in picture.panels[1].levels] == ["random", "good"]
    assert "tcgjax, policies as they learn" not in {each.what for each in section.missing}


def test_one_policy_is_no_curve(empty):
    about = {"backend": "jax", "against": "scripted", "steps": 300}
    put(empty.there("elo", "tcgjax.json"), round_robin(**{"runs/a": about})[1])
    section = ratings.ratings(empty)
    assert len(section.pictures[0].panels) == 1
    assert "tcgjax, policies as they learn" in {each.what for each in section.missing}


# Pictures


@drawn
def test_every_kind_of_picture_is_drawn_alike_each_time(empty):
    trained(empty.there("runs", "a"), "jax", [[0, 1], [1, 3]])
    trained(empty.there("runs", "b"), "oracle", [[0, 1], [1, 3]])
    about = {"backend": "jax", "against": ""}
    found = round_robin(**{"runs/b": {**about, "steps": 900}, "runs/a": {**about, "steps": 300}})[1]
    put(empty.there("elo", "tcgjax.json"), found)
    put(empty.there("breakdown", "tcgjax.json"), timed([shares()]))
    pictures = [p for part in document.sections(empty) for p in part.pictures]
    assert [p.name for p in pictures] == [
        "breakdown-tcgjax.png", "training-pong.png", "elo-tcgjax.png",
    ]  # fmt: skip
    for picture in pictures:
        assert figures.png(picture) == figures.png(picture)


# Bad input


def damaged(change):
    found = committed("tcgjax.json")
    change(found)
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "is damaged: it is no JSON"),
        ("\x00\xff", "is damaged"),
        ("[1]", "is no result of twinstep"),
        (damaged(lambda f: f.update(schema=99)) if COMMITTED.is_dir() else "", "is of schema 99"),
        (damaged(lambda f: f.pop("schema")) if COMMITTED.is_dir() else "", "is of schema None"),
        (damaged(lambda f: f.pop("cells")) if COMMITTED.is_dir() else "", "lacks `cells`"),
        (
            damaged(lambda f: f["cells"][0]["results"][1].pop("ratio"))
            if COMMITTED.is_dir()
            else "",
            "is not as twinstep writes it (KeyError('ratio'))",
        ),
    ],
)
@pytest.mark.parametrize("folder", ["", "gpu/"])
def test_a_damaged_result_is_one_clear_line(tmp_path, capsys, text, word, folder):
    path = tmp_path / f"{folder}tcgjax.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    assert main(["evidence", "--check", "--out", str(tmp_path)]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert word in said
    assert str(path) in said


def test_a_result_that_cannot_be_read_is_one_clear_line(tmp_path, capsys):
    path = tmp_path / "tcgjax.json"
    path.mkdir()
    assert main(["evidence", "--check", "--out", str(tmp_path)]) == 4
    assert capsys.readouterr().err == f"twinstep: {path} cannot be read (Is a directory)\n"


@pytest.mark.parametrize(
    "name", ["breakdown/pong", "gpu/breakdown/pong", "elo/pong", "transfer/pong", "mutants/pong"]
)
@pytest.mark.parametrize("text", ["{", '{"schema": 99}', '{"schema": 1}'])
def test_no_result_is_passed_over_silently(tmp_path, capsys, name, text):
    path = tmp_path / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert main(["evidence", "--check", "--out", str(tmp_path)]) == 4
    assert str(path) in capsys.readouterr().err


def test_a_table_of_other_sizes_than_its_players_is_damaged(empty, capsys):
    found = round_robin()[1]
    found["elo"].pop()
    put(empty.there("elo", "tcgjax.json"), found)
    assert main(["evidence", "--check", "--out", str(empty.folder)]) == 4
    assert "elo/tcgjax.json is not as twinstep writes it" in capsys.readouterr().err


def test_no_folder_of_results_is_one_clear_line(tmp_path, capsys):
    assert main(["evidence", "--out", str(tmp_path / "none")]) == 4
    assert "there is no such folder of results" in capsys.readouterr().err
    assert main(["evidence", "--out", str(tmp_path), "--check", "--run"]) == 4
    assert "one of them at a time" in capsys.readouterr().err
    assert main(["evidence", "--out", str(tmp_path), "--verify-claims", "--slack", "x"]) == 4
    assert "--slack x: a number of at least 0 is needed" in capsys.readouterr().err


@drawn
def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path, capsys):
    shutil.copy(COMMITTED / "tcgjax.json", tmp_path)
    # A file is in the way: what holds for every user, root too.
    (tmp_path / "evidence").write_text("")
    assert main(["evidence", "--out", str(tmp_path)]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "throughput.png cannot be written" in said
    assert not (tmp_path / "EVIDENCE.md").exists()


def test_without_matplotlib_there_is_one_line_with_the_mend(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shutil.copy(COMMITTED / "tcgjax.json", tmp_path)
    assert main(["evidence", "--out", str(tmp_path)]) == 4
    assert "`pip install 'twinstep[report]'`" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["tcgjax.json"]
    # What is written can be checked without it.
    monkeypatch.chdir(ROOT)
    assert main(["evidence", "--check"]) == 0


# The claims


@pytest.fixture
def claimed(tmp_path, monkeypatch):
    """Pong's committed result, and a bench that measures the same again, times `factor`."""
    need(upstream.probe({}))
    shutil.copy(COMMITTED / "pong.json", tmp_path)
    asked = []

    def record(factor):
        def measured(request, progress):
            asked.append(request)
            found = copy.deepcopy(committed("pong.json"))
            found["policies"] = []
            found["cells"] = [
                cell for cell in found["cells"]
                if cell["variant"] in request.variants and cell["lanes"] in request.batches
                and cell["threads"] in request.threads
            ]  # fmt: skip
            for cell in found["cells"]:
                cell["rounds"] = request.rounds
                kept = [r for r in cell["results"] if r["backend"] in ("", *request.backends)]
                cell["results"] = kept
                for result in kept:
                    for spread in result["ratio"].values():
                        spread["median"] *= factor
            return found

        monkeypatch.setattr(bench, "record", measured)
        return asked

    return tmp_path, record


def test_claims_are_measured_again_in_the_cheapest_cell(claimed, capsys):
    folder, record = claimed
    asked = record(1.0)
    assert main(["evidence", "--verify-claims", "--out", str(folder)]) == 0
    (request,) = asked
    assert (request.variants, request.batches, request.threads) == (("fs1",), (1024,), (1,))
    assert (request.rounds, request.policies, request.training) == (again.ROUNDS, (), False)
    said = capsys.readouterr().out
    assert "pong: holds  fs1, 1 thread, 1024 lanes, jax to the best reference: 0.919 here" in said
    assert not (folder / "EVIDENCE.md").exists()


def test_a_claim_that_does_not_hold_fails(claimed, capsys):
    folder, record = claimed
    record(20.0)
    assert main(["evidence", "--verify-claims", "--out", str(folder)]) == 1
    assert "pong: FAILS  fs1, 1 thread, 1024 lanes, jax to the best" in capsys.readouterr().out
    assert main(["evidence", "--verify-claims", "--out", str(folder), "--slack", "30"]) == 0


def test_what_cannot_run_here_is_told_and_fails_nothing(claimed, capsys, monkeypatch):
    folder, record = claimed
    record(1.0)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set())
    assert main(["evidence", "--verify-claims", "--out", str(folder)]) == 0
    assert "pong: not measured here: 1 cores are needed" in capsys.readouterr().out
    found = committed("pong.json")
    found["request"]["backends"] = ["gone"]
    put(folder / "pong.json", found)
    assert main(["evidence", "--verify-claims", "--out", str(folder)]) == 0
    assert "pong: not measured here: none of gone can run here" in capsys.readouterr().out


@drawn
def test_run_asks_for_what_is_missing_and_writes_what_came(tmp_path, capsys, monkeypatch):
    asked = []

    def other(argv):
        asked.append(argv)
        if argv[:2] == ["elo", "tcgjax"]:
            put(Path(argv[-1]), round_robin()[1])
            return 0
        return 4

    monkeypatch.setattr(cli, "main", other)
    assert main(["evidence", "--run", "--out", str(tmp_path)]) == 1
    assert [argv[:2] for argv in asked] == [
        *(["breakdown", env] for env in paper.environments()),
        *(["elo", env] for env in ("pokejax", "tcgjax")),
    ]
    assert "### tcgjax-v0, apex" in (tmp_path / "EVIDENCE.md").read_text()


def test_what_bench_writes_is_found(empty):
    assert not list(benches.files(empty))
    assert results(COMMITTED).verified() == paper.environments()
    assert set(registry.names()) >= set(paper.environments())
