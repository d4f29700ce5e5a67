"""`twinstep bench ENV`: fast implementations side by side with their reference, in one run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from twinstep._lib import machine, paths
from twinstep._lib.progress import on_a_terminal
from twinstep.bench import claims, table
from twinstep.bench.baselines import find, peers_of
from twinstep.bench.checksum import held_parts
from twinstep.bench.rounds import Progress, measure, ratio, with_ratios
from twinstep.bench.targets import AUTO_RESET, FEW, Job
from twinstep.bench.training_cell import trained, training_cell
from twinstep.bench.worker import ENVIRONMENT, Failed
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, variant_of
from twinstep.project.verdicts import sources_hash, verdict_of

#: Environment steps of a round with a policy over all lanes, unless --steps is given.
WORK = {"mlp": 1 << 18, "gru": 1 << 15}
#: The most rounds with a policy in the loop: one of a large network takes seconds.
POLICY_ROUNDS = 7
SCHEMA = 1
#: The folder of --train-only's results, below that of the others.
TRAINING = "training"


@dataclass(frozen=True)
class BenchRequest:
    """A requested benchmark. steps: per lane and round, 0 to choose them by the batch.

    peers: an interpreter with other implementations installed, "" for this one alone.
    training: measure PPO too; alone: only PPO.
    """

    env: str
    variants: tuple[str, ...]
    backends: tuple[str, ...]
    batches: tuple[int, ...]
    threads: tuple[int, ...]
    rounds: int
    steps: int = 0
    policies: tuple[str, ...] = ()
    peers: str = ""
    training: bool = False
    alone: bool = False

    def steps_of(self, lanes: int, policy: str = "") -> int:
        """Return the steps of a round."""
        work = WORK[policy] if policy else registry.environment(self.env).oracle.work
        return self.steps or max(2 if policy else 8, work // lanes)

    def command(self) -> str:
        """Return the command line of this measurement."""
        chosen: list[tuple[str, Iterable[Any]]] = [
            ("--variant", [v for v in self.variants if v]),
            ("--backend", self.backends),
            ("--batch", self.batches),
            ("--threads", self.threads),
            ("--rounds", [self.rounds]),
            ("--steps", [self.steps] if self.steps else []),
            ("--policy", self.policies),
            ("--peers", [self.peers] if self.peers else []),
        ]
        flags = ["--train-only" if self.alone else "--train"] if self.training else []
        options = [f"{name} {value}" for name, values in chosen for value in values]
        return f"twinstep bench {self.env} {' '.join(options + flags)}"


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    bench = commands.add_parser("bench", help="speed side by side with the reference")
    bench.add_argument("env", help="the environment's name")
    more: dict[str, Any] = {"action": "append", "default": []}
    bench.add_argument("--variant", **more, help="default: those declared to be measured")
    bench.add_argument("--backend", **more, help="default: every candidate that can run here")
    bench.add_argument("--batch", **more, help="lanes; default: those declared")
    bench.add_argument("--threads", **more, help="default: 1 (per core) and all cores")
    bench.add_argument("--rounds", help="rounds that are timed; default: 15")
    bench.add_argument("--steps", help="steps of every lane in a round; default: by the batch")
    bench.add_argument("--policy", **more, help="mlp or gru: also with a policy in the loop")
    bench.add_argument("--train", action="store_true", help="also PPO, in the reference too")
    bench.add_argument("--train-only", action="store_true",
                       help=f"PPO alone; the result lies in {TRAINING}/ of the folder")  # fmt: skip
    bench.add_argument("--peers", default="", metavar="PYTHON",
                       help="one that has peers: `make trainers ARGS=peers`")  # fmt: skip
    bench.add_argument("--out", type=Path, default=Path("benchmarks"), help="folder of results")
    bench.add_argument(
        "--verify-claims", action="store_true", help="compare with the results in --out"
    )
    bench.add_argument(
        "--slack", default="0.25", help="how far beyond the recorded spread a ratio may lie"
    )
    bench.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; return 0, or 1 for unequal work or a claim that does not hold."""
    request = _request(args)
    folder = args.out / TRAINING if request.alone else args.out
    held = folder / f"{request.env}.json"
    slack = _number("--slack", args.slack, float, 0)
    committed = None
    if args.verify_claims:
        committed = claims.read(held, SCHEMA)
        request = _narrowed(request, args, committed)
    elif not paths.writable(folder):
        raise UserError(f"--out {args.out}: results cannot be written there")
    progress = on_a_terminal()
    try:
        result = record(request, progress)
    except Failed as failed:
        progress("")
        print(f"twinstep bench: {failed}", file=sys.stderr)
        return 1
    progress("")
    if committed is not None:
        lines, failed_lines = claims.compare(committed, result, slack)
        print("\n".join(lines))
        return 1 if failed_lines else 0
    text = table.markdown(result)
    print(text)
    try:
        paths.write_atomically(held, (json.dumps(result, indent=1) + "\n").encode())
        paths.write_atomically(held.with_suffix(".md"), text.encode())
    except OSError as error:
        raise UserError(
            f"{held} cannot be written ({error.strerror}): its table is above"
        ) from error
    print(f"written: {held} and {held.with_suffix('.md').name}")
    return 0


