"""`twinstep repair`: begin a run or resume one."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import math
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twinstep.bench import command
from twinstep.environment import CandidateRef, Environment
from twinstep.errors import UserError
from twinstep.project import cargo, registry
from twinstep.project.commits import Commits
from twinstep.project.registry import Pair
from twinstep.project.repository import Repository
from twinstep.repair import agents, loop, sandbox
from twinstep.repair.attempt import COMMITS, Workbench, branch_of, clear
from twinstep.repair.boundaries import require_apart
from twinstep.repair.checks import Checks
from twinstep.repair.journal import NAME, Journal, require_whole
from twinstep.repair.presets import PRESETS
from twinstep.repair.prompting import PromptSource
from twinstep.repair.speedup import Stopwatch
from twinstep.repair.verifier import Verifier

RUNS = Path(".twinstep/runs")
_DEFAULTS = {
    "candidate": "", "agent": "", "tries": 5, "iterations": 50, "budget_usd": 0.0, "hours": 0.0,
    "phases": "1234", "optimise": 0, "episodes": 100, "workers": 2, "check_minutes": 120.0,
    "sandbox": True,
}  # fmt: skip


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    parser = commands.add_parser("repair", help="let a coding agent work until all levels pass")
    add = parser.add_argument
    add("--env", default="", help="the environment's name")
    add("--candidate", help="default: the first one")
    add("--agent", help=f"one of {', '.join(sorted(PRESETS))}, or of [tool.twinstep.agents]")
    add("--tries", type=int, help="for each module in each phase; default: 5")
    add("--iterations", type=int, help="tries in all; default: 50")
    add("--budget-usd", type=float, help="dollars, by what the agent says; default: no limit")
    add("--hours", type=float, help="of agent and checks together; default: no limit")
    add("--phases", help="which of 1 to 4 to walk; default: 1234. 34: episodes alone find bugs")
    add("--optimise", type=int, metavar="N", help="then ask for speed so many times; default: 0")
    add("--episodes", type=int, help="a driver at level 3; default: 100, which a verdict needs")
    add("--workers", type=int, help="processes of a check; default: 2")
    add("--check-minutes", type=float, help="that one check may take; default: 120")
    add("--sandbox", action=argparse.BooleanOptionalAction, help="walls around the agent, which "
        "the network passes; default: yes. Without them the verdict rests on trust")  # fmt: skip
    add("--resume", metavar="RUN", default="", help="go on with a run, whatever ended it")
    add("--more-tries", type=int, default=0, help="with --resume: raise --tries and --iterations")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; return its exit code.

    0: verified. 1: out of budget. 2: needs a person. 3: the agent broke out of its files. 4: usage.
    """
    repository = Repository.here()
    folder = _resumed(args) if args.resume else _begun(args, repository)
    with _locked(folder):
        clear(folder)
        return _go(folder, repository, args.more_tries)


def _begun(args: argparse.Namespace, repository: Repository) -> Path:
    """Create the folder of a new run, with all its settings in its journal."""
    if not args.env or not args.agent:
        raise UserError("say --env and --agent, or --resume and a run's name")
    env = registry.environment(args.env)
    settings = {
        n: _DEFAULTS[n] if getattr(args, n) is None else getattr(args, n) for n in _DEFAULTS
    }
    candidates = {ref.name: ref for ref in env.candidates}
    name = args.candidate or next(iter(candidates), "")
    if name not in candidates:
        raise registry.unknown(f"candidate of {args.env}", name, candidates)
    agent = agents.find(args.agent, PRESETS)
    _require(settings, candidates[name], agent)
    require_apart(env, candidates[name])
    if settings["optimise"]:
        for pair in _measured(env, candidates[name]):
            command.require(pair.subject)
    base = repository.head()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = RUNS.absolute() / f"{args.env}-{name}-{stamp}-{secrets.token_hex(2)}"
    folder.mkdir(parents=True)
    key = folder / "holdout.key"
    key.touch(0o600)
    key.write_text(secrets.token_hex(32))
    settings |= {"env": args.env, "candidate": name, "base": base}
    Journal(folder).done("begin", lambda: settings)
    return folder


def _require(settings: dict[str, Any], candidate: CandidateRef, agent: agents.Agent) -> None:
    if not candidate.edit:
        raise UserError(f"candidate '{candidate.name}' declares no `edit`: nothing may be changed")
    for name in ("tries", "iterations", "episodes", "workers", "check_minutes"):
        if not 0 < settings[name] < math.inf:
            raise UserError(f"--{name.replace('_', '-')} {settings[name]}: must be above 0")
    for name in ("budget_usd", "hours"):
        if not 0 <= settings[name] < math.inf:
            raise UserError(
                f"--{name.replace('_', '-')} {settings[name]}: a number, 0 for no limit"
            )
    if settings["optimise"] < 0:
        raise UserError(f"--optimise {settings['optimise']}: 0, or how many tries")
    phases = settings["phases"]
    if settings["optimise"] and "3" not in phases:
        raise UserError(
            f"--optimise: a faster candidate is proven in episodes; --phases {phases} "
            "leaves them out"
        )
    if not phases or list(phases) != sorted(set(phases) & set("1234")):
        raise UserError(f"--phases {phases}: digits of 1 to 4 in order, as 1234 or 34")
    if settings["budget_usd"] and not agent.cost:
        raise UserError(
            f"--budget-usd: agent '{agent.name}' does not say what it costs (no `cost` in its "
            "table), so that no budget could end the run: use --iterations or --hours"
        )
    if settings["sandbox"]:
        sandbox.require()
    if shutil.which(agent.command[0]) is None:
        raise UserError(f"agent '{agent.name}': there is no program {agent.command[0]}")


