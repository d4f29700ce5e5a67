"""All mutants of a candidate, one after the other, and what is known of each."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from twinstep import registry
from twinstep.errors import OracleMissing, UserError
from twinstep.harness import Harness, Settings
from twinstep.mutants import equivalents
from twinstep.mutants.killing import LEVELS, LIMIT, Verdict, judge
from twinstep.mutants.mutator import all_mutants, diff_of
from twinstep.mutants.remembering import RememberingReference
from twinstep.mutants.sites import Mutant
from twinstep.mutants.strata import chosen
from twinstep.registry import Pair

#: After so many mutants what JAX keeps of them is thrown away.
_TOGETHER = 20


@dataclass(frozen=True)
class Plan:
    """What is asked for. sample: how many mutants, 0 for all. limit: seconds a level may take."""

    env: str
    candidate: str
    levels: tuple[int, ...] = LEVELS
    sample: int = 0
    seed: int = 0
    episodes: int = 100
    limit: float = LIMIT


@dataclass
class Campaign:
    """A plan carried out.

    sites: of all mutants. rows: one per mutant done, plain JSON values. kept: how many rows are an
    earlier run's.
    """

    plan: Plan
    pairs: list[Pair]
    sites: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    kept: int = 0

    @property
    def pair(self) -> Pair:
        """The first variant's pair, of which every mutant is asked."""
        return self.pairs[0]


def prepare(plan: Plan) -> tuple[Campaign, list[Mutant], dict[str, str]]:
    """Return the campaign, its mutants, and the reasons of those called equivalent.

    UserError for an unknown name, a candidate without Python files, a wrong list of equivalents;
    OracleMissing where the reference cannot run.
    """
    env = registry.environment(plan.env)
    found = [
        pair for s in registry.subjects(env, {}) for pair in registry.pairs(s, [plan.candidate])
    ]
    if not found:
        raise UserError(f"candidate '{plan.candidate}' claims no variant of {plan.env}")
    for probe in (found[0].subject.probe, found[0].probe):
        if probe.problem:
            raise OracleMissing(probe.problem, probe.mend)
    ref = found[0].candidate
    mutants, known = all_mutants(ref), equivalents.read(ref)
    return Campaign(plan, found, len(mutants)), chosen(mutants, plan.sample, plan.seed), known


def carry_out(
    campaign: Campaign,
    mutants: list[Mutant],
    known: dict[str, str],
    progress: Callable[[str], None],
    kept: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> None:
    """Judge the mutants and add a row for each. UserError if the candidate itself fails.

    kept: rows by id of mutants that are not asked again.

    Each is asked at all levels of the first variant. One that nothing there notices is asked in
    the other variants, in turn, until a level notices.
    """
    import jax

    harness = Harness(Settings(episodes=campaign.plan.episodes))
    bench = _Bench(campaign.plan, harness, progress)
    try:
        for number, mutant in enumerate(mutants, 1):
            if mutant.id in kept:
                campaign.rows.append(kept[mutant.id])
                continue
            progress(f"{number} of {len(mutants)}: {mutant.path}:{mutant.line}, {mutant.what}")
            variant, verdict = _judge(bench, campaign, mutant)
            campaign.rows.append(_row(campaign.pair, mutant, variant, verdict, known))
            if number % _TOGETHER == 0:
                jax.clear_caches()
    finally:
        bench.close()
        harness.close()


def _judge(bench: _Bench, campaign: Campaign, mutant: Mutant) -> tuple[str, Verdict]:
    verdict = bench.judge(campaign.pair, mutant, locate=True)
    variant = campaign.pair.subject.variant.name
    if not verdict.kills:
        for pair in campaign.pairs[1:]:
            other = bench.judge(pair, mutant)
            if other.kills:
                return pair.subject.variant.name, other
    return variant, verdict


class _Bench:
    """The references of all variants that were asked for, each once its candidate has passed."""

    def __init__(self, plan: Plan, harness: Harness, progress: Callable[[str], None]) -> None:
        self._plan, self._harness, self._progress = plan, harness, progress
        self._references: dict[str, RememberingReference] = {}

    def judge(self, pair: Pair, mutant: Mutant, locate: bool = False) -> Verdict:
        """Return what the plan's levels make of a mutant."""
        plan = self._plan
        return judge(self._reference(pair), pair, mutant, plan.levels, plan.limit, locate)

    def _reference(self, pair: Pair) -> RememberingReference:
        if pair.label not in self._references:
            self._progress(f"{pair.label} without a bug")
            made = RememberingReference(self._harness, pair.subject)
            self._references[pair.label] = made
            for kill in judge(made, pair, None, self._plan.levels, 10 * LIMIT).kills.values():
                raise UserError(
                    f"{pair.label} fails level {kill.level} without a planted bug "
                    f"({kill.check}: {kill.detail}): mend it first"
                )
            made.oracle.learning = False
        return self._references[pair.label]

    def close(self) -> None:
        """End the oracles' processes."""
        for reference in self._references.values():
            reference.close()


def _row(
    pair: Pair, mutant: Mutant, variant: str, verdict: Verdict, known: dict[str, str]
) -> dict[str, Any]:
    kills = {
        str(level): {"check": kill.check, "how": kill.how, "detail": kill.detail}
        for level, kill in sorted(verdict.kills.items())
    }
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


def class_of(verdict: Verdict, equivalent: bool) -> str:
    """Return killed, build, survivor, equivalent; `refuted`: called equivalent, and killed."""
    if equivalent:
        return "refuted" if verdict.kills else "equivalent"
    if not verdict.kills:
        return "survivor"
    return "killed" if verdict.built else "build"


def located(pair: Pair, mutant: Mutant, suspect: str) -> str:
    """Return where a report's first suspect lies, seen from the bug.

    `function`, `file` or `elsewhere`; `shared` if no module's source is in the bug's file: no
    suspect could name it.
    """
    sources = {m: place.partition(":")[::2] for m, place in pair.candidate.sources.items()}
    if mutant.path not in {path for path, _ in sources.values()}:
        return "shared"
    path, symbol = sources.get(suspect, ("", ""))
    if path != mutant.path:
        return "elsewhere"
    return "function" if symbol == mutant.symbol else "file"


@contextlib.contextmanager
def own_compilation_cache() -> Iterator[None]:
    """Keep what is compiled of mutants in a folder of its own, and remove it afterwards.

    Most programs of a mutant are another one's too, and nobody needs them later.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    name, least = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
    before = {key: getattr(jax.config, key) for key in (name, least)}
    with tempfile.TemporaryDirectory(prefix="twinstep-mutants-") as folder:
        jax.config.update(name, folder)
        jax.config.update(least, 0.01)
        compilation_cache.reset_cache()
        try:
            yield
        finally:
            for key, value in before.items():
                jax.config.update(key, value)
            compilation_cache.reset_cache()
