"""The Markdown of a benchmark's result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]


def markdown(result: Result) -> str:
    """Return the whole file: what was measured how, one table per variant, the flag sets."""
    parts = [_head(result)]
    for variant in dict.fromkeys(cell["variant"] for cell in result["cells"]):
        cells = [cell for cell in result["cells"] if cell["variant"] == variant]
        parts.append(_variant(variant or "default", cells))
    if result["policies"]:
        parts.append(_policies(result["policies"]))
    everything = [r for cell in result["cells"] + result["policies"] for r in cell["results"]]
    if all(r["platform"] == "cpu" for r in everything):
        parts.append("GPU: not measured.")
    return "\n\n".join(parts) + "\n"


def _head(result: Result) -> str:
    machine, load = result["machine"], result["load_average"]
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
    if compilers := _all(result, "compiler"):
        facts.append(f"- the reference's compiler: {'; '.join(compilers)}")
    return (
        f"# {result['environment']}: speed side by side with the reference\n\n"
        f"Reference: {result['reference']}. M steps/s are millions of environment steps per "
        "second in all lanes, median of the rounds (least to greatest). Rounds of all backends "
        "alternate. A ratio is the median over the rounds of how many times faster a backend "
        "played the same round. In every round, observations, rewards and ends of all backends "
        "had the same checksum, and at the end their states. `NAME` alone writes what the "
        "reference writes, to memory in use before; `NAME, make().rollout` is what a user calls, "
        "which also gives the last observation of each episode that ended.\n\n" + "\n".join(facts)
    )


def _variant(variant: str, cells: Sequence[Result]) -> str:
    rows = [["threads", "lanes", "backend", "M steps/s", "to the best reference",
             "to the plain one", "peak MB", "first call", "HLO"]]  # fmt: skip
    for cell in cells:
        plain = next(r for r in cell["results"] if not r["backend"])
        best = next(r for r in cell["results"] if r["best_reference"])
        shown = list({id(r): r for r in (plain, best)}.values())
        shown += [r for r in cell["results"] if r["backend"]]
        rows += [_row(cell, r) for r in shown]
    checksums = ", ".join(
        f"{c['lanes']} x {c['steps']} x {c['rounds']}: `{c['checksum']}`"
        for c in {(c["lanes"], c["steps"]): c for c in cells}.values()
    )
    text = f"## {variant}\n\n{_table(rows)}\n\nChecksums (lanes x steps x rounds): {checksums}."
    few = {r["lanes_played"] for c in cells for r in c["results"] if r["lanes_played"] < c["lanes"]}
    if few:
        text += f" The reference played, and is compared in, the first {max(few)} lanes."
    natives = [r["name"] for r in cells[0]["results"] if not r["backend"]]
    if len(natives) > 1:
        text += f"\n\nWays to run the reference that were tried, M steps/s:\n\n{_tried(cells)}"
    return text


def _row(cell: Result, result: Result) -> list[str]:
    name = result["name"]
    if not result["backend"]:
        name = f"reference, {name}" + (" (best)" if result["best_reference"] else "")
    own = bool(result["backend"])
    device = result["memory"].get("device", 0)
    memory = f"{result['memory']['peak'] / 1e6:.0f}"
    return [
        str(cell["threads"]),
        str(cell["lanes"]),
        name + ("" if result["platform"] == "cpu" else f" ({result['platform']})"),
        _spread(result["rate"], 1e-6),
        _spread(result["ratio"]["best"]) if own else "",
        _spread(result["ratio"]["plain"]) if own else "",
        memory + (f" + {device / 1e6:.0f}" if device else ""),
        f"{first_extra(result):.2f} s" if own and first_extra(result) > 0.1 else "",
        f"{result['hlo_instructions']} ({result['hlo_bytes'] / 1e3:.0f} kB)"
        if "hlo_bytes" in result
        else "",
    ]


def first_extra(result: Result) -> float:
    """Return how many seconds longer the first call took than the second: compilation."""
    return max(0.0, result["first_call_seconds"] - result["second_call_seconds"])


def _tried(cells: Sequence[Result]) -> str:
    names = [r["name"] for r in cells[0]["results"] if not r["backend"]]
    rows = [["reference", *(f"{c['lanes']} lanes, {c['threads']} threads" for c in cells)]]
    for name in names:
        found = [next(r for r in c["results"] if r["name"] == name) for c in cells]
        rows.append(
            [name, *(_number(r["rate"]["median"] / 1e6) + _star(r) for r in found)],
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
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *rest])


def _all(result: Result, name: str) -> list[str]:
    found = (r.get(name) for cell in result["cells"] for r in cell["results"])
    return list(dict.fromkeys(value for value in found if value))


def _newest(isa: Sequence[str]) -> list[str]:
    """Return the flags that tell what arithmetic is at hand; all of them are in the JSON."""
    told = ("sse2", "avx", "avx2", "fma", "avx512f", "avx512vl", "asimd", "sve")
    return [flag for flag in told if flag in isa]
