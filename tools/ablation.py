"""Compare repair with all levels against repair with whole episodes alone.

    .venv/bin/python tools/ablation.py --starts 8

Each start is CartPole with one bug in each of three functions. A scripted agent, not a model, reads
one function per try: the one that the prompt names, or a random other one if the prompt names it
again. It fixes every bug in the function it reads. So the result depends on the prompts' names.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from twinstep._lib import machine, paths
from twinstep.mutation.python_operators import Mutant, mutants_of
from twinstep.repair import history
from twinstep.repair.journal import read

EXAMPLE = Path("examples/cartpole")
FAST = "twinstep_cartpole/fast"
RULES, GENERATOR = f"{FAST}/rules.py", f"{FAST}/generator.py"
#: Functions that a prompt can name: module -> file.
NAMED = {"start": RULES, "push": RULES, "move": RULES, "judge": RULES, "limit": RULES}
#: Functions with planted bugs: (file, function) -> module that a prompt names for it.
PLACES = {(RULES, name): name for name in NAMED} | {
    (GENERATOR, name): "start"
    for name in ("_seed_sequence", "_multiply", "seeded", "uniform", "_add", "_advance", "words")
}
ARMS = {"all levels": "123", "episodes alone": "3"}
TRIES = 12
_AGENT = """
import json
import os
import random
import sys
from pathlib import Path

WRONG = {wrong!r}
NAMES = {names!r}
prompt = sys.stdin.read()
asked = os.environ["TWINSTEP_MODULE"]
place = asked
if "It was tried" in prompt or "## The last try" in prompt:
    others = sorted(set(NAMES) - {{asked}})
    place = random.Random(os.environ["TWINSTEP_TRY"]).choice(others)
mended = []
for module, path, wrong, right in WRONG:
    text = Path(path).read_text()
    if module == place and wrong in text:
        Path(path).write_text(text.replace(wrong, right))
        mended.append(module)
