"""Each difference on the scoreboard is shown by a script that asks both libraries alone."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from audits import run, scoreboard

pytest.importorskip("envpool", reason="the audited libraries are in `make trainers ARGS=audit`")

DIFFERENT = [row["pair"] for row in scoreboard.results() if row["verdict"] == "differs"]


@pytest.fixture(scope="module")
def said():
    """What each witness says; they are processes of their own, mostly of imports."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(DIFFERENT, pool.map(run.confirm, DIFFERENT), strict=True))


@pytest.mark.parametrize("pair", DIFFERENT)
def test_the_witness_confirms_the_difference(said, pair):
    assert said[pair].startswith("confirmed: ")
