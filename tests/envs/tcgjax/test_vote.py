"""Level 0: a third reading of the cards' sentences, by a grammar, agrees with the records."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import twinstep
from twinstep.contracts.tcgjax.cards import codes
from twinstep.generated import tcgjax

ROOT = Path(twinstep.__file__).parents[1]
TOOL = ROOT / "tools" / "tcgjax" / "vote.py"
RECORDS = Path(tcgjax.__file__).with_name("effects.csv")
RULES = ROOT / "oracles" / "tcgjax" / "RULES.md"


def _rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _vote(records):
    source = os.environ.get("TCGJAX_SOURCE")
    if not source or not TOOL.is_file():
        pytest.skip("set TCGJAX_SOURCE to the JSON list of cards (see tools/tcgjax/vote.py)")
    command = [sys.executable, str(TOOL), "--source", source, "--records", str(records)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_every_sentence_says_what_its_record_does():
    """All 91; each difference is settled by a ruling, and every settled entry does differ."""
    voted = _vote(RECORDS)
    assert voted.returncode == 0, voted.stdout + voted.stderr
    assert "91 sentences" in voted.stdout
    assert "0 not settled" in voted.stdout


def test_a_slip_in_any_one_record_is_found(tmp_path):
    """Each record in turn has one of its cells changed; all at once, so that it is one run."""
    rows = _rows(RECORDS)
    changed = []
    for row in rows:
        filled = [column for column, value in row.items() if value.isdigit()]
        if filled:
            row[filled[-1]] = str(int(row[filled[-1]]) + 1)
            changed.append((row["code"], filled[-1]))
    slipped = tmp_path / "effects.csv"
    with slipped.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    told = _vote(slipped).stdout.splitlines()
    found = {tuple(line.split(": ")[:2]) for line in told if line.endswith("NOT SETTLED")}
    assert len(changed) > 70
    assert set(changed) <= found


def test_what_is_settled_names_a_ruling_that_speaks_of_it():
    settled = TOOL.with_name("vote.csv")
    if not settled.is_file() or not RULES.is_file():
        pytest.skip("the tools are not part of what is installed")
    text = RULES.read_text(encoding="utf-8")
    for row in _rows(settled):
        assert row["code"] in codes()
        (ruling,) = re.findall(rf"^- \*\*{row['ruling']}\*\* (.*)", text, re.MULTILINE)
        assert f"`{row['code']}`" in ruling
