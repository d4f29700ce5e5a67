"""Throughput of PPO end to end, and of rollouts with a network."""

from __future__ import annotations

from tools.evidence import bench_results, paper
from tools.evidence.bench_results import Measured
from tools.evidence.formatting import NOT_MEASURED, digits, made_on, rates, share, spread, table
from tools.evidence.results import Found, Results, whole
from tools.evidence.section import Section
from twinstep.bench.command import TRAINING


def training(results: Results) -> Section:
    """Return the section on PPO, and on rollouts with a network."""
    rows = [["environment", "platform", "variant", "threads", "lanes", "trained in", "steps/s",
             "to the plain reference", "in the environment", "parameters", "model GFLOP/s",
             paper.column()]]  # fmt: skip
    there, sources, loops = [], [], []
    # Separate results of training come first: they replace those from runs with random play.
    for one in [*bench_results.files(results, TRAINING), *bench_results.files(results)]:
        with whole(one.path):
            cells = one.cells("training") if one.name not in there else []
            rows += [_row(one, cell, result) for cell in cells for result in cell["results"]]
            loops += [_loop(one, cell) for cell in one.found["policies"]]
            if cells or one.found["policies"]:
                sources.append(f"- {one.name}: {made_on(one.found)}{one.outdated()}")
        there += [one.name] if cells else []
    for env in paper.environments():
        theirs = "; ".join(paper.speeds("ppo", env, fact["backend"])
                           for fact in paper.about("ppo", env))  # fmt: skip
        if env not in there:
            rows.append([env, "cpu", *[""] * 4, NOT_MEASURED, *[""] * 4, theirs])
    blocks = [
        "PPO end to end with one policy, network and number of steps on both sides. Where "
        "environment and network are one compiled program, their shares are not told apart here.",
        table(rows),
    ]
    if loops:
        head = ["environment", "platform", "variant", "backend", "policy", "parameters", "threads",
                "lanes", "steps/s", "model GFLOP/s", "in the environment",
                paper.column()]  # fmt: skip
        blocks += ["### A network in the rollout, nothing learned", table([head, *loops])]
    blocks += ["\n".join(sources)] if sources else []
    missing = bench_results.missing(results, there, " --train-only")
    return Section("Throughput, PPO", blocks, there, missing)


def _row(one: Measured, cell: Found, result: Found) -> list[str]:
    inside = result.get("environment_share")
    flops = result["flops"] * result["rate"]["median"] if "flops" in result else None
    return [
        one.found["environment"],
        result["platform"],
        cell["variant"],
        str(cell["threads"]),
        str(cell["lanes"]),
        result["backend"] or "the reference",
        rates(result["rate"]),
        spread(result["ratio"]["plain"]) if result["backend"] else "",
        share(inside) if inside else "not told apart",
        f"{result['parameters']:,}" if "parameters" in result else "not recorded",
        NOT_MEASURED if flops is None else digits(flops / 1e9),
        paper.speeds("ppo", one.env, result["backend"]),
    ]


def _loop(one: Measured, cell: Found) -> list[str]:
    result = cell["results"][0]
    theirs = [f for f in paper.about("policies", one.env) if f["policy"] == cell["policy"]]
    return [
        one.found["environment"],
        result["platform"],
        cell["variant"],
        cell["backend"],
        cell["policy"],
        f"{result['parameters']:,}",
        str(cell["threads"]),
        str(cell["lanes"]),
        rates(result["rate"]),
        digits(cell["flops_per_second"] / 1e9),
        share(cell["environment_share"]),
        paper.speeds("policies", one.env, cell["backend"]) if theirs else "",
    ]
