"""The plot of a run: passing tests over tries. Needs matplotlib, the extra `report`."""

from __future__ import annotations

import io
import math

from twinstep.repair.history import Check, Record, cost
from twinstep.repair.history_markdown import phase

#: Colour, mark and size of each phase: distinct without colours, too, and when overlapping.
_LOOKS = {
    1: ("#0072b2", "o", 11.0),
    2: ("#009e73", "s", 8.0),
    3: ("#e69f00", "^", 6.5),
    4: ("#cc79a7", "D", 4.0),
}
_OTHER = ("#555555", "P", 6.0)
_UNDONE, _COST = "#d00000", "#7a5195"
_SIZE, _DOTS = (8.0, 4.5), 110


def png(record: Record) -> bytes:
    """Return the plot; ImportError without matplotlib.

    Every check is a point above the number of tries before it, so that the findings of wider checks
    show, too. Checks of undone tries are off the line. The cost is drawn if it is known.
    """
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    # The user's own settings would change the bytes.
    with matplotlib.style.context("default"):
        figure = Figure(figsize=_SIZE, dpi=_DOTS, layout="constrained")
        axes = figure.subplots()
        on_line, undone, silent = series(record)
        axes.plot(*_points(on_line), color="#bbbbbb", linewidth=1.2, zorder=1)
        for number in sorted({check.phase for check in on_line}):
            color, mark, size = _LOOKS.get(number, _OTHER)
            mine = _points([check for check in on_line if check.phase == number])
            label = f"phase {phase(number)}"
            axes.plot(*mine, mark, color=color, markersize=size, label=label)
        if undone:
            axes.plot(*_points(undone), "X", color=_UNDONE, markersize=9, label="undone")
        if silent:
            axes.plot(*_points(silent), "v", color=_UNDONE, fillstyle="none", label="no tests ran")
        axes.set_xlabel("tries")
        axes.set_ylabel("tests passing (%)")
        axes.set_ylim(-4, 104)
        axes.set_xlim(-0.4, max(1, len(record.tries)) + 0.4)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", alpha=0.3)
        axes.set_title(record.name, fontsize="medium")
        if spent := spending(record):
            right = axes.twinx()
            right.step(range(len(spent)), spent, where="post", color=_COST, linestyle=":")
            right.set_ylabel("cost (dollars), dotted", color=_COST)
            most = max(spent[-1], 0.01)
            right.set_ylim(-0.04 * most, 1.04 * most)
        if on_line or undone or silent:
            figure.legend(loc="outside lower center", ncols=6, fontsize="small", frameon=False)
        file = io.BytesIO()
        FigureCanvasAgg(figure).print_png(file, metadata={"Software": None})
    return file.getvalue()


def series(record: Record) -> tuple[list[Check], list[Check], list[Check]]:
    """Return the checks on the line, those of undone tries, and void ones.

    A check can be both of the latter: a try that does not even build is undone.
    """
    undone = [one.check for one in record.tries if one.undone and one.check]
    silent = [check for check in record.checks if check.percent is None]
    # By identity: two checks of the same commit may be equal.
    off = {id(check) for check in (*undone, *silent)}
    return [check for check in record.checks if id(check) not in off], undone, silent


def spending(record: Record) -> list[float]:
    """Return the dollars spent after 0, 1, ... tries; [] if a try's cost is unknown."""
    if not record.tries or not cost(record.tries)[1]:
        return []
    costs = [one.cost or 0.0 for one in record.tries]
    return [math.fsum(costs[:n]) for n in range(len(costs) + 1)]


def _points(checks: list[Check]) -> tuple[list[int], list[float]]:
    return [check.after for check in checks], [check.percent or 0.0 for check in checks]
