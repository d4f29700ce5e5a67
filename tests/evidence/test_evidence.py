"""`python -m tools.evidence`: every number comes from its file, and missing results are named."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tools.evidence import document, formatting, paper
from tools.evidence.command import main as evidence_main
from tools.evidence.results import Results
from twinstep import cli
from twinstep.tests.support.evidence_results import (
    COMMITTED,
    MADE,
    ROOT,
    VERDICTS,
    committed,
    drawn,
    put,
)

pytestmark = pytest.mark.skipif(
    not COMMITTED.is_dir(), reason="reads the results that lie in the repository"
)


@pytest.fixture
def empty(tmp_path):
    """No results at all, and no verdicts."""
    return Results(tmp_path / "found", tmp_path / "candidates")


# The document


def test_the_committed_document_is_what_the_results_say(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert evidence_main(["--check"]) == 0, capsys.readouterr().err


@drawn
def test_the_same_results_give_the_same_bytes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(COMMITTED / "mutants", "benchmarks/mutants")
    shutil.copy(COMMITTED / "tcgjax.json", "benchmarks")
    held = []
    for _ in range(2):
        assert evidence_main([]) == 0
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
    words = ["--out", str(tmp_path)]

    def said():
        code, told = evidence_main([*words, "--check"]), capsys.readouterr()
        assert told.err.count("\n") == (code == 1)
        return code, told.err

    code, line = said()
    assert code == 1
    assert "EVIDENCE.md cannot be read" in line
    assert evidence_main(words) == 0
    assert said() == (0, "")
    (tmp_path / "evidence/throughput.png").unlink()
    code, line = said()
    assert code == 1
    assert "throughput.png is missing" in line
    assert evidence_main(words) == 0
    found = committed("tcgjax.json")
    found["cells"][-1]["results"][-1]["rate"]["median"] *= 2
    put(tmp_path / "tcgjax.json", found)
    code, line = said()
    assert code == 1
    assert "EVIDENCE.md is not what the results say: `python -m tools.evidence --out" in line


def test_the_same_folder_by_another_name_has_the_same_document(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert evidence_main(["--check", "--out", str(COMMITTED)]) == 0, capsys.readouterr().err


def test_a_folder_with_a_space_is_quoted(tmp_path):
    held = Results(tmp_path / "my results", tmp_path / "candidates")
    lacking = [each for part in document.sections(held) for each in part.missing]
    for each in lacking:
        if "my results" in each.command:
            assert any("my results" in word for word in shlex.split(each.command)), each.command


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
        assert (f"| {env} on a GPU | not measured |" in text) == (env != "emurust")
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
            assert formatting.made_on(found) in text, path
    assert not re.search(r"/work|/tmp|/home|site-packages", text)


def test_a_result_says_command_machine_versions_and_date():
    line = formatting.made_on({"command": "twinstep x", **MADE})
    assert line == (
        "`twinstep x`; Test CPU (x86_64, instruction sets 2880), 1 of 2 cores, Test OS; "
        "twinstep 0.0.7, jax 1.2.3; 2026-11-26"
    )
    gpu = {**MADE["machine"], "gpu": ["H100"]}
    assert "1 of 2 cores, gpu H100, Test OS" in formatting.made_on({**MADE, "machine": gpu})
    line = formatting.made_on({}, "pytest")
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
    assert formatting.digits(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(681, "681"), (14.5e3, "14.5K"), (122e6, "122M"), (7.1e9, "7.1B")]
)
def test_rates_have_their_units(value, text):
    assert formatting.rate(value) == text


def test_a_bar_in_a_cell_does_not_end_it():
    assert formatting.table([["a"], ["largest |vy|\nx"]]).splitlines()[2] == r"| largest \|vy\| x |"


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
