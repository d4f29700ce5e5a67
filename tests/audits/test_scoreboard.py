"""What the repository says of public pairs: the results, their witnesses, and the scoreboard."""

import ast
import json

import pytest

from audits import run, scoreboard
from audits.pair import module_of, names

ROWS = {row["pair"]: row for row in scoreboard.results()}
DIFFERING = sorted(name for name, row in ROWS.items() if row["verdict"] == "differs")


def test_the_scoreboard_fits_the_results():
    assert not scoreboard.stale()


def test_a_changed_result_makes_the_scoreboard_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(scoreboard, "RESULTS", tmp_path)
    row = ROWS[min(ROWS)] | {"steps": 12345}
    (tmp_path / "one.json").write_text(json.dumps(row))
    assert "does not fit" in scoreboard.stale()


#: A header in C has no face of its own in Python.
BINDINGS = {"audits.pairs.pufferlib._cart"}


def test_each_result_has_a_pair_and_each_pair_is_told_of():
    assert set(ROWS) <= set(names())
    assert not [name for name in names() if name not in scoreboard.text()]


def test_each_name_leads_to_its_module():
    assert {
        module_of(name).removeprefix("audits.pairs.").replace(".", "_", 1) for name in ROWS
    } == set(ROWS)


@pytest.mark.parametrize("name", DIFFERING)
def test_each_difference_is_confirmed_by_a_script_without_twinstep(name):
    assert ROWS[name]["witness"].startswith("confirmed: "), ROWS[name]["witness"]
    tree = ast.parse((run.WITNESSES / f"{name}.py").read_text())
    nodes = list(ast.walk(tree))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    ours = {module for module in modules if module.split(".")[0] in ("twinstep", "audits")}
    assert ours <= BINDINGS
    assert isinstance(tree.body[-1], ast.Assert), "it ends in the assertion that both agree"


def test_no_witness_is_left_of_a_pair_that_does_not_differ():
    left = {file.stem for file in run.WITNESSES.glob("*.py")} - set(DIFFERING)
    assert not left & set(ROWS)
    assert left <= set(names())
