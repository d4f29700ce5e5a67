"""The audit's runner: a verdict becomes a row, a witness is run, and nothing ends the run."""

import io
import json

import pytest

from audits import run

ENTRY = {
    "verdict": "equal",
    "oracle": "the reference",
    "pins": {"library": "1"},
    "dtype": "float32",
    "gates": {"obs": "Lockstep(atol=0.0, rtol=0.0, signed_zeros=True)"},
    "drivers": {"random": {"steps": 1000, "episodes": 100}, "sticky": {"steps": 9, "episodes": 1}},
    "levels": {},
    "never_seen": [],
}


def test_equal_bits_are_called_equal_and_all_drivers_steps_are_counted():
    found = run.entry_facts(ENTRY, [])
    assert (found["verdict"], found["steps"], found["gates"]) == ("equal", 1009, [])


@pytest.mark.parametrize("gate", ["Resync(max=1e-06, above=())", "Lockstep(atol=1e-4, rtol=0.0)"])
def test_a_gate_that_allows_rounding_is_in_the_row(gate):
    assert run.entry_facts(ENTRY | {"gates": {"obs": gate}}, [])["gates"] == [gate]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("assert 1 == 2, 'one 1, two 2'", "confirmed: one 1, two 2"),
        ("assert 1 == 1, 'one 1, two 1'", "the witness shows no difference"),
        ("import no_such_library", "the witness fails: ModuleNotFoundError"),
    ],
)
def test_a_witness_confirms_only_by_its_assertion(script, said, tmp_path, monkeypatch):
    (tmp_path / "pair.py").write_text(script)
    monkeypatch.setattr(run, "WITNESSES", tmp_path)
    assert run.confirm("pair").startswith(said)


def test_a_difference_without_a_witness_is_not_confirmed(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "WITNESSES", tmp_path)
    assert run.confirm("pair") == "no witness"


def test_a_pair_that_cannot_be_imported_is_a_row_that_says_so_and_the_run_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(run, "WORK", tmp_path / "work")
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run, "module_of", lambda name: f"no_such_library.{name}")
    out = io.StringIO()
    rows = run.run(["first", "second"], 2, out)
    assert [row["verdict"] for row in rows] == ["not run", "not run"]
    assert all("no_such_library" in row["problem"] for row in rows)
    assert len(out.getvalue().splitlines()) == 2
    written = [json.loads(file.read_text()) for file in sorted((tmp_path / "results").iterdir())]
    assert written == rows


def test_a_result_has_the_versions_of_both_sides_and_the_machine(monkeypatch):
    monkeypatch.setattr(run, "_verdict", lambda name, folder: ({"pairs": {"": ENTRY}}, ""))
    monkeypatch.setattr(run, "_reports", lambda verdict, folder: [])
    row = run.audit("pair")
    assert row["versions"] == {"library": "1"}
    assert row["machine"]["cores_used"]


def test_a_pair_that_hangs_is_a_row_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "WORK", tmp_path)
    monkeypatch.setattr(run, "LIMIT", 0.01)
    monkeypatch.setattr(run, "module_of", lambda name: f"no_such_library.{name}")
    assert "did not end" in run.audit("pair")["problem"]
