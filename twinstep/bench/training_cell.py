"""The cell of `twinstep bench --train`: PPO end to end, in the reference and in each backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twinstep.bench.checksum import held_parts
from twinstep.bench.rounds import Progress, measure, spread, with_ratios
from twinstep.bench.targets import Job
from twinstep.bench.worker import Failed
from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.plans import CHUNK, PPO
from twinstep.project import registry
from twinstep.project.registry import EnvVariant

#: The most rounds: one of the reference takes long.
ROUNDS = 5


def ppo_of(subject: EnvVariant) -> PPO:
    """Return level 4's training settings. Raises UserError if the contract has none."""
    plan = subject.contract.transfer
    if plan is None:
        raise UserError(f"{subject.label} declares no training (`transfer`): choose a --variant")
    return plan.ppo


def trained(subjects: Sequence[EnvVariant]) -> list[EnvVariant]:
    """Return the variants that declare a training, else all such variants of their environment.

    Raises UserError if there is none.
    """
    every = registry.subjects(subjects[0].env, {})
    found = _declaring(subjects) or _declaring(every)
    if not found:
        raise UserError(f"--train: no variant of {subjects[0].env.name} declares a `transfer`")
    return found


def _declaring(subjects: Sequence[EnvVariant]) -> list[EnvVariant]:
    return [subject for subject in subjects if subject.contract.transfer is not None]


def training_cell(
    env: str,
    subject: EnvVariant,
    backends: Sequence[str],
    cores: Sequence[int],
    rounds: int,
    progress: Progress,
) -> dict[str, Any]:
    """Train in the reference and in each backend, side by side, CHUNK batches in each round.

    Raises Failed unless all backends outside a compiled program learn the same policy, bit for bit,
    from the same seed, which proves the same work.
    """
    ppo, rounds = ppo_of(subject), min(rounds, ROUNDS)
    variant = subject.variant.name
    steps = CHUNK * ppo.steps
    first = Job(env, variant, "", "ppo", ppo.lanes, ppo.lanes, steps, tuple(cores))
    jobs = [first, *(replace(first, backend=name) for name in backends)]
    results = measure(jobs, subject.contract, rounds, progress, [])
    _require_one_policy(subject.contract, results)
    return {
        "work": "training",
        "variant": variant,
        "threads": len(cores),
        "lanes": ppo.lanes,
        "steps": steps,
        "rounds": rounds,
        "results": with_ratios([_with_share(result) for result in results]),
        "left_out": [],
    }


def _require_one_policy(contract: Contract, results: list[dict[str, Any]]) -> None:
    """Raise Failed if a backend that claims the reference's bits learned another policy."""
    reference = next(r["policy"] for r in results if not r["backend"])
    for result in results:
        held = held_parts(contract, result["backend"], result["dtype"], result["platform"])
        if {"obs", "reward"} <= held and result.get("policy", reference) != reference:
            raise Failed(f"{result['name']} learned another policy than the reference")


def _with_share(result: dict[str, Any]) -> dict[str, Any]:
    own = result.pop("environment_seconds", None)
    if own is None:
        return result
    shares = [part / whole for part, whole in zip(own, result["seconds"], strict=True)]
    return {**result, "environment_share": spread(shares)}


def _model_work(result: Mapping[str, Any]) -> str:
    """Return the network's GFLOP/s over the whole time."""
    if "flops" not in result:
        return "not recorded"
    return f"{result['flops'] * result['rate']['median'] / 1e9:.3g}"


def training_rows(
    cells: Sequence[Mapping[str, Any]], spread_text: Callable[..., str]
) -> list[list[str]]:
    """Return the rows of the table: seconds per 1,000 steps, how they split, the ratio."""
    rows = [["threads", "lanes", "trained with", "seconds per 1,000 steps", "in the environment",
             "in policy and updates", "model GFLOP/s", "to the reference"]]  # fmt: skip
    for cell in cells:
        for result in cell["results"]:
            steps = result["lanes_played"] * result["steps"]
            seconds = spread([1000 * s / steps for s in result["seconds"]])
            share = result.get("environment_share")
            split = ["not told apart"] * 2
            if share:
                other = {"median": 1 - share["median"], "min": 1 - share["max"],
                         "max": 1 - share["min"]}  # fmt: skip
                split = [spread_text(share, 100, "%"), spread_text(other, 100, "%")]
            rows.append(
                [
                    str(cell["threads"]),
                    str(cell["lanes"]),
                    result["name"],
                    spread_text(seconds),
                    *split,
                    _model_work(result),
                    spread_text(result["ratio"]["plain"]) if result["backend"] else "",
                ]
            )
    return rows
