"""Run twinstep's own suites on pairs, one process each, and keep one result a pair.

A pair whose library is missing, or that crashes or hangs, is a result that says so, and the run
goes on. A result is written only when it is complete.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TextIO

from audits.pair import module_of
from twinstep._lib import machine, paths
from twinstep.diagnosis import report
from twinstep.testing.accounting import allows_rounding

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "audits" / "results"
WITNESSES = ROOT / "audits" / "witnesses"
WORK = ROOT / ".twinstep" / "audits"
#: Seconds after which a pair counts as hung.
LIMIT = 1800
#: Gates that allow nothing, as a verdict writes them.
SUITES = ("twinstep.properties", "twinstep.interactions", "twinstep.rollouts")
_PROJECT = """[tool.twinstep.envs]
{name} = "{module}:PAIR"

# Libraries warn of themselves, so warnings are no errors here.
[tool.pytest.ini_options]
twinstep = true
addopts = ["-q", "--pyargs", "--env", "{name}", "-m", "not level4 and not slow"]
testpaths = {suites}
"""


def run(names: list[str], jobs: int, out: TextIO) -> list[dict[str, Any]]:
    """Run pairs, write their results, and print a line for each as it ends."""
    began, done = time.monotonic(), 0

    def one(name: str) -> dict[str, Any]:
        nonlocal done
        result = audit(name)
        write(result)
        done += 1
        minutes = (time.monotonic() - began) / 60
        out.write(f"[{done}/{len(names)}, {minutes:.0f} min] {summary(result)}\n")
        out.flush()
        return result

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, names))


def summary(result: dict[str, Any]) -> str:
    """Return a result in one line."""
    said = result["problem"] or result["first"] or f"{result['steps']:,} steps compared"
    return f"{result['pair']}: {result['verdict']}; {said}"


def audit(name: str) -> dict[str, Any]:
    """Return the result of one pair; it never raises."""
    began = time.monotonic()
    folder = WORK / name
    try:
        verdict, problem = _verdict(name, folder)
        entry = next(iter(verdict["pairs"].values()), {}) if verdict else {}
        found = entry_facts(entry, _reports(verdict, folder) if verdict else [])
        if problem and not entry:
            found["verdict"] = "not run"
    except Exception as error:  # one pair never ends the run
        found, problem = entry_facts({}, []), f"{type(error).__name__}: {error}".partition("\n")[0]
    return {
        "schema": 1,
        "pair": name,
        **found,
        "problem": problem,
        "witness": confirm(name) if found["verdict"] == "differs" else "",
        "minutes": round((time.monotonic() - began) / 60, 1),
        **{name: value for name, value in machine.made().items() if name in ("machine", "date")},
    }


def entry_facts(entry: dict[str, Any], records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a verdict's entry and the reports say of a pair.

    verdict: twinstep's own word. first: the headline of the simplest report without the pair's
    name. gates: those that allow rounding. steps: compared at level 3.
    """
    word = entry.get("verdict", "not run")
    gates = allows_rounding(entry.get("gates", {}))
    best = min(records, key=_order, default=None)
    return {
        "reference": entry.get("oracle", ""),
        "versions": entry.get("pins", {}),
        "dtype": entry.get("dtype", ""),
        "verdict": word,
        "gates": gates,
        "first": report.headline(best).partition(": ")[2] if best else "",
        "steps": sum(seen["steps"] for seen in entry.get("drivers", {}).values()),
        "episodes": sum(seen["episodes"] for seen in entry.get("drivers", {}).values()),
        "levels": entry.get("levels", {}),
        "never_seen": entry.get("never_seen", []),
    }


def _order(record: dict[str, Any]) -> tuple[Any, ...]:
    """A report with values before one without, a whole episode's first step before the rest."""
    steps = sum(count for _, count in record["case"]["actions"])
    rows = record["diff"]
    rounding = bool(rows) and bool(report.rounding_of(rows[0]))
    return not rows, rounding, steps, record["context"]["level"], record["id"]


def _verdict(name: str, folder: Path) -> tuple[dict[str, Any] | None, str]:
    """Run the suites on a pair; return the verdict, None without one, and what went wrong."""
    shutil.rmtree(folder / ".twinstep" / "reports", ignore_errors=True)
    (folder / ".twinstep" / "verdict.json").unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(
        _PROJECT.format(name=name, module=module_of(name), suites=json.dumps(SUITES))
    )
    with open(folder / "log.txt", "w") as log:
        try:
            code = subprocess.run(
                [sys.executable, "-m", "pytest"],
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=LIMIT,
            ).returncode
        except subprocess.TimeoutExpired:
            return None, f"it did not end within {LIMIT // 60} minutes"
    path = folder / ".twinstep" / "verdict.json"
    if path.is_file():
        return json.loads(path.read_text()), ""
    lines = [line.strip() for line in (folder / "log.txt").read_text().splitlines()]
    errors = [line for line in lines if line.startswith(("ERROR", "UsageError", "twinstep:"))]
    words = [line for line in errors or lines if line]
    return None, words[-1] if words else f"pytest ended with {code}, and without a word"


def _environment() -> dict[str, str]:
    """Return the variables of a process that finds the package `audits`."""
    search = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    return os.environ | {"PYTHONPATH": os.pathsep.join(search)}


def _reports(verdict: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    files = [folder / ".twinstep" / "reports" / f"{id}.json" for id in verdict["reports"]]
    return [json.loads(file.read_text()) for file in files]


def confirm(name: str) -> str:
    """Run the witness of a difference: `confirmed: ...` with both answers, or why not.

    A witness is a script that asks both libraries without twinstep and ends in an assertion that
    they agree.
    """
    script = WITNESSES / f"{name}.py"
    if not script.is_file():
        return "no witness"
    try:
        run = subprocess.run(
            [sys.executable, "-W", "ignore", script],
            cwd=WITNESSES,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
    except subprocess.TimeoutExpired:
        return "the witness did not end"
    last = (run.stderr.strip().splitlines() or [""])[-1]
    if run.returncode == 0:
        return "the witness shows no difference"
    if last.startswith("AssertionError: "):
        return last.replace("AssertionError", "confirmed", 1)
    return f"the witness fails: {last}"


def write(result: dict[str, Any]) -> None:
    """Write a pair's result."""
    text = json.dumps(result, indent=1, sort_keys=True) + "\n"
    paths.write_atomically(RESULTS / f"{result['pair']}.json", text.encode())