def record(request: BenchRequest, progress: Progress) -> dict[str, Any]:
    """Run all requested measurements and return the result."""
    cores = sorted(os.sched_getaffinity(0))
    before = machine.load()
    subjects = [variant_of(request.env, name) for name in request.variants]
    cells = [
        cell(request, subject, cores[:threads], lanes, progress)
        for cell in (() if request.alone else (_cell, _physics_cell))
        for subject in subjects
        if cell is _cell or peers_of(subject, "physics")
        for threads in request.threads
        for lanes in request.batches
    ]
    policies = [
        _policy_cell(request, subject, backend, cores[:threads], lanes, policy, progress)
        for policy in request.policies
        for subject in subjects
        for backend in _compiled(cells, subject)
        for threads in request.threads
        for lanes in request.batches
    ]
    cells += [
        training_cell(
            request.env, subject, request.backends, cores[:threads], request.rounds, progress
        )
        for subject in (trained(subjects) if request.training else ())
        for threads in request.threads
    ]
    return {
        "schema": SCHEMA,
        "environment": subjects[0].contract.version,
        "reference": subjects[0].env.oracle.title,
        "command": request.command(),
        "request": asdict(request),
        **machine.made(cores[: max(request.threads)]),
        "variables": ENVIRONMENT,
        "load_average": {"before": before, "after": machine.load()},
        "sources": {
            ref.name: sources_hash(ref)[:16]
            for ref in subjects[0].env.candidates
            if ref.name in request.backends
        },
        "cells": cells,
        "policies": policies,
    }


def _cell(
    request: BenchRequest, subject: EnvVariant, cores: Sequence[int], lanes: int, progress: Progress
) -> dict[str, Any]:
    oracle = subject.env.oracle
    steps = request.steps_of(lanes)
    few = FEW if not oracle.bench else oracle.bench_work // steps or lanes
    played = min(few, lanes)
    variant = subject.variant.name
    first = Job(request.env, variant, "", "least", lanes, played, steps, tuple(cores))
    jobs = [first]
    for pair in registry.pairs(subject, request.backends):
        own = replace(first, backend=pair.candidate.name, played=lanes)
        jobs += [own, replace(own, how="make")]
    jobs += _peer_jobs(request, subject, first, "environment")
    cell = _measured(request, subject, first, jobs, progress)
    results = cell["results"]
    for result in results:
        if result["backend"]:
            (pair,) = registry.pairs(subject, [result["backend"]])
            verdict = verdict_of(subject, pair, result["platform"], AUTO_RESET)
            result["verdict"] = verdict.word
    proof = {"checksum": results[0]["checksum"], "compared": _compared(subject, results)}
    return {"work": "environment", **cell, **proof}


def _compared(subject: EnvVariant, results: list[dict[str, Any]]) -> list[str]:
    """Return the parts that must agree to the bit in every backend."""
    held = [
        held_parts(subject.contract, r["backend"], r["dtype"], r["platform"])
        for r in results
        if r["backend"]
    ]
    return sorted(set.intersection(*held)) if held else []


def _physics_cell(
    request: BenchRequest, subject: EnvVariant, cores: Sequence[int], lanes: int, progress: Progress
) -> dict[str, Any]:
    """Measure steps that write nothing: the reference's physics, the backends' and the peers'."""
    steps, variant = request.steps_of(lanes), subject.variant.name
    first = Job(request.env, variant, "", "physics", lanes, lanes, steps, tuple(cores))
    own = [replace(first, backend=backend) for backend in request.backends]
    others = _peer_jobs(request, subject, first, "physics")
    native = [job for job in others if find(subject, job.peer).model == "reference"]
    jobs = [*native, *own, *(job for job in others if job not in native)]
    return {"work": "physics", **_measured(request, subject, first, jobs, progress)}


def _measured(
    request: BenchRequest, subject: EnvVariant, first: Job, jobs: list[Job], progress: Progress
) -> dict[str, Any]:
    """Return a cell's description of its jobs, which play side by side."""
    left_out: list[str] = []
    results = measure(jobs, subject.contract, request.rounds, progress, left_out)
    return {
        "variant": first.variant,
        "threads": len(first.cores),
        "lanes": first.lanes,
        "steps": first.steps,
        "rounds": request.rounds,
        "results": with_ratios(results),
        "left_out": left_out,
    }


def _peer_jobs(request: BenchRequest, subject: EnvVariant, first: Job, work: str) -> list[Job]:
    """Return the jobs of the baselines that are installed here or in the interpreter of --peers."""
    return [
        replace(
            first,
            peer=peer.name,
            played=first.lanes,
            steps=peer.steps(first.steps, first.lanes),
            python="" if peer.here else request.peers,
        )
        for peer in peers_of(subject, work)
        if peer.here or request.peers
    ]


def _compiled(cells: list[dict[str, Any]], subject: EnvVariant) -> list[str]:
    """Return the backends that can be compiled together with a policy."""
    found: dict[str, None] = {}
    for cell in cells:
        if cell["work"] == "environment" and cell["variant"] == subject.variant.name:
            found |= {r["backend"]: None for r in cell["results"] if "hlo_bytes" in r}
    return list(found)


