"""Compare the speed of a commit with the one before it: both measured in turn, in one run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from twinstep._lib import machine
from twinstep.bench.command import BenchRequest
from twinstep.bench.rounds import measure, ratio, spread
from twinstep.bench.targets import Job
from twinstep.bench.worker import Failed
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.repair.verifier import Verifier

#: Rounds of each commit, in turn. Of two equal commits each wins all of them once in 512 times.
ROUNDS = 9
#: What an answer that is plain data, but not what was asked for, ends in here.
_ODD = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Stopwatch:
    """Measures commits of one candidate on all cores. pairs: the variants to measure."""

    def __init__(self, verifier: Verifier, pairs: Sequence[Pair]) -> None:
        self._verifier, self._pairs = verifier, pairs

    def compare(self, before: str, after: str) -> dict[str, Any]:
        """Return the journal's entry: `kept`, the decision on `after`, and each measured cell.

        `after` is kept if it is faster in every round at some batch size, and slower in every round
        at none. The clock is the parent's, and both commits must play the same.
        """
        begin = time.perf_counter()
        cells: list[dict[str, Any]] = []
        why = ""
        with self._verifier.placed(before) as old, self._verifier.placed(after) as new:
            try:
                for pair in self._pairs:
                    oracle, largest = pair.subject.env.oracle, pair.subject.contract.largest_batch
                    for lanes in (n for n in oracle.batches if n <= largest):
                        cells.append(_cell(pair, lanes, old, new))
            except (Failed, UserError) as failed:
                why = str(failed)
            except _ODD as odd:
                why = f"a measured process gave an odd answer ({type(odd).__name__}: {odd})"
        faster = any(cell["ratio"]["min"] > 1 for cell in cells)
        slower = any(cell["ratio"]["max"] < 1 for cell in cells)
        return {
            "before": before,
            "after": after,
            "kept": faster and not slower and not why,
            "why": why,
            "cells": cells,
            "rounds": ROUNDS,
            "machine": machine.machine(sorted(os.sched_getaffinity(0))),
            "load_average": machine.load(),
            "seconds": round(time.perf_counter() - begin, 3),
        }


def _cell(
    pair: Pair,
    lanes: int,
    old: tuple[Path, dict[str, str]],
    new: tuple[Path, dict[str, str]],
) -> dict[str, Any]:
    subject, backend = pair.subject, pair.candidate.name
    env, variant = subject.env.name, subject.variant.name
    cores = tuple(sorted(os.sched_getaffinity(0)))
    request = BenchRequest(env, (variant,), (backend,), (lanes,), (len(cores),), ROUNDS)
    job = Job(env, variant, backend, "least", lanes, lanes, request.steps_of(lanes), cores)
    # The agent's code runs behind walls, where no project is.
    job = replace(job, declared=(registry.locator(env), pair.candidate.factory))
    jobs = [
        replace(job, folder=str(project), variables=tuple(variables.items()))
        for project, variables in (old, new)
    ]
    results: list[dict[str, Any]] = []
    for how in ("least", "make"):  # not every candidate has a faster way than `make`
        candidates = [replace(one, how=how) for one in jobs]
        results = results or measure(candidates, subject.contract, ROUNDS, lambda text: None, [])
    theirs, ours = ({**one, "seconds": one["waited"]} for one in results)
    work = job.played * job.steps
    return {
        "variant": variant,
        "lanes": lanes,
        "threads": job.threads,
        "before": spread([work / seconds for seconds in theirs["seconds"]]),
        "after": spread([work / seconds for seconds in ours["seconds"]]),
        "ratio": ratio(ours, theirs),
    }


def speed_line(entry: dict[str, Any]) -> str:
    """Return one line for an entry: the speedup in each cell."""
    if entry["why"]:
        return entry["why"]
    return "; ".join(
        f"{'/'.join(map(str, filter(None, (c['variant'], c['lanes']))))} lanes: "
        f"{c['ratio']['median']:.2f} times as fast "
        f"({c['ratio']['min']:.2f} to {c['ratio']['max']:.2f})"
        for c in entry["cells"]
    )
