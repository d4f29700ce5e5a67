"""Shares of a training iteration's time: environment, transfer, network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.evidence import paper
from tools.evidence.bench_results import GPU, can_be, folders, named, require_gpu
from tools.evidence.formatting import NOT_MEASURED, digits, joined, made_on, share, table
from tools.evidence.results import Found, Results, read, whole
from tools.evidence.section import Missing, Picture, Section, Stacks

_PARTS = ("environment", "variant", "command", "machine", "versions", "date", "rows", "peak")
_SHARES = {"environment": "environment_share", "transfer": "transfer_share", "model": "model_share"}
_ORACLE = "oracle"
FOLDER = "breakdown"


def breakdown(results: Results) -> Section:
    """Return the section on the shares of an iteration's time."""
    blocks, pictures, there = [], [], []
    for where in ("", GPU):
        for env, found in _files(results, where):
            name = named(env, where)
            with whole(results.there(*folders(where, FOLDER), f"{env}.json")):
                blocks.append(text(env, name, found))
                pictures += _picture(env, name, found)
            there.append(name)
    missing = [
        Missing(
            name,
            f"twinstep breakdown {env}{results.out(*folders(where, FOLDER), usual=[FOLDER])}",
            here=not where,
        )
        for where in ("", GPU)
        for env in paper.environments()
        if (name := named(env, where)) not in there and can_be(env, where)
    ]
    theirs = [["environment", "side", *(_size(size) for size in _sizes())]]
    for fact in paper.facts()["breakdown"]:
        for side in ("reference", "fast"):
            shares = [fact[side].get(str(size)) for size in _sizes()]
            cells = ["" if value is None else f"{digits(100 * value)} %" for value in shares]
            theirs.append([fact["env"], side, *cells])
    intro = (
        "One iteration of PPO by networks of so many parameters: shares of its time, median "
        "(least to greatest) of the rounds. Of the peak: the network's operations over the seconds "
        "that are neither the environment's nor a copy, as a share of what the machine reaches in "
        "one large matrix product. Where environment and network are one compiled program, the "
        "environment's share is what it takes longer with a second batch of environments; "
        "elsewhere they take turns, nothing runs beside anything, and each copy is waited for: "
        "`twinstep train` may overlap them. A transfer includes gathering a batch on the host."
    )
    theirs_told = f"### The paper's\n\nThe environment's share, {paper.column()}:"
    return Section(
        "Breakdown of training time",
        [intro, *blocks, theirs_told, table(theirs)],
        there,
        missing,
        pictures,
    )


def _files(results: Results, where: str) -> Iterator[tuple[str, Found]]:
    for env in results.names(*folders(where, FOLDER)):
        path = results.there(*folders(where, FOLDER), f"{env}.json")
        if (found := read(path, _PARTS)) is None:
            continue
        with whole(path):
            measured = any("not_measured" not in row for row in found["rows"])
        # A result without measurements counts as missing.
        if measured:
            require_gpu(path, where, found)
            yield env, found


def _sizes() -> list[int]:
    """Return the network sizes of the paper's shares."""
    facts = paper.facts()["breakdown"]
    return sorted({int(size) for fact in facts for side in ("reference", "fast")
                   for size in fact[side]})  # fmt: skip


def _size(parameters: int) -> str:
    return f"{digits(parameters / 1e6)}M"


def text(env: str, name: str, found: Found) -> str:
    """Return a result as Markdown: its origin and its table."""
    rows = [["side", "network", "parameters", *_SHARES, "of the peak", "operations an iteration",
             f"environment, {paper.column()}"]]  # fmt: skip
    for row in found["rows"]:
        side, size = _side(row), _size(row["size"])
        theirs = _theirs(env, row)
        if "not_measured" in row:
            reason = f"{NOT_MEASURED}: {row['not_measured']}"
            rows.append([side, size, "", reason, *[""] * (len(_SHARES) + 1), theirs])
            continue
        shares = [_share(row, key) for key in _SHARES.values()]
        own = [f"{row['parameters']:,}", *shares, _share(row, "flop_use")]
        rows.append([side, size, *own, digits(row["operations"]), theirs])
    where = joined(found["environment"], found["variant"], name.removeprefix(env).strip())
    lanes = f"{found['lanes']:,} lanes x {found['steps']:,} steps; " if "lanes" in found else ""
    peak = f"peak {digits(found['peak'] / 1e9)} GFLOP/s"
    return f"### {where}\n\n{lanes}{peak}; {made_on(found)}\n\n{table(rows)}"


def _side(row: Mapping[str, Any]) -> str:
    return "the reference" if row["backend"] == _ORACLE else row["backend"]


def _share(row: Mapping[str, Any], key: str) -> str:
    if not row.get(key):
        return "not told apart"
    # A difference of two programs is negative if it is below the clock's noise.
    return share(row[key]) + (", below the noise" if row[key]["min"] < 0 else "")


def _theirs(env: str, row: Mapping[str, Any]) -> str:
    side = "reference" if row["backend"] == _ORACLE else "fast"
    for fact in paper.about("breakdown", env):
        if (value := fact[side].get(str(row["size"]))) is not None:
            return f"{digits(100 * value)} %"
    return ""


def _picture(env: str, name: str, found: Found) -> list[Picture]:
    measured = [row for row in found["rows"] if "not_measured" not in row]
    if not measured:
        return []
    labels = [f"{_side(row)}, {_size(row['size'])}" for row in measured]
    parts: list[tuple[str, Sequence[float]]] = [
        (part, [100 * row[key]["median"] if row.get(key) else 0.0 for row in measured])
        for part, key in _SHARES.items()
    ]
    title = joined(found["environment"], found["variant"])
    panel = Stacks(title, "of an iteration's time, percent (medians)", labels, parts)
    file = f"breakdown-{name.replace(' on a GPU', '-gpu')}.png"
    return [Picture(file, f"Where the time of an iteration goes: {name}", [panel])]