def _pairs(env: Environment, candidate: CandidateRef) -> list[Pair]:
    """Return the candidate paired with every variant that it claims."""
    return [
        pair
        for subject in registry.subjects(env, {})
        for pair in registry.pairs(subject, [candidate.name])
    ]


def _require_reference(env: Environment, candidate: CandidateRef) -> None:
    """UserError where the reference cannot run here: no agent could mend that."""
    for pair in _pairs(env, candidate):
        if pair.subject.probe.problem:
            probe = pair.subject.probe
            raise UserError(f"{pair.subject.label}: {probe.problem}: {probe.mend}")


def _measured(env: Environment, candidate: CandidateRef) -> list[Pair]:
    """Return the pairs that a benchmark measures, or the first pair."""
    pairs = _pairs(env, candidate)
    named = [pair for pair in pairs if pair.subject.variant.name in env.oracle.measured]
    return named or pairs[:1]


def _resumed(args: argparse.Namespace) -> Path:
    folder = RUNS.absolute() / args.resume
    if not Journal(folder).entries:
        names = [path.name for path in RUNS.glob("*/")] if RUNS.is_dir() else []
        raise registry.unknown("run", args.resume, names)
    return folder


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a run: two processes that resume it would overwrite each other's files."""
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"run {folder.name} is under way in another process") from None
        yield


def _go(folder: Path, repository: Repository, more: int) -> int:
    require_whole(folder / NAME)
    journal = Journal(folder)
    if more:
        journal.grant(more)
    settings = journal.done("begin", dict)
    env = registry.environment(settings["env"])
    candidates = {ref.name: ref for ref in env.candidates}
    if settings["candidate"] not in candidates:
        raise registry.unknown(f"candidate of {env.name}", settings["candidate"], candidates)
    candidate = candidates[settings["candidate"]]
    agent = agents.find(settings["agent"], PRESETS)
    _require_reference(env, candidate)
    commits = Commits.of(folder / COMMITS, repository, settings["base"])
    place = Workbench(repository.root, commits, folder, candidate, agent, settings["sandbox"])
    verifier = Verifier(
        commits,
        env.name,
        candidate,
        folder,
        _key(folder / "holdout.key"),
        settings["episodes"],
        settings["workers"],
        settings["check_minutes"] * 60,
        lambda project: cargo.build(project, candidate.edit, folder, settings["sandbox"]),
        settings["sandbox"],
        (repository.root / repository.inner).resolve(),
    )
    checks = Checks(verifier, place, settings["base"])
    speed = settings.get("optimise", 0)
    limits = loop.Limits(
        settings["tries"] + journal.more,
        speed and speed + journal.more,
        settings["iterations"] + journal.more,
        settings["budget_usd"],
        settings["hours"] * 3600,
    )
    print(f"run {folder.name}, branch {branch_of(folder)}{_trust(settings)}", flush=True)
    machine = loop.Loop(
        PromptSource(_pairs(env, candidate), place),
        place,
        checks,
        Stopwatch(verifier, _measured(env, candidate)),
        journal,
        limits,
        tuple(map(int, settings["phases"])),
        _say,
    )
    try:
        place.show(journal.commit(settings["base"]))
        end = machine.run()
    except KeyboardInterrupt:
        print(f"\ngo on with: twinstep repair --resume {folder.name}", file=sys.stderr)
        raise
    finally:
        _deliver(commits, repository, folder, journal.commit(settings["base"]), settings["base"])
    return _ended(end, folder, checks, journal, _trust(settings))


def _deliver(commits: Commits, user: Repository, folder: Path, newest: str, base: str) -> None:
    """Give the user's repository the branch. What hinders that hides no end of a run."""
    branch = branch_of(folder)
    try:
        commits.deliver(user, branch, base, newest)
    except UserError as error:
        print(f"twinstep: branch {branch} could not be set ({error}); its commits are safe: "
              f"`git fetch {folder / COMMITS} {newest}`", file=sys.stderr)  # fmt: skip


def _key(file: Path) -> str:
    """Return the secret of hidden seeds; UserError if it is not as it was written."""
    try:
        key = file.read_text()
        if not bytes.fromhex(key):
            raise ValueError("it is empty")
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read ({error}): begin a new run") from error
    return key


def _trust(settings: dict[str, Any]) -> str:
    return "" if settings["sandbox"] else f"; {sandbox.TRUST}"


def _say(line: str) -> None:
    print(line, flush=True)


def _ended(end: loop.RunEnded, folder: Path, checks: Checks, journal: Journal, trust: str) -> int:
    branch = branch_of(folder)
    if end.code == loop.VERIFIED:
        files = next(e["files"] for e in reversed(journal.entries) if e["kind"] == "end")
        print(f"{loop.word_of_success(end.why)}: {end.why}. Take it over with "
              f"`git merge {branch}`, whose files have sha256 {files}{trust}")  # fmt: skip
        return end.code
    if end.code == loop.PERSON:
        last = [entry for entry in journal.entries if entry["kind"] == "check"][-1]
        text = checks.text(checks.found(last), "")
        print(f"needs a person: {checks.needs_person(end.why, text)}")
    words = {loop.BUDGET: "out of budget", loop.PERSON: "needs a person", loop.BREACH: "breach"}
    print(f"twinstep: {words[end.code]}: {end.why}{trust}", file=sys.stderr)
    if end.code == loop.BUDGET:
        print(f"twinstep: go on with --resume {folder.name} --more-tries 10", file=sys.stderr)
    return end.code
