"""`python -m tools.evidence --verify-claims`: re-measure the cheapest cell of each benchmark."""

from __future__ import annotations

from collections.abc import Callable

from tools.evidence.results import Results
from twinstep.bench import claims, command
from twinstep.bench.worker import Failed
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import variant_of

#: Rounds of a cell: enough for a median.
ROUNDS = 3


def narrowed(committed: claims.Result) -> command.BenchRequest:
    """Return the cheapest part of a benchmark: one variant, fewest lanes and threads.

    Backends that cannot run here are left out. UserError if the reference or all of them cannot.
    """
    then = claims.request_of(committed)
    variant = then["variants"][0]
    subject = variant_of(then["env"], variant)
    command.require(subject)
    known = {ref.name for ref in subject.env.candidates}
    backends = [name for name in then["backends"] if name in known]
    pairs = registry.pairs(subject, backends) if backends else []
    fit = tuple(pair.candidate.name for pair in pairs if not pair.probe.problem)
    if not fit:
        raise UserError(f"none of {', '.join(then['backends'])} can run here")
    return command.BenchRequest(
        then["env"],
        (variant,),
        fit,
        (min(then["batches"]),),
        (min(then["threads"]),),
        min(ROUNDS, then["rounds"]),
        then["steps"],
    )


def verify(
    results: Results,
    slack: float,
    cores: int,
    progress: Callable[[str], None],
    say: Callable[[str], None],
) -> bool:
    """Report each ratio; return True if any was measured and all hold; see claims.compare.

    cores: number of cores for this process. A benchmark that cannot run here is reported, but is no
    failure.
    """
    good, measured = True, 0
    benchmarks = {
        env: claims.read(results.there(f"{env}.json"), command.SCHEMA) for env in results.names()
    }
    for env, committed in benchmarks.items():
        try:
            request = narrowed(committed)
            if (wanted := request.threads[0]) > cores:
                raise UserError(f"{wanted} cores are needed, and this process may use {cores}")
        except UserError as error:
            say(f"{env}: not measured here: {error}")
            continue
        try:
            lines, failed = claims.compare(committed, command.record(request, progress), slack)
        except Failed as error:
            lines, failed = [f"FAILS  {error}"], [str(error)]
        progress("")
        for name in claims.request_of(committed)["backends"]:
            if name not in request.backends:
                say(f"{env}: not measured here: {name} cannot run here")
        for line in lines:
            say(f"{env}: {line}")
        good, measured = good and not failed, measured + 1
    if not measured:
        say(f"nothing was measured: no benchmark in {results.folder} can be measured here")
    return good and measured > 0
