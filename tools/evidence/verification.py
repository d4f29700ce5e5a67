"""The verification of each candidate: tests, episodes, steps and events, and level 4's lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.evidence import paper
from tools.evidence.bench_results import GPU, can_be, named
from tools.evidence.formatting import made_on, table
from tools.evidence.results import Found, Results, quoted, read, whole
from tools.evidence.section import Missing, Section
from twinstep.project.source_hash import PACKAGED_GPU

_PARTS = ("pairs", "versions")
_OUTCOMES = ("failed", "errors", "expected_failures", "skipped")


def counts(results: Results) -> Section:
    """Return the section on tests, episodes and steps."""
    tests = [["candidate", "verdict", "level 1", "level 2", "level 3", "episodes", "that ended",
              "steps", "number type", "platform"]]  # fmt: skip
    drivers = [["variant", "candidates", "driver", "episodes", "terminated", "truncated", "cut",
                "steps", "events seen"]]  # fmt: skip
    sources = []
    for env, found in _verdicts(results):
        with whole(results.verdict_file(env)):
            tests += [_counted(label, pair) for label, pair in found["pairs"].items()]
            drivers += _drivers(found["pairs"])
            oracles = ", ".join(dict.fromkeys(pair["oracle"] for pair in found["pairs"].values()))
            sources.append(f"- {env}, against {oracles}: {made_on(found, _command(env))}")
        path = results.gpu_verdict_file(env)
        if (found := read(path, _PARTS)) is not None:
            with whole(path):
                tests += [_counted(label, pair) for label, pair in found["pairs"].items()]
                sources.append(f"- {env} on a GPU: {made_on(found, _on_a_gpu(env))}")
    theirs = [["environment", "tests", "passed, as it says", "episodes", "iterations", "dollars"]]
    theirs += [
        [f["env"], f["tests"], f["passing"], str(f["episodes"]), str(f["iterations"]), f["cost"]]
        for f in paper.facts()["tests"]
    ]
    blocks = [
        "From the verdict that each candidate's package brings along. Tests that passed, by level; "
        "what failed or was left out stands beside them.",
        table(tests),
        "\n".join(sources),
        "### By driver\n\nCandidates of which one row speaks replayed the same episodes.",
        table(drivers),
        f"### The paper's\n\n{paper.column()}, with the steps of a repair and what its model cost:",
        table(theirs),
    ]
    return Section(
        "Verification counts",
        [block for block in blocks if block],
        results.verified(),
        _missing(results) + _missing_gpu(results),
    )


def coverage(results: Results) -> Section:
    """Return the section on the events of the reference that occurred."""
    rows = [["variant", "events declared", "met by some driver", "never met"]]
    for env, found in _verdicts(results):
        with whole(results.verdict_file(env)):
            for variant, pairs in _by_variant(found["pairs"]).items():
                met = _events(pairs)
                never = sorted(name for name, count in met.items() if not count)
                share = f"{len(met) - len(never)} of {len(met)}" if met else "none declared"
                rows.append([variant, str(len(met)), share, ", ".join(never)])
    return Section(
        "Coverage",
        [
            "Events that the reference's bridge counts in the episodes above. An event that a "
            "variant's rules or decks cannot bring about is never met there.",
            table(rows),
        ],
        results.verified(),
        _missing(results),
    )


def transfer(results: Results) -> Section:
    """Return the section on level 4."""
    rows = [["candidate", "level 4", "what the run said"]]
    sources, there = [], []
    for env in results.names("transfer"):
        path = results.there("transfer", f"{env}.json")
        if (found := read(path, _PARTS)) is None:
            continue
        with whole(path):
            for label, pair in found["pairs"].items():
                lines = [line for line in pair["lines"] if line.startswith("L4 ")]
                outcome = _outcome(pair["levels"].get("level4"))
                rows += [[label, outcome, line] for line in lines or ["no line of level 4"]]
            sources.append(f"- {env}: {made_on(found, _level4(results, env))}")
            there.append(env)
    theirs = [["environment", "score", "margin", "trained in", "in the fast one",
               "in the reference"]]  # fmt: skip
    theirs += [
        [f["env"], f["what"], f"{f['margin']:g}", f["trained"], f"{f['fast']:g}",
         f"{f['reference']:g}"]
        for f in paper.facts()["transfer"]
    ]  # fmt: skip
    missing = [
        Missing(env, _level4(results, env)) for env in paper.environments() if env not in there
    ]
    blocks = ["Policies trained on either side and played on both; TOST, alpha 0.05."]
    blocks += [table(rows), "\n".join(sources)] if sources else []
    blocks += [f"### The paper's\n\n{paper.column()}:", table(theirs)]
    return Section("Level 4, transfer of policies", blocks, there, missing)


def _verdicts(results: Results) -> Iterator[tuple[str, Found]]:
    for env in results.verified():
        if (found := read(results.verdict_file(env), _PARTS)) is not None:
            yield env, found


def _missing(results: Results) -> list[Missing]:
    there = results.verified()
    return [Missing(env, _command(env)) for env in paper.environments() if env not in there]


def _missing_gpu(results: Results) -> list[Missing]:
    """Return the environments with a candidate for a GPU but without a verdict on one."""
    return [
        Missing(named(env, GPU), _on_a_gpu(env))
        for env in paper.environments()
        if can_be(env, GPU) and not results.gpu_verdict_file(env).is_file()
    ]


def _on_a_gpu(env: str) -> str:
    """Return the command that tests a candidate on a GPU, with episodes recorded elsewhere."""
    return (
        f"pytest -m level3 --env {env} --candidate jax --traces FILE "
        f"--verdict candidates/{env}/{PACKAGED_GPU}"
    )


def _command(env: str) -> str:
    return (
        f'pytest --env {env} -m "level1 or level2 or level3" '
        f"--verdict candidates/{env}/verdict.json"
    )


def _level4(results: Results, env: str) -> str:
    file = quoted(results.there("transfer", f"{env}.json"))
    return f"pytest -m level4 --env {env} --verdict {file}"


def _counted(label: str, pair: Found) -> list[str]:
    seen = pair["drivers"].values()
    ended = sum(one["terminated"] + one["truncated"] for one in seen)
    return [
        label,
        pair["verdict"],
        *(_outcome(pair["levels"].get(f"level{n}")) for n in (1, 2, 3)),
        f"{sum(one['episodes'] for one in seen):,}",
        f"{ended:,}",
        f"{sum(one['steps'] for one in seen):,}",
        pair["dtype"],
        pair["platform"],
    ]


def _outcome(level: Mapping[str, int] | None) -> str:
    if level is None:
        return "not run"
    others = [f"{level[name]} {name.replace('_', ' ')}" for name in _OUTCOMES if level[name]]
    return ", ".join([str(level["passed"]), *others])


def _by_variant(pairs: Mapping[str, Any]) -> dict[str, list[Found]]:
    """Return the entries of each variant: `pong@fs8` for `pong@fs8-jax` and `pong@fs8-rust`."""
    found: dict[str, list[Found]] = {}
    for label, pair in pairs.items():
        found.setdefault(label.removesuffix(f"-{pair['candidate']}"), []).append(pair)
    return found


def _drivers(pairs: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each driver of each variant; candidates with the same counts share one."""
    rows = []
    for variant, entries in _by_variant(pairs).items():
        for driver in sorted({name for pair in entries for name in pair["drivers"]}):
            seen: list[tuple[Found, list[str]]] = []
            for pair in entries:
                if (one := pair["drivers"].get(driver)) is None:
                    continue
                same = [names for other, names in seen if other == one]
                if same:
                    same[0].append(pair["candidate"])
                else:
                    seen.append((one, [pair["candidate"]]))
            rows += [_driver(variant, driver, one, names) for one, names in seen]
    return rows


def _driver(variant: str, driver: str, one: Found, names: Sequence[str]) -> list[str]:
    ends = [str(one[name]) for name in ("terminated", "truncated", "cut")]
    met = sum(count > 0 for count in one["events"].values())
    events = f"{met} of {len(one['events'])}" if one["events"] else "none declared"
    row = [variant, ", ".join(names), driver, str(one["episodes"]), *ends]
    return [*row, f"{one['steps']:,}", events]


def _events(pairs: Sequence[Found]) -> dict[str, int]:
    """Return each event's count: the maximum over the candidates."""
    most: dict[str, int] = {}
    for pair in pairs:
        own: dict[str, int] = {}
        for one in pair["drivers"].values():
            for name, count in one["events"].items():
                own[name] = own.get(name, 0) + count
        most |= {name: max(count, most.get(name, 0)) for name, count in own.items()}
    return most