def _policy_cell(
    request: BenchRequest,
    subject: EnvVariant,
    backend: str,
    cores: Sequence[int],
    lanes: int,
    policy: str,
    progress: Progress,
) -> dict[str, Any]:
    steps = request.steps_of(lanes, policy)
    variant = subject.variant.name
    job = Job(request.env, variant, backend, policy, lanes, lanes, steps, tuple(cores))
    rounds = min(request.rounds, POLICY_ROUNDS)
    asked, drawn = measure([job], subject.contract, rounds, progress, [])
    flops = asked["flops_per_step"] * asked["rate"]["median"]
    return {
        "variant": variant,
        "backend": backend,
        "policy": policy,
        "threads": len(cores),
        "lanes": lanes,
        "steps": steps,
        "rounds": rounds,
        "flops_per_second": flops,
        # The time without the network over the time with it.
        "environment_share": ratio(asked, drawn),
        "results": [asked, drawn],
    }


def _request(args: argparse.Namespace) -> BenchRequest:
    env = registry.environment(args.env)
    variants = args.variant or env.oracle.measured or [env.variants[0].name]
    subjects = [variant_of(args.env, name) for name in variants]
    backends: dict[str, None] = {}
    for subject in subjects:
        require(subject)
        for pair in registry.pairs(subject, args.backend):
            if not pair.probe.problem:
                backends[pair.candidate.name] = None
            elif args.backend:
                name = pair.candidate.name
                raise UserError(f"backend {name}: {pair.probe.problem}: {pair.probe.mend}")
    if args.train or args.train_only:
        learnt = [subject.variant.name for subject in trained(subjects)]
        variants = learnt if args.train_only else variants
    if args.train_only and (args.policy or args.batch or args.steps):
        raise UserError(
            "--train-only plays level 4's batches: leave --batch, --steps, --policy out"
        )
    if not backends:
        raise UserError(f"no backend of {args.env} can run here: see `twinstep envs`")
    for policy in args.policy:
        if policy not in WORK:
            raise registry.unknown("policy", policy, list(WORK))
    cores = len(os.sched_getaffinity(0))
    threads = [_number("--threads", text, int, 1) for text in args.threads]
    for count in threads:
        if count > cores:
            raise UserError(f"--threads {count}: this process may use {cores} cores")
    return BenchRequest(
        args.env,
        tuple(dict.fromkeys(variants)),
        tuple(backends),
        () if args.train_only else _batches(args.batch, subjects[0]),
        tuple(dict.fromkeys(threads or [1, cores])),
        _number("--rounds", args.rounds or "15", int, 1),
        _number("--steps", args.steps, int, 1) if args.steps is not None else 0,
        tuple(dict.fromkeys(args.policy)),
        _python(args.peers),
        args.train or args.train_only,
        args.train_only,
    )


def _batches(given: Sequence[str], subject: EnvVariant) -> tuple[int, ...]:
    most = subject.contract.largest_batch
    declared = tuple(count for count in subject.env.oracle.batches if count <= most)
    return tuple(_number("--batch", text, int, 1) for text in given) or declared


def _python(path: str) -> str:
    if path and not shutil.which(path):
        raise UserError(f"--peers {path}: no program to run: `make trainers ARGS=peers` makes one")
    return path


def _narrowed(request: BenchRequest, args: argparse.Namespace, committed: Any) -> BenchRequest:
    """Return the committed result, or the part that the options choose."""
    then = claims.request_of(committed)
    return replace(
        request,
        variants=request.variants if args.variant else tuple(then["variants"]),
        backends=request.backends if args.backend else tuple(then["backends"]),
        batches=request.batches if args.batch else tuple(then["batches"]),
        threads=request.threads if args.threads else tuple(then["threads"]),
        rounds=request.rounds if args.rounds else then["rounds"],
        steps=request.steps if args.steps else then["steps"],
        policies=request.policies if args.policy else tuple(then["policies"]),
        peers=request.peers or _peers_here(then.get("peers", "")),
        training=request.training or then.get("training", False),
        alone=request.alone,
    )


def _peers_here(path: str) -> str:
    """Return the interpreter that a result was measured with; "" with a line if it is not here."""
    try:
        return _python(path)
    except UserError as missing:
        print(f"peers are left out: {missing}")
        return ""


def require(subject: EnvVariant) -> None:
    """Raise UserError if the variant cannot be measured."""
    contract, probe = subject.contract, subject.probe
    if probe.problem:
        raise UserError(f"the reference cannot run here: {probe.problem}: {probe.mend}")
    if AUTO_RESET not in contract.auto_resets:
        raise UserError(
            f"{subject.label} has no {AUTO_RESET} auto-reset, which a benchmark plays with: "
            "choose another --variant"
        )


def _number(option: str, text: str, parse: Any, least: float) -> Any:
    try:
        value = parse(text)
    except ValueError:
        value = None
    if value is None or not value >= least:
        raise UserError(f"{option} {text}: a number of at least {least} is needed")
    return value
