"""The Markdown of a benchmark's result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twinstep._lib.markdown import table
from twinstep.bench import mean_check
from twinstep.bench.targets import FEW
from twinstep.bench.training_cell import training_rows

Result = Mapping[str, Any]


def markdown(result: Result) -> str:
    """Return the whole file: the measurement, one table per variant, the flag sets."""
    parts = [_head(result)]
    for variant in dict.fromkeys(cell["variant"] for cell in result["cells"]):
        cells = [cell for cell in result["cells"] if cell["variant"] == variant]
        work = {
            name: [c for c in cells if c.get("work") == name] for name in ("physics", "training")
        }
        stepped = [c for c in cells if c not in sum(work.values(), [])]
        if stepped:
            parts.append(_variant(variant, stepped))
        if work["physics"]:
            parts.append(_physics(variant, work["physics"]))
        if work["training"]:
            parts.append(_training(variant, work["training"]))
    if result["policies"]:
        parts.append(_policies(result["policies"]))
    everything = [r for cell in result["cells"] + result["policies"] for r in cell["results"]]
    everything = [r for r in everything if r["backend"]]
    if all(r["platform"] == "cpu" for r in everything):
        parts.append("GPU: not measured.")
    return "\n\n".join(parts) + "\n"


def _head(result: Result) -> str:
    machine, load = result["machine"], result["load_average"]
    if all(cell.get("work") == "training" for cell in result["cells"]):
        told = "Rounds of all backends alternate; a ratio is the median over the rounds."
    else:
        told = (
            "M steps/s are millions of environment steps per second in all lanes, median of the "
            "rounds (least to greatest). Rounds of all backends alternate. A ratio is the median "
            f"over the rounds of how many times faster a backend played the same round. "
            f"{_equal_work(result)} `NAME` alone writes what the reference writes, to memory in "
            "use before; `NAME, make().rollout` is what a user calls, which also gives the last "
            "observation of each episode that ended."
        )
    numbers = lambda values: ", ".join(f"{v:.2f}" for v in values)  # noqa: E731
    isa = " ".join(_newest(machine["isa"]))
    facts = [
        f"- command: `{result['command']}`",
        f"- processor: {machine['cpu']} ({machine['architecture']}), "
        f"{machine['cores_used']} of {machine['cores_online']} cores used; {isa}",
        f"- system: {machine['os']}, {machine['libc']}",
        "- versions: " + ", ".join(f"{n} {v}" for n, v in result["versions"].items()),
        f"- load average: {numbers(load['before'])} before, {numbers(load['after'])} after",
        "- variables: " + " ".join(f"`{n}={v}`" for n, v in result["variables"].items()),
    ]
    if "date" in result:  # Results of before it was written have none.
        facts.append(f"- date: {result['date']}")
    if compilers := _all(result, "compiler"):
        facts.append(f"- the reference's compiler: {'; '.join(compilers)}")
    return (
        f"# {result['environment']}: speed side by side with the reference\n\n"
        f"Reference: {result['reference']}. {told}\n\n" + "\n".join(facts)
    )


def _equal_work(result: Result) -> str:
    """Describe the checks that all backends did the same work."""
    compared = result["cells"][0].get("compared", ["obs"])
    if "obs" in compared:
        return (
            "In every round, observations, rewards and ends of all backends had the same checksum, "
            "and at the end their states."
        )
    return (
        "Bits may differ here: in every round, the ends of all backends had the same checksum, and "
        f"in the first one their mean returns lay within {mean_check.MOST:g} standard errors of "
        "the reference's (mean squares of the state where only physics is measured)."
    )


def _variant(variant: str, cells: Sequence[Result]) -> str:
    checksums = ", ".join(
        f"{c['lanes']} x {c['steps']} x {c['rounds']}: `{c['checksum']}`"
        for c in {(c["lanes"], c["steps"]): c for c in cells}.values()
    )
    text = f"## {variant or 'default'}\n\n{_measured(cells)}\n\n"
    for what, number in _facts(cells).items():
        text += f"{what}: {_number(number)}. "
    text += f"Checksums (lanes x steps x rounds): {checksums}."
    few = {r["lanes_played"] for c in cells for r in c["results"] if r["lanes_played"] < c["lanes"]}
    if few:
        played = " or ".join(map(str, sorted(few)))
        text += f" The reference played the first {played} lanes, and is compared in {FEW}."
    if len(_ways(cells)) > 2:
        text += f"\n\nWays to run the reference that were tried, M steps/s:\n\n{_tried(cells)}"
    return text


def _physics(variant: str, cells: Sequence[Result]) -> str:
    title = f"{variant}, physics alone" if variant else "Physics alone"
    return (
        f"## {title}\n\nSteps that neither observe, nor reward, nor begin episodes.\n\n"
        + _measured(cells)
    )


def _training(variant: str, cells: Sequence[Result]) -> str:
    title = f"{variant}, PPO" if variant else "PPO"
    learned = [{r["policy"] for r in cell["results"] if "policy" in r} for cell in cells]
    same = (
        "Where environment and network are not one compiled program, each learned the same policy "
        f"to the last bit: {', '.join(sorted(set.union(*learned)))}."
        if all(len(each) == 1 for each in learned)
        else "Bits may differ here, and with them what is learned."
    )
    return (
        f"## {title}\n\nThe trainer of level 4, one policy, the same network and the same steps. "
        f"{same}\n\n{_table(training_rows(cells, _spread))}"
    )


def _measured(cells: Sequence[Result]) -> str:
    """Return the table of the reference, backends and baselines, with notes on the baselines."""
    everything = [r for cell in cells for r in cell["results"]]
    peers = list(dict.fromkeys(r["name"] for r in everything if _is_peer(r)))
    rows = [["threads", "lanes", "backend", "M steps/s", "to the best reference",
             "to the plain one", *(f"to {name}" for name in peers),
             "peak MB", "first call", "HLO"]]  # fmt: skip
    for cell in cells:
        plain = next(r for r in cell["results"] if not r["backend"])
        best = next(r for r in cell["results"] if r["best_reference"])
        shown = list({id(r): r for r in (plain, best)}.values())
        shown += [r for r in cell["results"] if r["backend"] or _is_peer(r)]
        rows += [_row(cell, r, peers) for r in shown]
    notes = {r["name"]: r["note"] for r in everything if _is_peer(r)}
    notes |= {text: "" for cell in cells for text in cell.get("left_out", ())}
    note_lines = "".join(
        f"\n- {name}: {note}" if note else f"\n- not measured: {name}"
        for name, note in notes.items()
    )
    return _table(rows) + (f"\n\nOther implementations:\n{note_lines}" if note_lines else "")


def _facts(cells: Sequence[Result]) -> dict[str, float]:
    """Return facts about the work itself, by name."""
    facts: dict[str, float] = {}
    for cell in cells:
        for result in cell["results"]:
            facts |= result.get("facts", {})
    return facts


def _is_peer(result: Result) -> bool:
    return bool(result.get("peer")) and result["model"] != "reference"


def _ways(cells: Sequence[Result]) -> list[str]:
    """Return the names of all ways to run the reference."""
    results = [r for cell in cells for r in cell["results"] if not r["backend"] and not _is_peer(r)]
    return list(dict.fromkeys(r["name"] for r in results))


def _row(cell: Result, result: Result, peers: Sequence[str]) -> list[str]:
    name = result["name"]
    if _is_peer(result):
        name += " (another model)" if result["model"] == "another" else ""
    elif not result["backend"]:
        name = f"reference, {name}" + (" (best)" if result["best_reference"] else "")
    own, to_peers = bool(result["backend"]), result.get("to_peers", {})
    device = result["memory"].get("device", 0)
    memory = f"{result['memory']['peak'] / 1e6:.0f}"
    return [
        str(cell["threads"]),
        str(cell["lanes"]),
        name + ("" if result["platform"] == "cpu" else f" ({result['platform']})"),
        _spread(result["rate"], 1e-6),
        _spread(result["ratio"]["best"]) if own else "",
        _spread(result["ratio"]["plain"]) if own else "",
        *(_spread(to_peers[peer]) if peer in to_peers else "" for peer in peers),
        memory + (f" + {device / 1e6:.0f}" if device else ""),
        f"{first_extra(result):.2f} s" if own and first_extra(result) > 0.1 else "",
        f"{result['hlo_instructions']} ({result['hlo_bytes'] / 1e3:.0f} kB)"
        if "hlo_bytes" in result
        else "",
    ]


def first_extra(result: Result) -> float:
    """Return the seconds of compilation: the first call's minus the second's."""
    return max(0.0, result["first_call_seconds"] - result["second_call_seconds"])


def _tried(cells: Sequence[Result]) -> str:
    rows = [["reference", *(f"{c['lanes']} lanes, {c['threads']} threads" for c in cells)]]
    for name in _ways(cells):
        found = [next((r for r in c["results"] if r["name"] == name), None) for c in cells]
        rows.append(
            [name, *(_number(r["rate"]["median"] / 1e6) + _star(r) if r else "" for r in found)],
        )
    return _table(rows) + "\n\n\\* the best of its column."


def _star(result: Result) -> str:
    return " \\*" if result["best_reference"] else ""


def _policies(cells: Sequence[Result]) -> str:
    rows = [["variant", "backend", "policy", "parameters", "threads", "lanes x steps",
             "M steps/s", "without the network", "environment's share", "GFLOP/s",
             "first call"]]  # fmt: skip
    for cell in cells:
        asked, drawn = cell["results"]
        rows.append(
            [
                cell["variant"],
                cell["backend"],
                cell["policy"],
                f"{asked['parameters']:,} {asked['network_dtype']}",
                str(cell["threads"]),
                f"{cell['lanes']} x {cell['steps']}",
                _spread(asked["rate"], 1e-6),
                _spread(drawn["rate"], 1e-6),
                _spread(cell["environment_share"], 100, "%"),
                f"{cell['flops_per_second'] / 1e9:.1f}",
                f"{first_extra(asked):.2f} s",
            ]
        )
    return (
        "## With a policy in the loop\n\nThe whole rollout is compiled; observations, choices, "
        "values, rewards and ends are written. The environment's share of the time is that of "
        "the same rollout with actions drawn without the network.\n\n" + _table(rows)
    )


def _spread(values: Mapping[str, float], unit: float = 1.0, mark: str = "") -> str:
    median, low, high = (_number(values[name] * unit) for name in ("median", "min", "max"))
    return f"{median}{mark} ({low} to {high})"


def _number(value: float) -> str:
    """Return three digits, without exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(table(rows, " --- "))


def _all(result: Result, name: str) -> list[str]:
    values = (r.get(name) for cell in result["cells"] for r in cell["results"])
    return list(dict.fromkeys(value for value in values if value))


def _newest(isa: Sequence[str]) -> list[str]:
    """Return the flags of the available vector arithmetic; the JSON has all flags."""
    shown = ("sse2", "avx", "avx2", "fma", "avx512f", "avx512vl", "asimd", "sve")
    return [flag for flag in shown if flag in isa]
