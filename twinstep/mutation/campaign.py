"""A mutation campaign: the plan, the mutants it selects, and the result row of each."""

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
    """The settings of a campaign.

    sample: number of mutants, 0 for all. matrix: how many of these are run at every level,
    whatever the other levels find, and located, -1 for all; the others stop at the first level
    that notices. alone: True if bugs are never compiled together. before: ids of an earlier
    sample, which are kept as long as they still exist.
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
    """The state of a campaign.

    pairs: the candidate in each variant, then other candidates made of the same files.
    mutants: the plan's mutants in the order in which they are run: random, so that the finished
    ones are a sample at any time. equivalent: id -> reason of those listed as equivalent.
    sites: number of all mutants. sources: hash of the files with mutants. rows: one per finished
    mutant, plain JSON values. kept: number of rows taken from an earlier run.
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
        """The first variant's pair, in which every mutant is run."""
        return self.pairs[0]

    @property
    def full(self) -> set[str]:
        """The ids of the mutants that are run at every level."""
        wanted = len(self.mutants) if self.plan.matrix < 0 else self.plan.matrix
        return {mutant.id for mutant in self.mutants[:wanted]}

    @property
    def early(self) -> tuple[int, ...]:
        """The levels that run before the environment's own tests; (): these tests run last.

        Crates' tests notice a bug sooner than the variants of a compiled candidate do, and other
        own tests sooner than whole episodes. In JAX, however, each run of own tests compiles a step
        with a single bug: where that is slow, other variants, with many bugs per program, go first.
        """
        ref, levels = self.pair.candidate, self.plan.levels
        if ref.slow_to_compile and any(pair.candidate == ref for pair in self.pairs[1:]):
            return ()
        return levels if ref.build else tuple(level for level in levels if level < LEVELS[-1])

    def name_of(self, pair: Pair) -> str:
        """Return a variant's name, prefixed with its candidate if that is not the plan's."""
        name, candidate = pair.subject.variant.name, pair.candidate.name
        return name if candidate == self.plan.candidate else f"{candidate} {name}".strip()

    def in_order(self) -> list[dict[str, Any]]:
        """Return the rows sorted by file and line."""
        return sorted(self.rows, key=lambda row: (row["path"], row["line"], row["what"]))


def _hash_of(ref: CandidateRef) -> str:
    digest = hashlib.sha256()
    for source in source_files(ref):
        digest.update(source.path.encode() + b"\0" + source.file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def prepare(plan: Plan) -> Campaign:
    """Return the campaign before its first mutant.

    Raises UserError for an unknown name, a candidate without Python files or a wrong list of
    equivalents, and OracleMissing if the reference cannot run.
    """
    env = registry.environment(plan.env)
    all_pairs = _pairs(env)
    pairs = [pair for pair in all_pairs if pair.candidate.name == plan.candidate]
    if not pairs:
        known = ", ".join(dict.fromkeys(pair.candidate.name for pair in all_pairs)) or "none"
        raise UserError(
            f"candidate '{plan.candidate}' claims no variant of {plan.env} (there is {known})"
        )
    for probe in (pairs[0].subject.probe, pairs[0].probe):
        if probe.problem:
            raise OracleMissing(probe.problem, probe.mend)
    ref = pairs[0].candidate
    if ref.build:
        # A build with a bug does not match the sources here, so the candidate is not probed.
        unprobed = tuple(replace(one, probe="") for one in env.candidates)
        all_pairs = _pairs(replace(env, candidates=unprobed))
        pairs = [pair for pair in all_pairs if pair.candidate.name == plan.candidate]
        ref = pairs[0].candidate
    pairs += [
        pair for pair in all_pairs if pair not in pairs and pair.candidate.packages == ref.packages
    ]
    mutants, known = all_mutants(ref), equivalents.read(ref)
    if not mutants:
        files = ", ".join(source.path for source in source_files(ref))
        raise UserError(f"candidate '{ref.name}' has nothing to plant a bug in: {files}")
    sample = chosen(mutants, plan.sample, plan.seed, plan.before)
    order = np.random.default_rng(plan.seed).permutation(len(sample))
    shuffled = [sample[place] for place in order]
    return Campaign(plan, pairs, shuffled, known, len(mutants), _hash_of(ref))


def _pairs(env: Environment) -> list[Pair]:
    return [pair for subject in registry.subjects(env, {}) for pair in registry.pairs(subject)]


def row_of(campaign: Campaign, mutant: Mutant, variant: str, verdict: Judgement) -> dict[str, Any]:
    """Return the result row of a mutant in a variant, as plain JSON values."""
    pair, reasons = campaign.pair, campaign.equivalent
    kills = {str(level): kill.named() for level, kill in sorted(verdict.kills.items())}
    row: dict[str, Any] = {
        "id": mutant.id,
        "path": mutant.path,
        "line": mutant.line,
        "symbol": mutant.symbol,
        "operator": mutant.operator,
        "what": mutant.what,
        "variant": variant,
        "class": class_of(verdict, mutant.id in reasons),
        "first": verdict.first,
        "full": mutant.id in campaign.full,
        "kills": kills,
        "seconds": {str(level): taken for level, taken in verdict.seconds.items()},
    }
    if mutant.id in reasons:
        row["reason"] = reasons[mutant.id]
    if row["class"] in ("survivor", "equivalent"):
        row["diff"] = diff_of(mutant, pair.candidate)
    if verdict.suspect:
        row["suspect"] = verdict.suspect
        row["located"] = located(pair, mutant, verdict.suspect)
    return row


def class_of(verdict: Judgement, equivalent: bool) -> str:
    """Return killed, build, survivor or equivalent; `refuted`: listed as equivalent, yet killed."""
    if equivalent:
        return "refuted" if verdict.kills else "equivalent"
    if not verdict.kills:
        return "survivor"
    return "killed" if verdict.built else "build"


def located(pair: Pair, mutant: Mutant, suspect: str) -> str:
    """Return where the bug lies relative to a report's first suspect.

    In the suspect's `function`, its `file`, one of its `helper` places, or `elsewhere`; `shared` if
    no module has a place in the bug's file, so that no suspect could name it.
    """
    ref, bug = pair.candidate, (mutant.path, mutant.symbol)
    declared = [ref.sources.get(suspect, ""), *ref.helpers.get(suspect, ())]
    own, *helpers = (place.partition(":")[::2] for place in declared)
    if own[0] == mutant.path:
        return "function" if own == bug else "file"
    if any(place in (bug, (mutant.path, "")) for place in helpers):
        return "helper"
    every = [*ref.sources.values(), *(place for places in ref.helpers.values() for place in places)]
    in_any_module = any(place.partition(":")[0] == mutant.path for place in every)
    return "elsewhere" if in_any_module else "shared"
