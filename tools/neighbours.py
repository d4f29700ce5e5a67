"""Run the suite against other releases of a reference: does it notice the difference?

    .venv/bin/python tools/neighbours.py

Each release is installed into its own folder and replaces the oracle in a generated project; the
candidate is the one proven against the pinned release. A level with a report distinguishes the two
releases. A level that passes shows that they are equal on the tested domain. A bridge may also
refuse a release with another programming interface or other saved states. For Pokemon Showdown's
other package see `test_the_other_package_of_the_same_simulator_is_found_...`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinstep._lib import machine, paths

LEVELS = {1: "properties", 2: "interactions", 3: "rollouts"}
_PROJECT = '''"""The environment with another release of its reference."""

import dataclasses
import sys

from twinstep.environment import Probe
from twinstep.{contract} import ENVIRONMENT as PINNED

FOLDER, RELEASE = {folder!r}, {release!r}


def oracle(contract):
    """Import the bridge only after the other release is the first that is found."""
    sys.path.insert(0, FOLDER)
    module, _, name = PINNED.oracle.factory.partition(":")
    made = getattr(__import__(module, fromlist=[name]), name)(contract)
    found = sys.modules[{package!r}]
    assert str(found.__file__).startswith(FOLDER), found.__file__
    return made


def probe(params):
    return Probe({{{package!r}: RELEASE}})


ENV = dataclasses.replace(
    PINNED,
    name="neighbour",
    oracle=dataclasses.replace(
        PINNED.oracle,
        title=RELEASE,
        factory="neighbour:oracle",
        probe="neighbour:probe",
        package="neighbour",
    ),
    variants=tuple(v for v in PINNED.variants if v.name in {variants!r}),
)
'''


@dataclass(frozen=True)
class Neighbour:
    """A release. contract: the declaration of the environment, as `contracts.x:NAME`.

    variants: the variants to test.
    """

    env: str
    contract: str
    candidate: str
    package: str
    version: str
    variants: tuple[str, ...] = ("",)


_CHEETAH = "contracts.halfcheetah.declaration:HALFCHEETAH"
_GAMES = ("catch", "heavy", "random")
NEIGHBOURS = (
    *(
        Neighbour("halfcheetah", _CHEETAH, "rust64", "mujoco", version)
        for version in ("3.3.7", "3.8.1", "3.12.0", "3.13.0", "3.14.0", "3.15.0", "3.17.0", "4.0.0")
    ),
    *(
        Neighbour(
            "emurust", "contracts.emurust.declaration:EMURUST", "rust", "pyboy", version, _GAMES
        )
        for version in ("2.6.1", "2.7.0", "2.8.0", "2.8.1")
    ),
)


def tested(neighbour: Neighbour, folder: Path) -> dict[str, Any]:
    """Run each level on a release; return its row, as plain JSON values."""
    release = f"{neighbour.package}=={neighbour.version}"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-input",
         "--disable-pip-version-check", "--target", str(folder / "release"), release],
        check=True,
    )  # fmt: skip
    contract, _, name = neighbour.contract.partition(":")
    source = _PROJECT.format(
        contract=contract,
        folder=str(folder / "release"),
        release=release,
        package=neighbour.package,
        variants=neighbour.variants,
    ).replace("ENVIRONMENT", name)
    (folder / "neighbour").mkdir()
    (folder / "neighbour" / "__init__.py").write_text(source)
    (folder / "pyproject.toml").write_text('[tool.twinstep.envs]\nneighbour = "neighbour:ENV"\n')
    row: dict[str, Any] = {"env": neighbour.env, "release": release, "levels": {}}
    for level, package in LEVELS.items():
        chosen = ["-m", f"level{level}", "--env", "neighbour", "--candidate", neighbour.candidate]
        chosen += ["--nonce", "asked", "--pyargs", f"twinstep.{package}"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *chosen],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(
                f"{release}, level {level}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        row["levels"][str(level)] = _outcome(folder)
    return row


def _outcome(folder: Path) -> dict[str, Any]:
    """Return a level's outcome: numbers of passed and failed tests and reports, and the first."""
    run = json.loads((folder / ".twinstep" / "verdict.json").read_text())["run"]
    reports = [test for test, why in run["why"].items() if why.startswith("report ")]
    failed = [
        test for test, outcome in run["tests"].items() if outcome not in ("passed", "skipped")
    ]
    first = ""
    if reports:
        name = run["why"][reports[0]].split()[1]
        record = json.loads((folder / ".twinstep" / "reports" / f"{name}.json").read_text())
        first = next((s["module"] for s in record["suspects"]), "") or record["case"]["kind"]
    elif failed:
        first = run["why"].get(failed[0], "it failed").strip().partition("\n")[0]
    passed = sum(outcome == "passed" for outcome in run["tests"].values())
    return {"passed": passed, "failed": len(failed), "reports": len(reports), "first": first}


def table(data: dict[str, Any]) -> str:
    """Return the result as Markdown."""
    who = data["machine"]
    lines = [
        "# Neighbouring releases of the references",
        "",
        "`tools/neighbours.py`: each release in the oracle's place, the candidate that is proven",
        "against the pinned one.",
        "",
        f"- processor: {who['cpu']} ({who['architecture']}), {who['cores_used']} cores",
        f"- versions: {', '.join(f'{n} {v}' for n, v in data['versions'].items())}",
        "",
        "| environment | release | level 1 | level 2 | level 3 |",
        "|---|---|---|---|---|",
    ]
    for row in data["rows"]:
        cells = [_cell(level) for level in row["levels"].values()]
        lines.append(f"| {' | '.join([row['env'], row['release'], *cells])} |")
    return "\n".join(lines) + "\n"


def _cell(level: dict[str, Any]) -> str:
    """Return a level's cell; a failure without a report is the bridge's, and no difference."""
    tests = level["passed"] + level["failed"]
    if level["reports"]:
        return f"differs: {level['failed']} of {tests} fail, first {level['first']}"
    if level["failed"]:
        words = f"{level['failed']} of {tests} cannot be asked: {level['first'].strip()}"
        return words.replace("|", "/")
    return f"the same: {tests} tests"


def main() -> None:
    """Test the releases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", choices=sorted({n.env for n in NEIGHBOURS}), default="")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/neighbours"))
    args = parser.parse_args()
    rows = []
    for neighbour in NEIGHBOURS:
        if args.env in ("", neighbour.env):
            with tempfile.TemporaryDirectory(prefix="twinstep-neighbours-") as folder:
                rows.append(tested(neighbour, Path(folder)))
            print(json.dumps(rows[-1]), flush=True)
    data = {
        "machine": machine.machine(sorted(os.sched_getaffinity(0))),
        "versions": machine.versions(),
        "rows": rows,
    }
    stem = args.out
    paths.write_atomically(stem.with_suffix(".json"), (json.dumps(data, indent=1) + "\n").encode())
    paths.write_atomically(stem.with_suffix(".md"), table(data).encode())


if __name__ == "__main__":
    main()
