"""Throughput of random play, each backend in the same run as the reference."""

from __future__ import annotations

from collections.abc import Sequence

from tools.evidence import bench_results, paper
from tools.evidence.bench_results import Measured
from tools.evidence.formatting import (
    NOT_MEASURED,
    digits,
    joined,
    made_on,
    rate,
    rates,
    spread,
    table,
)
from tools.evidence.results import Found, Results, whole
from tools.evidence.section import Bars, Picture, Section
from twinstep.bench.rounds import is_reference
from twinstep.bench.table import first_extra


def random_play(results: Results) -> Section:
    """Return the section on random play."""
    rows = [["environment", "platform", "variant", "threads", "lanes", "plain reference",
             "best reference", "backend", "steps/s", "to the best", "to the plain",
             paper.column()]]  # fmt: skip
    shown: list[tuple[Measured, Found, Found]] = []
    blocks, there = [], []
    for one in bench_results.files(results):
        there.append(one.name)
        with whole(one.path):
            shown += [(one, cell, r) for cell in _largest(one) for r in _own(cell)]
            blocks += [
                _all_cells(one, cells, what)
                for work, what in (("environment", ""), ("physics", "physics alone"))
                if (cells := one.cells(work))
            ]
    rows += [_summary(*each) for each in shown]
    rows += [
        [env, "cpu", *[""] * 5, "", NOT_MEASURED, *[""] * 2, _all_of(env)]
        for env in paper.environments()
        if env not in there
    ]
    intro = (
        "Each row of this table is the cell of most threads and most lanes of a variant; below "
        "stand all cells, with command, machine, versions and date. Steps a second are the median "
        "of the rounds (least to greatest); a ratio is that of rounds played in turn, observations "
        "written out. `make().rollout` is what a user of `twinstep.make` calls. To another "
        "implementation: its own steps a second, then the ratio. Compilation is how much longer "
        "the first call took than the second."
    )
    return Section(
        "Throughput, random play",
        [intro, table(rows), *blocks],
        there,
        bench_results.missing(results, there),
        _ratios(shown),
    )


def _all_of(env: str) -> str:
    backends = dict.fromkeys(fact["backend"] for fact in paper.about("random", env))
    return "; ".join(paper.speeds("random", env, backend) for backend in backends)


def _largest(one: Measured) -> list[Found]:
    """Return each variant's cell with the most threads, and among these with the most lanes."""
    cells: dict[str, Found] = {}
    for cell in one.cells("environment"):
        best = cells.get(cell["variant"])
        size = (cell["threads"], cell["lanes"])
        if best is None or size > (best["threads"], best["lanes"]):
            cells[cell["variant"]] = cell
    return list(cells.values())


def _own(cell: Found) -> list[Found]:
    """Return the backends' results, without those through `make`."""
    return [r for r in cell["results"] if r["backend"] and r["how"] != "make"]


def _references(cell: Found) -> list[str]:
    """Return the steps per second of the plain and of the best way to run the reference."""
    plain = next(r for r in cell["results"] if is_reference(r))
    best = next(r for r in cell["results"] if r["best_reference"])
    return [rate(r["rate"]["median"]) for r in (plain, best)]


def _summary(one: Measured, cell: Found, result: Found) -> list[str]:
    return [
        one.found["environment"],
        result["platform"],
        cell["variant"],
        str(cell["threads"]),
        str(cell["lanes"]),
        *_references(cell),
        result["backend"],
        rates(result["rate"]),
        *(spread(result["ratio"][to]) for to in ("best", "plain")),
        paper.speeds("random", one.env, result["backend"]),
    ]


def _all_cells(one: Measured, cells: Sequence[Found], what: str) -> str:
    """Return all cells of an environment: references, backends, other implementations."""
    others = [r for cell in cells for r in cell["results"] if _is_peer(r)]
    peers = list(dict.fromkeys(r["name"] for r in others))
    rows = [["variant", "threads", "lanes", "plain reference", "best reference", "backend",
             "steps/s", "to the best", "to the plain", "make().rollout",
             *(f"to {peer}" for peer in peers), "compilation"]]  # fmt: skip
    rows += [_cell(cell, result, peers) for cell in cells for result in _own(cell)]
    left = dict.fromkeys(text for cell in cells for text in cell.get("left_out", ()))
    lines = "".join(f"\n- {NOT_MEASURED}: {text}" for text in left)
    title = joined(one.found["environment"], "on a GPU" if one.where else "", what)
    head = (
        f"### {title}\n\nReference: {one.found['reference']}. {made_on(one.found)}{one.outdated()}"
    )
    return f"{head}\n\n{table(rows)}" + (f"\n{lines}" if lines else "")


def _is_peer(result: Found) -> bool:
    return not result["backend"] and not is_reference(result)


def _cell(cell: Found, result: Found, peers: Sequence[str]) -> list[str]:
    by_name = {r["name"]: r for r in cell["results"]}
    make = [r for r in cell["results"] if (r["backend"], r["how"]) == (result["backend"], "make")]
    to_peers = result.get("to_peers", {})
    return [
        cell["variant"],
        str(cell["threads"]),
        str(cell["lanes"]),
        *_references(cell),
        result["backend"],
        rates(result["rate"]),
        *(spread(result["ratio"][to]) for to in ("best", "plain")),
        rates(make[0]["rate"]) if make else "",
        *(
            f"{rate(by_name[peer]['rate']['median'])}: {spread(to_peers[peer])}"
            if peer in to_peers
            else ""
            for peer in peers
        ),
        f"{digits(first_extra(result))} s" if "hlo_bytes" in result else "",
    ]


def _ratios(shown: Sequence[tuple[Measured, Found, Found]]) -> list[Picture]:
    if not shown:
        return []
    labels = [joined(one.name, cell["variant"], r["backend"]) for one, cell, r in shown]
    best = [r["ratio"]["best"] for *_, r in shown]
    values = [(each["median"], each["min"], each["max"]) for each in best]
    colors = [r["backend"].rstrip("0123456789") for *_, r in shown]
    axis = "times as fast as the best way to run the reference"
    panel = Bars("random play", axis, labels, values, colors, log=True)
    caption = "How many times as fast as the reference, with the least and the greatest round"
    return [Picture("throughput.png", caption, [panel])]
