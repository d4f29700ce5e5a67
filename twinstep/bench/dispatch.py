"""Dispatch a benchmark job to its targets: the reference, its runners, a candidate, a trainer."""

from __future__ import annotations

from typing import Any

from twinstep.bench import baselines
from twinstep.bench.targets import (
    AUTO_RESET,
    BufferTarget,
    Job,
    NamedTarget,
    Target,
    UnwrittenTarget,
)
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.protocols import offers
from twinstep.runner.runner import Runner


def entries(job: Job) -> list[NamedTarget]:
    """Return the targets of a job's process; [] if the backend has no such way to play."""
    subject = job.subject()
    contract = subject.contract
    if job.peer:
        return [baselines.find(subject, job.peer).entry(contract, job)]
    if job.how == "physics":
        return _physics(subject, job)
    if job.how == "ppo":
        from twinstep.bench.training_targets import training_entries

        return training_entries(subject, job)
    if job.how not in ("least", "make"):
        from twinstep.bench.policy_targets import policy_entries

        return policy_entries(subject, job)
    if not job.backend:
        if subject.env.oracle.bench:
            make = registry.load_object(subject.env.oracle.bench)
            return list(make(contract, job.played, job.steps, job.threads))
        return [NamedTarget("through its bridge", _through_make(subject, "oracle"))]
    if job.how == "make":
        return [NamedTarget(f"{job.backend}, make().rollout", _through_make(subject, job.backend))]
    candidate = Runner.of(registry.pairs(subject, [job.backend])[0]).candidate
    if hasattr(candidate, "pure"):
        from twinstep.bench.jax_targets import CompiledTarget

        return [NamedTarget(job.backend, CompiledTarget(_made(subject, job.backend)))]
    if offers(candidate, "auto_rollout") and offers(candidate, "buffers"):
        about = {"facts": candidate.facts()} if offers(candidate, "facts") else {}
        player = BufferTarget(contract, candidate, (job.steps, job.played))
        return [NamedTarget(job.backend, player, about)]
    return []


def _physics(subject: EnvVariant, job: Job) -> list[NamedTarget]:
    candidate = Runner.of(registry.pairs(subject, [job.backend])[0]).candidate
    if hasattr(candidate, "pure"):
        from twinstep.bench.jax_targets import UnwrittenJax

        return [NamedTarget(job.backend, UnwrittenJax(subject.contract, candidate))]
    if offers(candidate, "advance") and offers(candidate, "frame"):
        return [NamedTarget(job.backend, UnwrittenTarget(subject.contract, candidate))]
    return []


def _made(subject: EnvVariant, backend: str) -> Any:
    from twinstep.env.make import Env

    return Env(subject, backend, AUTO_RESET)


def _through_make(subject: EnvVariant, backend: str) -> Target:
    from twinstep.bench.jax_targets import MadeTarget

    return MadeTarget(_made(subject, backend))