held = any(m == asked and w in Path(p).read_text() for m, p, w, _ in WRONG) or asked in mended
print("READ " + json.dumps({{"asked": asked, "held": held, "read": place, "mended": mended}}))
"""


def bugs(seed: int, count: int) -> list[tuple[str, Mutant]]:
    """Return one killed mutant in each of `count` modules, drawn at random."""
    table = json.loads(Path("benchmarks/mutants/cartpole.json").read_text())["mutants"]
    killed = {row["id"] for row in table if row["class"] == "killed"}
    by_module: dict[str, list[Mutant]] = {}
    for path in (RULES, GENERATOR):
        for mutant in mutants_of((EXAMPLE / path).read_bytes(), path, ""):
            if mutant.id in killed and (module := PLACES.get((path, mutant.symbol))):
                by_module.setdefault(module, []).append(mutant)
    rng = random.Random(seed)
    return [(name, rng.choice(by_module[name])) for name in rng.sample(sorted(by_module), count)]


def project(folder: Path, planted: list[tuple[str, Mutant]]) -> None:
    """Create a repository with the bugs, and the agent that knows them."""
    left = shutil.ignore_patterns(".*_cache", ".twinstep", "*.egg-info", "mutants.toml")
    shutil.copytree(EXAMPLE, folder, ignore=left)
    wrong = []
    for module, mutant in planted:
        right = (EXAMPLE / mutant.path).read_text()
        bad = mutant.applied(right.encode()).decode()
        pieces = [_function(text, mutant.symbol) for text in (bad, right)]
        wrong.append((module, mutant.path, *pieces))
        file = folder / mutant.path
        file.write_text(file.read_text().replace(pieces[1], pieces[0]))
    (folder / "agent.py").write_text(_AGENT.format(wrong=wrong, names=list(NAMED)))
    with (folder / "pyproject.toml").open("a") as file:
        file.write('\n[tool.twinstep.envs]\ncartpole = "twinstep_cartpole.declared:CARTPOLE"\n')
        command = json.dumps([sys.executable, "agent.py"])
        file.write(f"\n[tool.twinstep.agents.scripted]\ncommand = {command}\n")
    (folder / ".gitignore").write_text(".twinstep/\n")
    who = ("-c", "user.name=ablation", "-c", "user.email=ablation@twinstep.invalid")
    for args in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "three bugs")):
        subprocess.run(["git", *who, *args], cwd=folder, check=True)


def _function(text: str, name: str) -> str:
    node = next(n for n in ast.parse(text).body if getattr(n, "name", "") == name)
    return str(ast.get_source_segment(text, node))


def repaired(folder: Path, phases: str, cache: Path) -> dict[str, Any]:
    """Repair a project with the agent in these phases; return the numbers of the run."""
    command = [sys.executable, "-m", "twinstep.cli", "repair", "--env", "cartpole"]
    command += ["--agent", "scripted", "--phases", phases, "--tries", str(TRIES)]
    env = os.environ | {"TWINSTEP_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    runs = sorted((folder / ".twinstep" / "runs").iterdir(), key=lambda run: run.stat().st_mtime)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    record = history.from_entries(runs[-1].name, read(runs[-1] / "log.jsonl"))
    reads = [_read(runs[-1] / "tries" / f"{one.number}.log") for one in record.tries]
    return {
        "end": str(record.end).partition(":")[0],
        "tries": len(record.tries),
        "named": sum(one["held"] for one in reads),
        "asked": [one["asked"] for one in reads],
        "mended": [one["mended"] for one in reads],
        "checks": len(record.checks),
        "check_seconds": round(sum(check.seconds for check in record.checks), 1),
    }


def _read(log: Path) -> dict[str, Any]:
    (line,) = (one for one in log.read_text().splitlines() if one.startswith("READ "))
    return json.loads(line.removeprefix("READ "))


def table(data: dict[str, Any]) -> str:
    """Return the result as Markdown."""
    who, rows = data["machine"], data["rows"]
    lines = [
        "# All levels against whole episodes alone",
        "",
        f"`{data['command']}`: {len(rows)} starts, each CartPole with {data['bugs']} bugs in as",
        "many functions. A scripted agent, no model, reads the function that it is asked for, and",
        f"another at random when it is asked for the same again; {TRIES} tries a module at most.",
        "",
        f"- processor: {who['cpu']} ({who['architecture']}), {who['cores_used']} cores",
        f"- versions: {', '.join(f'{n} {v}' for n, v in data['versions'].items())}",
        "",
        "| | verified | tries, median (most) | tries that named a guilty function | seconds of "
        "checks, median |",
        "|---|---|---|---|---|",
    ]
    for arm in ARMS:
        runs = [row[arm] for row in rows]
        tries = [run["tries"] for run in runs]
        named = sum(run["named"] for run in runs)
        share = f"{named} of {sum(tries)} ({100 * named / max(1, sum(tries)):.0f} %)"
        good = sum(run["end"] == "verified" for run in runs)
        seconds = statistics.median(run["check_seconds"] for run in runs)
        lines.append(
            f"| {arm} | {good} of {len(runs)} | {statistics.median(tries):g} ({max(tries)}) | "
            f"{share} | {seconds:.0f} |"
        )
    lines += ["", f"| bugs | {' | '.join(f'tries: {arm}' for arm in ARMS)} |", "|---|---|---|"]
    for row in rows:
        runs = [f"{row[arm]['tries']}, {row[arm]['end']}" for arm in ARMS]
        lines.append(f"| {'; '.join(row['bugs'])} | {' | '.join(runs)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run both arms from the same starts and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--bugs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/ablation"))
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="twinstep-ablation-") as scratch:
        for start in range(args.starts):
            planted = bugs(args.seed + start, args.bugs)
            row: dict[str, Any] = {"bugs": [f"{name}: {m.what}" for name, m in planted]}
            for arm, phases in ARMS.items():
                folder = Path(scratch) / f"{start}-{phases}"
                project(folder, planted)
                row[arm] = repaired(folder, phases, Path(scratch) / "cache")
            rows.append(row)
            print(json.dumps(row), flush=True)
    command = (
        f"python tools/ablation.py --starts {args.starts} --bugs {args.bugs} --seed {args.seed}"
    )
    data = {
        "command": command,
        "bugs": args.bugs,
        "machine": machine.machine(sorted(os.sched_getaffinity(0))),
        "versions": machine.versions(),
        "load_average": machine.load(),
        "rows": rows,
    }
    paths.write_atomically(
        args.out.with_suffix(".json"), (json.dumps(data, indent=1) + "\n").encode()
    )
    paths.write_atomically(args.out.with_suffix(".md"), table(data).encode())


if __name__ == "__main__":
    main()
