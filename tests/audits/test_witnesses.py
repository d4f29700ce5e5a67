"""Each difference on the scoreboard is shown by a script that asks both libraries alone."""

import pytest

from audits import run, scoreboard

pytest.importorskip("envpool", reason="the audited libraries are in `make trainers ARGS=audit`")

DIFFERENT = [row["pair"] for row in scoreboard.results() if row["verdict"] == "differs"]


@pytest.mark.parametrize("pair", DIFFERENT)
def test_the_witness_confirms_the_difference(pair):
    assert run.confirm(pair).startswith("confirmed: ")
