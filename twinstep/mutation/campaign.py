"""All mutants of a candidate, one after the other, and what is known of each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from twinstep.environment import CandidateRef, Environment
from twinstep.errors import OracleMissing, UserError
from twinstep.mutation import equivalents
from twinstep.mutation.judge import LEVELS
from twinstep.mutation.planting import all_mutants, diff_of, source_files
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.sampling import chosen
from twinstep.mutation.verdict import Judgement
from twinstep.project import registry
from twinstep.project.registry import Pair


@dataclass(frozen=True)
class Plan:
    """What is asked for.

    sample: how many mutants, 0 for all. matrix: how many of these are asked at every level,
    whatever another said, and located, -1 for all; the others are asked until a level notices.
    alone: whether bugs are never compiled together. before: the ids of an earlier sample, which
    stays as far as they are still there.
    """

    env: str
    candidate: str
    levels: tuple[int, ...] = LEVELS
    sample: int = 0
    seed: int = 0
    episodes: int = 100
    matrix: int = -1
    alone: bool = False
    before: tuple[str, ...] = ()


@dataclass
class Campaign:
    """A plan carried out.

    pairs: the candidate in each variant, then others that are made of the same files.
    mutants: those that the plan asks for, in the order in which they are asked: by lot, so that
    those done are a sample at any time. equivalent: the reasons of those that are called so.
    sites: of all mutants. sources: the hash of the files that they are planted in. rows: one per
    mutant done, plain JSON values. kept: how many rows are an earlier run's.
    """

    plan: Plan
    pairs: list[Pair]
    mutants: list[Mutant]
    equivalent: dict[str, str]
    sites: int = 0
    sources: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    kept: int = 0

    @property
    def pair(self) -> Pair:
        """The first variant's pair, of which every mutant is asked."""
        return self.pairs[0]

    @property
    def full(self) -> set[str]:
        """The ids of the mutants that are asked at every level."""
        wanted = len(self.mutants) if self.plan.matrix < 0 else self.plan.matrix
        return {mutant.id for mutant in self.mutants[:wanted]}

    @property
    def early(self) -> tuple[int, ...]:
        """The levels that are asked before the environment's own tests; none: these come last.

        Crates' tests tell sooner than the variants of a compiled candidate, and others sooner than
        whole episodes. But each run of these compiles a step with one bug in JAX: where that takes
        long, other variants, compiled with many bugs at once, come first.
        """
        ref, levels = self.pair.candidate, self.plan.levels
        if ref.slow_to_compile and any(pair.candidate == ref for pair in self.pairs[1:]):
            return ()
        return levels if ref.build else tuple(level for level in levels if level < LEVELS[-1])

    def name_of(self, pair: Pair) -> str:
        """Return a variant's name, after the candidate's if that is not the plan's."""
        name, candidate = pair.subject.variant.name, pair.candidate.name
        return name if candidate == self.plan.candidate else f"{candidate} {name}".strip()

    def in_order(self) -> list[dict[str, Any]]:
        """Return the rows in the order of files and lines."""
        return sorted(self.rows, key=lambda row: (row["path"], row["line"], row["what"]))


def _hash_of(ref: CandidateRef) -> str:
    found = hashlib.sha256()
    for source in source_files(ref):
        found.update(source.path.encode() + b"\0" + source.file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def prepare(plan: Plan) -> Campaign:
    """Return the campaign, nothing of it done.

    UserError for an unknown name, a candidate without Python files, a wrong list of equivalents;
    OracleMissing where the reference cannot run.
    """
    env = registry.environment(plan.env)
    every = _pairs(env)
    found = [pair for pair in every if pair.candidate.name == plan.candidate]
    if not found:
        raise UserError(f"candidate '{plan.candidate}' claims no variant of {plan.env}")
    for probe in (found[0].subject.probe, found[0].probe):
        if probe.problem:
            raise OracleMissing(probe.problem, probe.mend)
    ref = found[0].candidate
    if ref.build:
        # What is compiled with a bug does not fit the sources that lie here: not to be probed.
        unprobed = tuple(replace(one, probe="") for one in env.candidates)
        every = _pairs(replace(env, candidates=unprobed))
        found = [pair for pair in every if pair.candidate.name == plan.candidate]
        ref = found[0].candidate
    found += [
        pair for pair in every if pair not in found and pair.candidate.packages == ref.packages
    ]
    mutants, known = all_mutants(ref), equivalents.read(ref)
    asked = chosen(mutants, plan.sample, plan.seed, plan.before)
    lots = np.random.default_rng(plan.seed).permutation(len(asked))
    chosen_by_lot = [asked[place] for place in lots]
    return Campaign(plan, found, chosen_by_lot, known, len(mutants), _hash_of(ref))


def _pairs(env: Environment) -> list[Pair]:
    return [pair for subject in registry.subjects(env, {}) for pair in registry.pairs(subject)]


def row_of(campaign: Campaign, mutant: Mutant, variant: str, verdict: Judgement) -> dict[str, Any]:
    """Return what becomes of a mutant in a variant, as plain JSON values."""
    pair, known = campaign.pair, campaign.equivalent
    kills = {str(level): kill.named() for level, kill in sorted(verdict.kills.items())}
    row: dict[str, Any] = {
        "id": mutant.id,
        "path": mutant.path,
        "line": mutant.line,
        "symbol": mutant.symbol,
        "operator": mutant.operator,
        "what": mutant.what,
        "variant": variant,
        "class": class_of(verdict, mutant.id in known),
        "first": verdict.first,
        "full": mutant.id in campaign.full,
        "kills": kills,
        "seconds": {str(level): taken for level, taken in verdict.seconds.items()},
    }
    if mutant.id in known:
        row["reason"] = known[mutant.id]
    if row["class"] in ("survivor", "equivalent"):
        row["diff"] = diff_of(mutant, pair.candidate)
    if verdict.suspect:
        row["suspect"] = verdict.suspect
        row["located"] = located(pair, mutant, verdict.suspect)
    return row


def class_of(verdict: Judgement, equivalent: bool) -> str:
    """Return killed, build, survivor, equivalent; `refuted`: called equivalent, and killed."""
    if equivalent:
        return "refuted" if verdict.kills else "equivalent"
    if not verdict.kills:
        return "survivor"
    return "killed" if verdict.built else "build"


def located(pair: Pair, mutant: Mutant, suspect: str) -> str:
    """Return where a report's first suspect lies, seen from the bug.

    The suspect's `function`, its `file`, one of its `helper` places, or `elsewhere`; `shared` if
    no module has a place in the bug's file: no suspect could name it.
    """
    ref, bug = pair.candidate, (mutant.path, mutant.symbol)
    declared = [ref.sources.get(suspect, ""), *ref.helpers.get(suspect, ())]
    own, *helpers = (place.partition(":")[::2] for place in declared)
    if own[0] == mutant.path:
        return "function" if own == bug else "file"
    if any(place in (bug, (mutant.path, "")) for place in helpers):
        return "helper"
    every = [*ref.sources.values(), *(place for places in ref.helpers.values() for place in places)]
    held = any(place.partition(":")[0] == mutant.path for place in every)
    return "elsewhere" if held else "shared"
