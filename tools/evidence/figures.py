"""The reproducible pictures of the evidence. Needs matplotlib, the extra `report`."""

from __future__ import annotations

import io
from typing import Any

from tools.evidence.section import Bars, Lines, Picture, Stacks
from twinstep.errors import UserError

#: Colours that are distinct with colour blindness.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_MARKS = ("o", "s", "^", "D", "v", "P")
_OTHER = "#777777"
_DOTS, _WIDE, _ROW = 110, 7.5, 0.28


def require() -> None:
    """UserError if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UserError(
            "matplotlib is missing, which draws the pictures: `pip install 'twinstep[report]'`"
        ) from error


def png(picture: Picture) -> bytes:
    """Return a picture's bytes."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # The user's own settings would change the bytes.
    with matplotlib.style.context("default"):
        count = len(picture.panels)
        tall = max(map(_height, picture.panels))
        figure = Figure(figsize=(_WIDE * min(count, 2), tall * -(-count // 2)), dpi=_DOTS,
                      layout="constrained")  # fmt: skip
        axes = figure.subplots(-(-count // 2), min(count, 2), squeeze=False).flat
        for each, panel in zip(axes, picture.panels, strict=False):
            _draw(each, panel)
        for each in list(axes)[count:]:
            each.set_axis_off()
        file = io.BytesIO()
        FigureCanvasAgg(figure).print_png(file, metadata={"Software": None})
    return file.getvalue()


def _height(panel: Bars | Stacks | Lines) -> float:
    return 4.0 if isinstance(panel, Lines) else 1.6 + _ROW * len(panel.labels)


def _draw(axes: Any, panel: Bars | Stacks | Lines) -> None:
    axes.set_title(panel.title, fontsize="medium")
    if isinstance(panel, Lines):
        _lines(axes, panel)
        return
    if isinstance(panel, Bars):
        _bars(axes, panel)
    else:
        _stacks(axes, panel)
    axes.set_yticks(range(len(panel.labels)), panel.labels, fontsize="small")
    axes.set_ylim(len(panel.labels) - 0.4, -0.6)  # the first on top
    axes.set_xlabel(panel.axis)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def _bars(axes: Any, panel: Bars) -> None:
    kinds = list(dict.fromkeys(panel.colors))
    for number, kind in enumerate(kinds):
        mine = [i for i, color in enumerate(panel.colors) if color == kind]
        middle = [panel.values[i][0] for i in mine]
        # Error bars reach from the least to the greatest value.
        low = [max(0.0, panel.values[i][0] - panel.values[i][1]) for i in mine]
        high = [max(0.0, panel.values[i][2] - panel.values[i][0]) for i in mine]
        axes.errorbar(middle, mine, xerr=[low, high], linestyle="none", label=kind,
                      marker=_MARKS[number % 6], color=_COLORS[number % 6],
                      capsize=3)  # fmt: skip
    if panel.log:
        axes.set_xscale("log")
        axes.axvline(1, color=_OTHER, linewidth=1)
    if len(kinds) > 1:
        _legend_beside(axes)


def _stacks(axes: Any, panel: Stacks) -> None:
    places = list(range(len(panel.labels)))
    done = [0.0] * len(places)
    for number, (name, sizes) in enumerate(panel.parts):
        axes.barh(places, sizes, left=done, color=_COLORS[number % 6], label=name)
        done = [a + b for a, b in zip(done, sizes, strict=True)]
    axes.set_xlim(0, max(100.0, *done) * 1.02 if done else 100.0)
    _legend_beside(axes)


def _legend_beside(axes: Any) -> None:
    """Draw the legend beside the axes: bars leave no corner free."""
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False)


def _lines(axes: Any, panel: Lines) -> None:
    for number, line in enumerate(panel.lines):
        color = _COLORS[number % 6]
        few = len(line.x) <= 20
        axes.plot(line.x, line.y, color=color, label=line.label, marker="o" if few else None)
        axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.2, linewidth=0)
    for name, value in panel.levels:
        axes.axhline(value, color=_OTHER, linestyle=":", linewidth=1)
        axes.annotate(name, (0.0, value), xycoords=("axes fraction", "data"), fontsize="small",
                      xytext=(2, 2), textcoords="offset points", color=_OTHER)  # fmt: skip
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    axes.grid(alpha=0.3)
    if panel.lines:
        axes.legend(fontsize="small")
