"""The Markdown of a run's record, a pure function of journal, commits and declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from twinstep._lib.markdown import table
from twinstep.repair.history import Check, Record, Try, cost
from twinstep.repair.metadata import Facts
from twinstep.repair.sandbox import TRUST

_PHASES = {1: "1, modules", 2: "2, the whole", 3: "3, episodes", 4: "4, transfer", 5: "5, speed"}
_SHOWN = 10


def markdown(record: Record, facts: Facts, figure: str = "") -> str:
    """Return the whole file. figure: the picture's file name, "" if there is none."""
    parts = [f"# {record.name}", _table([["", ""], *_summary(record, facts)])]
    if figure:
        parts.append(f"![Tests passing against tries]({figure})")
    if record.tries:
        parts += [
            "## Where the tries went",
            _grouped("phase", record.tries, lambda one: phase(one.phase)),
            _grouped("module", record.tries, lambda one: _cell(one.module)),
            "## Tries",
            "Tests are those of the first check after a try: a wider check has more of them, and "
            "every regression adds some.",
            _tries(record.tries),
        ]
    if timed := [one for one in record.tries if one.speed]:
        parts += [
            "## Changes for speed",
            "Measured in turn with the version before it: rounds of the one over rounds of the "
            "other, median (least to most). One is kept that is faster in every round at one batch "
            "size at least, at none slower in every round, and proven again.",
            _speeds(timed),
        ]
    if strayed := [line for one in record.tries for line in _strayed(one)]:
        parts += ["## Changes that were not its to make", "\n".join(strayed)]
    if record.checks:
        parts += [
            "## What each level said",
            "All tests are also those that the verdict counts under no level.",
            _checks(record.checks),
        ]
    return "\n\n".join(parts) + "\n"


def phase(number: int) -> str:
    """Return `1, modules`."""
    return _PHASES.get(number, str(number))


def dollars(tries: Iterable[Try]) -> str:
    """Return `0.50 dollars`, or `unknown` with the known part."""
    total, whole = cost(tries)
    return f"{money(total)} dollars" if whole else f"unknown (known: {money(total)} dollars)"


def money(value: float) -> str:
    """Return two decimals, or four if two would hide something."""
    text = f"{value:.4f}"
    return text.removesuffix("00")


def _summary(record: Record, facts: Facts) -> list[list[str]]:
    tries, settings = record.tries, record.settings
    undone = [one for one in tries if one.undone]
    outside = [one for one in tries if one.outside]
    modules = list(dict.fromkeys(one.module for one in tries))
    end = str(record.end) if record.end else (
        f"under way, or killed: `twinstep repair --resume {record.name}` goes on with it"
    )  # fmt: skip
    rows = [
        ["environment", settings["env"]],
        ["contract", facts.contract or "unknown"],
        ["reference", facts.oracle or "unknown"],
        ["candidate", settings["candidate"]],
        ["agent", settings["agent"]],
        ["phases asked for", ", ".join(settings["phases"])],
        ["episodes of a driver", str(settings["episodes"])],
        ["modules of the contract", _modules(facts)],
        ["parts asked for", ", ".join(modules) or "none"],
        ["lines of the candidate at the end", _lines_at_end(facts)],
        ["lines changed by all tries", _changed(tries)],
        ["tests of the last check", _last(record)],
        ["tries", f"{len(tries)}" + (f", {len(undone)} of them undone" if undone else "")],
        ["regressions kept", str(len(record.regressions))],
        [
            "refused changes outside its files",
            f"{sum(len(one.outside) for one in outside)} in {len(outside)} tries",
        ],
        ["processes left behind", str(sum(one.leftovers for one in tries))],
        ["tries ended for their time", str(sum(one.timed_out for one in tries))],
        ["time of the agent", _time(sum(one.seconds for one in tries))],
        [f"time of {len(record.checks)} checks", _time(sum(c.seconds for c in record.checks))],
        ["cost", dollars(tries)],
    ]
    if record.granted:
        rows.append(["tries granted on the way", str(record.granted)])
    if not settings.get("sandbox"):
        rows.append(["walls", TRUST])
    rows += [["an end before that", str(former)] for former in record.former]
    rows.append(["how it ended", end])
    rows += [["verdict", said] for said in facts.verdicts]
    return [[name, _cell(text)] for name, text in rows]


def _modules(facts: Facts) -> str:
    names = facts.modules
    return f"{len(names)}: {', '.join(names)}" if names else "unknown"


def _lines_at_end(facts: Facts) -> str:
    if facts.lines is None:
        return "unknown"
    before, after = facts.lines
    return f"{after} ({before} when it began)"


