"""A result that `python -m tools.evidence` cannot read or write is one clear line."""

import json
import shutil
import sys

import pytest

from tools.evidence.command import main as evidence_main
from tools.evidence.results import Results
from twinstep.tests.support.evidence_results import (
    COMMITTED,
    ROOT,
    committed,
    drawn,
    put,
    round_robin,
)

pytestmark = pytest.mark.skipif(
    not COMMITTED.is_dir(), reason="reads the results that lie in the repository"
)


@pytest.fixture
def empty(tmp_path):
    """No results at all, and no verdicts."""
    return Results(tmp_path / "found", tmp_path / "candidates")


def damaged(change):
    found = committed("tcgjax.json")
    found["machine"]["gpu"] = "Test GPU"
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
    assert evidence_main(["--check", "--out", str(tmp_path)]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert word in said
    assert str(path) in said


def test_a_result_that_cannot_be_read_is_one_clear_line(tmp_path, capsys):
    path = tmp_path / "tcgjax.json"
    path.mkdir()
    assert evidence_main(["--check", "--out", str(tmp_path)]) == 4
    assert capsys.readouterr().err == f"twinstep: {path} cannot be read (Is a directory)\n"


@pytest.mark.parametrize(
    "name", ["breakdown/pong", "gpu/breakdown/pong", "elo/pong", "transfer/pong", "mutants/pong"]
)
@pytest.mark.parametrize("text", ["{", '{"schema": 99}', '{"schema": 1}'])
def test_no_result_is_passed_over_silently(tmp_path, capsys, name, text):
    path = tmp_path / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert evidence_main(["--check", "--out", str(tmp_path)]) == 4
    assert str(path) in capsys.readouterr().err


def test_a_table_of_other_sizes_than_its_players_is_damaged(empty, capsys):
    found = round_robin()[1]
    found["elo"].pop()
    put(empty.there("elo", "tcgjax.json"), found)
    assert evidence_main(["--check", "--out", str(empty.folder)]) == 4
    assert "elo/tcgjax.json is not as twinstep writes it" in capsys.readouterr().err


def test_no_folder_of_results_is_one_clear_line(tmp_path, capsys):
    assert evidence_main(["--out", str(tmp_path / "none")]) == 4
    assert "there is no such folder of results" in capsys.readouterr().err
    assert evidence_main(["--out", str(tmp_path), "--check", "--run"]) == 4
    assert "one of them at a time" in capsys.readouterr().err
    assert evidence_main(["--out", str(tmp_path), "--verify-claims", "--slack", "x"]) == 4
    assert "--slack x: a number of at least 0 is needed" in capsys.readouterr().err


@drawn
def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path, capsys):
    shutil.copy(COMMITTED / "tcgjax.json", tmp_path)
    # A file is in the way, which stops every user, root too.
    (tmp_path / "evidence").write_text("")
    assert evidence_main(["--out", str(tmp_path)]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "throughput.png cannot be written" in said
    assert not (tmp_path / "EVIDENCE.md").exists()


def test_without_matplotlib_there_is_one_line_with_the_mend(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shutil.copy(COMMITTED / "tcgjax.json", tmp_path)
    assert evidence_main(["--out", str(tmp_path)]) == 4
    assert "`pip install 'twinstep[report]'`" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["tcgjax.json"]
    # What is written can be checked without it.
    monkeypatch.chdir(ROOT)
    assert evidence_main(["--check"]) == 0
