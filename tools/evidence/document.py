"""The document: every section in the order of the paper, with an overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tools.evidence import (
    curves,
    paper,
    ppo_throughput,
    ratings,
    strength,
    throughput,
    time_shares,
    verification,
)
from tools.evidence.formatting import table
from tools.evidence.results import Results
from tools.evidence.section import Section

DOCUMENT = "EVIDENCE.md"
#: Folder of the PNG files, next to the document.
PICTURES = "evidence"
_PARTS = (
    throughput.random_play,
    ppo_throughput.training,
    verification.transfer,
    verification.counts,
    verification.coverage,
    strength.mutants,
    time_shares.breakdown,
    curves.training,
    ratings.ratings,
    strength.hierarchy,
    strength.neighbours,
)


def sections(results: Results) -> list[Section]:
    """Return all sections, numbered. UserError for a result that cannot be read."""
    parts = [part(results) for part in _PARTS]
    return [replace(each, title=f"{n}. {each.title}") for n, each in enumerate(parts, 1)]


def markdown(parts: Sequence[Section], results: Results) -> str:
    """Return the document, a pure function of the results."""
    rows = [["part", "measured", "not measured"]]
    rows += [
        [part.title, "; ".join(part.measured), "; ".join(each.what for each in part.missing)]
        for part in parts
    ]
    command = f"python -m tools.evidence{results.out()}"
    head = (
        "# Evidence\n\n"
        f"Written by `{command}` from the result files beside it and the verdicts of the "
        "candidates; "
        f"`{command} --check` says whether it still is what they say, `{command} --verify-claims` "
        "measures the cheap ratios again. Every result is named with its command, machine, "
        "versions and date, as far as its file holds them. The paper is "
        f"{paper.facts()['source']}; its machine: {paper.facts()['machine']}. Its figures are "
        "quoted, not measured here."
    )
    texts = [part.markdown(PICTURES) for part in parts]
    return "\n\n".join([head, table(rows), *texts]) + "\n"