def _changed(tries: Sequence[Try]) -> str:
    return f"+{sum(one.added for one in tries)} -{sum(one.removed for one in tries)}"


def _last(record: Record) -> str:
    if not record.checks:
        return "no check yet"
    last = record.checks[-1]
    return f"{_counts(last)} ({last.stage})"


def _counts(check: Check) -> str:
    if check.trouble:
        return f"no tests: {_short(check.trouble)}"
    return f"{check.passed} passed, {check.failed} failed, {check.skipped} skipped"


def _grouped(name: str, tries: Sequence[Try], key: Callable[[Try], str]) -> str:
    rows = [[name, "tries", "undone", "lines", "time", "dollars"]]
    for group in sorted({key(one) for one in tries}):
        mine = [one for one in tries if key(one) == group]
        total, whole = cost(mine)
        rows.append(
            [
                group,
                str(len(mine)),
                str(sum(one.undone for one in mine)),
                _changed(mine),
                _time(sum(one.seconds for one in mine)),
                money(total) if whole else f"unknown (known: {money(total)})",
            ]
        )
    return _table(rows)


def _tries(tries: Sequence[Try]) -> str:
    rows = [["try", "phase", "module", "seconds", "dollars", "lines", "tests passing after it",
             "check", "what happened"]]  # fmt: skip
    rows += [
        [
            str(one.number),
            str(one.phase),
            _cell(one.module),
            f"{one.seconds:.1f}",
            "unknown" if one.cost is None else money(one.cost),
            _changed([one]),
            _passing(one.check),
            _cell(one.check.stage if one.check else ""),
            _happened(one),
        ]
        for one in tries
    ]
    return _table(rows)


def _speeds(tries: Sequence[Try]) -> str:
    rows = [["try", "variant", "lanes", "threads", "times as fast", "what became of it"]]
    for one in tries:
        assert one.speed is not None
        kept = "kept" if not one.undone else "undone"
        for variant, lanes, threads, *ratio in one.speed.cells:
            median, least, most = (f"{value:.2f}" for value in ratio)
            speedup = f"{median} ({least} to {most})"
            rows.append([str(one.number), _cell(variant), str(lanes), str(threads), speedup, kept])
        if one.speed.trouble:
            rows.append([str(one.number), "", "", "", _cell(_short(one.speed.trouble)), kept])
    return _table(rows)


def _passing(check: Check | None) -> str:
    if check is None:
        return "not checked yet"
    if check.percent is None:
        return _cell(f"no tests: {_short(check.trouble or 'none ran')}")
    return f"{check.passed} of {check.passed + check.failed} ({_percent(check)})"


def _percent(check: Check) -> str:
    # Rounded down: 99.96 % are not all tests.
    return f"{int(10 * (check.percent or 0.0)) / 10:.1f} %"


def _happened(one: Try) -> str:
    events = ["undone"] if one.undone else []
    events += ["ended for its time"] if one.timed_out else []
    events += [f"{len(one.outside)} changes refused"] if one.outside else []
    events += [f"{one.leftovers} processes left behind"] if one.leftovers else []
    events += ["changed what is outside its folder"] if one.damage else []
    return ", ".join(events)


def _strayed(one: Try) -> list[str]:
    lines = []
    for what, names in (("refused", one.outside), ("outside its folder", one.damage)):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            listed = ", ".join(f"`{_cell(name)}`" for name in names[:_SHOWN])
            lines.append(f"- try {one.number}, {what}: {listed}{more}")
    return lines


def _checks(checks: Sequence[Check]) -> str:
    levels = sorted({level for check in checks for level in check.levels})
    heads = [level.replace("level", "level ") for level in levels]
    rows = [["after try", "check", *heads, "all tests", "seconds"]]
    for check in checks:
        rows.append(
            [
                str(check.after),
                _cell(check.stage),
                *(_outcomes(check, level) for level in levels),
                _cell(_counts(check)),
                f"{check.seconds:.1f}",
            ]
        )
    return _table(rows)


def _outcomes(check: Check, level: str) -> str:
    counts = check.levels.get(level, {})
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(counts.items()) if n)


def _time(seconds: float) -> str:
    """Return `45.2 s`, `12 min 3 s` or `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def _short(text: str) -> str:
    return text.partition("\n")[0][:200]


def _cell(text: str) -> str:
    """Escape text for a table's row: file names and compiler output may hold anything."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean.replace("\\", "\\\\").replace("|", "\\|")


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(table(rows, " --- "))
