"""Require that what each side draws for itself is alike in distribution.

By their own generators no seed gives two sides the same numbers, so that samples are compared.
"""

from __future__ import annotations

from twinstep.compare import fresh_starts, outcomes
from twinstep.compare.fresh_starts import Comparison
from twinstep.diagnosis.case import element_name
from twinstep.diagnosis.diagnose import Suspect
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.project import registry
from twinstep.testing.lab import Lab

#: So many differences are told.
_TOLD = 3


def require_alike_starts(lab: Lab, count: int) -> None:
    """Fail, with a sentence, if `count` starts of the port's own are not the reference's.

    This is for contracts that place starts: there the port's own are seen nowhere else.
    """
    drawn = seeds("public", count, lab.pair.subject.env.name)
    want, got = lab.oracle.fresh(drawn), lab.runner.fresh(drawn)
    found = fresh_starts.compare(
        {path: want[path] for path in got},
        got,
        lambda path, index: element_name(lab.contract, path, index),
    )
    lab.notes["starts"] = f"starts alike in distribution ({count:,} each; {found.seen})"
    if found.differences:
        lab.notes["starts"] = "starts differ in distribution"
        lab.fail(
            f"the port's own starts are not like the reference's: {_first(found)}.",
            Suspect("reset", "it draws the port's own starts"),
        )


def require_alike_steps(lab: Lab, driver: str) -> None:
    """Fail, with a sentence, if starts and steps that both sides draw are not alike.

    This is for fields with a `Distribution` gate. The driver plays on either side.
    """
    gates, subject = lab.rules.distributions(), lab.pair.subject
    count = max(gate.episodes for gate in gates.values())
    most = min(lab.contract.horizon, max(gate.steps for gate in gates.values()))
    kind = lab.reference.harness.settings.seeds
    starts = starts_of(lab.contract, seeds(kind, count, subject.env.name, lab.pair.candidate))
    held = lab.reference.recorded(driver, starts, most)
    lab.note_coverage(driver, held)
    at = outcomes.chosen_steps(count, most, lab.reference.rng(f"steps of {driver}"))
    play = registry.load_object(subject.driver(driver))
    found = outcomes.alike(
        outcomes.recorded(held, sorted(gates), at),
        outcomes.played(lab.runner, starts, play, sorted(gates), at),
        lambda path, index: element_name(lab.contract, path, index),
    )
    lab.notes["lines"] = [
        f"L3 {lab.pair.label} {driver}, distribution: {count:,} starts and a step after each; "
        f"{found.seen}"
    ]
    if found.differences:
        lab.fail(f"The port is not like the reference in distribution: {_first(found)}.")


def _first(found: Comparison) -> str:
    more = len(found.differences) - _TOLD
    return "; ".join(found.differences[:_TOLD]) + (f"; {more} more" if more > 0 else "")
