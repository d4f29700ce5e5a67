"""`python -m tools.evidence --verify-claims` and `--run` measure again."""

import copy
import re
import shutil
from pathlib import Path

import pytest

from tools.evidence import bench_results, paper, verify_claims
from tools.evidence.command import main as evidence_main
from tools.evidence.results import Results, results
from twinstep import cli
from twinstep.bench import claims, command
from twinstep.cli import main
from twinstep.oracles.pong import upstream
from twinstep.project import registry
from twinstep.tests.support.evidence_results import COMMITTED, committed, drawn, put, round_robin
from twinstep.tests.support.requirements import need

pytestmark = pytest.mark.skipif(
    not COMMITTED.is_dir(), reason="reads the results that lie in the repository"
)


@pytest.fixture
def empty(tmp_path):
    """No results at all, and no verdicts."""
    return Results(tmp_path / "found", tmp_path / "candidates")


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

        monkeypatch.setattr(command, "record", measured)
        return asked

    return tmp_path, record


def test_claims_are_measured_again_in_the_cheapest_cell(claimed, capsys):
    folder, record = claimed
    asked = record(1.0)
    assert evidence_main(["--verify-claims", "--out", str(folder)]) == 0
    (request,) = asked
    assert (request.variants, request.batches, request.threads) == (("fs1",), (1024,), (1,))
    assert (request.rounds, request.policies, request.training) == (verify_claims.ROUNDS, (), False)
    said = capsys.readouterr().out
    assert "pong: holds  fs1, 1 thread, 1024 lanes, jax to the best reference: 0.968 here" in said
    assert not (folder / "EVIDENCE.md").exists()


def test_a_claim_that_does_not_hold_fails(claimed, capsys):
    folder, record = claimed
    record(0.05)
    assert evidence_main(["--verify-claims", "--out", str(folder)]) == 1
    assert "pong: FAILS  fs1, 1 thread, 1024 lanes, jax to the best" in capsys.readouterr().out
    assert evidence_main(["--verify-claims", "--out", str(folder), "--slack", "30"]) == 0


@pytest.mark.parametrize("part", ["cpu", "isa"])
def test_on_another_machine_a_claim_to_be_faster_must_hold_and_not_its_number(part):
    then = committed("pong.json")
    now = copy.deepcopy(then)
    now["machine"][part] = ["another"]
    ratio = next(
        result["ratio"]["plain"]
        for result in now["cells"][0]["results"]
        if result["backend"] == "rust" and result["ratio"]["plain"]["min"] > 2
    )
    ratio["median"] = 1.1
    lines, failed = claims.compare(then, now, 0.25)
    assert not failed
    (line,) = [line for line in lines if "claimed on another machine" in line]
    assert line.startswith("holds  fs1, 1 thread")
    assert "; 1 of them with other numbers, on another machine" in lines[-2]
    ratio["median"] = 0.9
    assert len(claims.compare(then, now, 0.25)[1]) == 1
    ratio["median"] = 1.1
    now["machine"] = then["machine"]
    assert len(claims.compare(then, now, 0.25)[1]) == 1


def test_a_claim_that_is_exceeded_holds_and_says_so(claimed, capsys):
    folder, record = claimed
    record(20.0)
    assert evidence_main(["--verify-claims", "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"holds  fs1, 1 thread, 1024 lanes, jax to the best .*; above [\d.]+\n", said)
    assert "FAILS" not in said


def test_what_cannot_run_here_is_told_and_fails_nothing(claimed, capsys, monkeypatch):
    folder, record = claimed
    record(1.0)
    words = ["--verify-claims", "--out", str(folder)]
    found = committed("pong.json")
    found["request"]["backends"] = ["jax", "gone"]
    put(folder / "pong.json", found)
    assert evidence_main(words) == 0
    assert "pong: not measured here: gone cannot run here" in capsys.readouterr().out
    # Without any measurement, however, nothing is verified.
    found["request"]["backends"] = ["gone"]
    put(folder / "pong.json", found)
    assert evidence_main(words) == 1
    said = capsys.readouterr().out
    assert "pong: not measured here: none of gone can run here" in said
    assert "nothing was measured: no benchmark in" in said
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set())
    put(folder / "pong.json", committed("pong.json"))
    assert evidence_main(words) == 1
    assert "pong: not measured here: 1 cores are needed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("request", {}),
        ("request", None),
        ("variants", []),
        ("batches", [0]),
        ("batches", None),
        ("rounds", 0),
        ("machine", None),
        ("policies", None),
        ("cells", [{}]),
    ],
)
def test_a_damaged_claim_is_one_clear_line_before_anything_is_measured(
    part, value, claimed, capsys
):
    folder, record = claimed
    asked = record(1.0)
    shutil.copy(COMMITTED / "emurust.json", folder)
    found = committed("pong.json")
    (found["request"] if part in found["request"] else found)[part] = value
    put(folder / "pong.json", found)
    for run_command, *words in (
        (evidence_main, "--verify-claims"),
        (main, "bench", "pong", "--verify-claims"),
    ):
        assert run_command([*words, "--out", str(folder)]) == 4
        problem = capsys.readouterr().err
        assert f"{folder / 'pong.json'} is not as twinstep bench writes it" in problem
        assert problem.count("\n") == 1
    assert not asked


def test_a_claim_says_which_files_and_instructions_are_no_longer_the_same(claimed, capsys):
    folder, record = claimed
    record(1.0)
    found = committed("pong.json")
    found["sources"]["rust"] = "another"
    found["machine"]["isa"] = ["sse"]
    put(folder / "pong.json", found)
    assert evidence_main(["--verify-claims", "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "pong: the files of rust have changed since it was claimed" in said
    assert "with other instruction sets than here" in said


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
    assert evidence_main(["--run", "--out", str(tmp_path)]) == 1
    assert [argv[:2] for argv in asked] == [
        *(["breakdown", env] for env in paper.environments()),
        *(["elo", env] for env in ("pokejax", "tcgjax")),
    ]
    assert "### tcgjax-v0, apex" in (tmp_path / "EVIDENCE.md").read_text()


@drawn
def test_ctrl_c_ends_all_that_run_asks_for(tmp_path, capsys, monkeypatch):
    asked = []

    def interrupted(argv):
        asked.append(argv)
        return 130

    monkeypatch.setattr(cli, "main", interrupted)
    assert evidence_main(["--run", "--out", str(tmp_path)]) == 130
    assert len(asked) == 1
    assert not list(tmp_path.iterdir())


def test_what_bench_writes_is_found(empty):
    assert not list(bench_results.files(empty))
    assert results(COMMITTED).verified() == paper.environments()
    assert set(registry.names()) >= set(paper.environments())
