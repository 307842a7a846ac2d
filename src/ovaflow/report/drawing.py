"""Figures: inline SVG whose texts stay texts and whose colours are the page's CSS variables."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import matplotlib
import matplotlib.axis
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Locator, LogLocator, MaxNLocator, NullFormatter

from ovaflow.report import wording
from ovaflow.report.tables import make_csv_link

if TYPE_CHECKING:
    from ovaflow.results.run import Run

# size of a figure in inches; the page scales it to its column
WIDTH = 5.2
HEIGHT = 3.2

PAGE_COLOURS = {"ink": "#000001", "muted": "#000002", "line": "#000003", "accent": "#000004"}
"""Placeholders of the page's colours: in the SVG they become its CSS variables."""

MARKERS = "osD^vPXd"  # markers of runs, by number; the page's legends show the same
DASHED = (0, (5, 2))  # a style of lines, as Matplotlib has it

_MAX_DESCRIBED_SERIES = 8  # names of lines in the description of a figure

_SUPERSCRIPT_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SERIES_COLOURS = [f"#0001{number:02x}" for number in range(8)]


def _make_variables() -> dict[str, str]:
    """Return the CSS variable of each placeholder of a colour."""
    variables = {}
    for name, colour in PAGE_COLOURS.items():
        variables[colour] = f"var(--{name})"
    for number, colour in enumerate(_SERIES_COLOURS):
        variables[colour] = f"var(--series-{number})"
    return variables


_VARIABLES = _make_variables()

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 10.5,
    "text.parse_math": False,
    "text.color": PAGE_COLOURS["ink"],
    "axes.edgecolor": PAGE_COLOURS["muted"],
    "axes.labelcolor": PAGE_COLOURS["muted"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PAGE_COLOURS["line"],
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "xtick.color": PAGE_COLOURS["muted"],
    "ytick.color": PAGE_COLOURS["muted"],
}


@dataclass(frozen=True)
class Drawing:
    """A figure on the page."""

    name: str  # its id on the page
    title: str
    caption: str
    svg: Markup
    columns: list[str]  # names of the columns of the CSV file
    rows: list[list]  # numbers behind the drawing

    @property
    def csv(self) -> str:
        """Link to the numbers behind the drawing as a CSV file."""
        return make_csv_link(self.columns, self.rows)


class FigureOfRuns(NamedTuple):
    """A figure that is drawn of several runs."""

    key: str  # end of its id on the page
    title: str
    caption: str
    paint: Callable[[RecordingAxes, Sequence[Run]], None]  # draws into the axes


class RecordingAxes(Axes):
    """Axes that also record the numbers behind what they show."""

    name = "ovaflow"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.recorded: list[dict[str, Any]] = []
        super().__init__(*args, **kwargs)

    def curve(
        self, series: str, x: Iterable, y: Iterable, drawn_at: Any = None, **style: Any
    ) -> None:
        """Draw a line and record the numbers behind it.

        Parameters
        ----------
        series : str
            Name of the line.
        x, y : iterable
            The numbers.
        drawn_at : sequence of float, optional
            Positions at which the line is drawn; by default ``x``.
        **style
            Options of :meth:`matplotlib.axes.Axes.plot`.
        """
        x = list(x)
        y = list(y)
        if drawn_at is None:
            drawn_at = x
        self.plot(drawn_at, y, **style)
        self.record(series, x=x, y=y)

    def record(self, series: str, **columns: Iterable) -> None:
        """Record the numbers behind a line; ``x`` and ``y`` take the names of the axes."""
        names = [column.replace("_", " ") for column in columns]
        for values in zip(*columns.values(), strict=True):
            row = {"series": wording.plain(series)}
            row.update(zip(names, values, strict=True))
            self.recorded.append(row)


def draw_figure(
    name: str, title: str, caption: str, paint: Callable[..., None], *content: Any
) -> Drawing:
    """Draw a figure.

    Parameters
    ----------
    name : str
        Id of the figure on the page.
    title, caption : str
        Texts above and below the figure.
    paint : callable
        ``paint(axes, *content)`` draws into a :class:`RecordingAxes`.
    """
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}):
        canvas = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = cast(RecordingAxes, canvas.add_subplot(axes_class=RecordingAxes))
        paint(axes, *content)
        file = io.StringIO()
        canvas.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    columns: dict[str, None] = {}
    for row in axes.recorded:
        columns |= dict.fromkeys(row)
    rows = []
    for row in axes.recorded:
        rows.append([row.get(column) for column in columns])
    titles = {"x": axes.get_xlabel(), "y": axes.get_ylabel()}
    headings = [titles.get(column, column) for column in columns]
    label = escape(_describe(title, axes))
    svg = _make_inline(file.getvalue())
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return Drawing(name, title, caption, Markup(svg), headings, rows)


def draw_figures(
    anchor: str, runs: Sequence[Run], figures: Sequence[FigureOfRuns]
) -> list[Drawing]:
    """Draw each figure of the runs; an empty list without runs."""
    drawings = []
    if runs:
        for figure in figures:
            name = f"{anchor}.{figure.key}"
            drawings.append(draw_figure(name, figure.title, figure.caption, figure.paint, runs))
    return drawings


def _describe(title: str, axes: RecordingAxes) -> str:
    """Describe a figure in a sentence for screen readers."""
    sentence = f"{title}. {axes.get_ylabel()} against {axes.get_xlabel()}"
    names = list(dict.fromkeys(row["series"] for row in axes.recorded))
    if names:
        sentence += f": {', '.join(names[:_MAX_DESCRIBED_SERIES])}"
    if len(names) > _MAX_DESCRIBED_SERIES:
        sentence += " and others"
    return f"{sentence}."


def _make_inline(svg: str) -> str:
    """Convert an SVG file to an element of an HTML page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"| version="1.1"', "", svg)
    for size in ("height", "width"):
        svg = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", svg)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    return re.sub("|".join(_VARIABLES), lambda match: _VARIABLES[match[0]], svg)


def get_series_colour(number: int) -> str:
    """Return the colour of the run with a number."""
    return _SERIES_COLOURS[number % len(_SERIES_COLOURS)]


def draw_line(
    axes: RecordingAxes,
    run: Run,
    x: Iterable,
    y: Iterable,
    name: str | None = None,
    **style: Any,
) -> None:
    """Draw a line of a run in the run's colour, under ``name`` or that of the run."""
    x = list(x)
    # figures show only runs with a number
    assert run.series is not None
    defaults = {
        "color": get_series_colour(run.series),
        "linewidth": 1.5,
        "marker": MARKERS[run.series % len(MARKERS)],
        # where lines coincide, the larger markers of earlier runs show behind those of later ones
        "markersize": max(4.0, 6.5 - 0.9 * run.series),
        "markevery": max(1, len(x) // 8),
    }
    axes.curve(name or run.name, x, y, **defaults | style)


def spread_runs(n_runs: int, step: float) -> np.ndarray:
    """Shift runs that have the same numbers by multiples of ``step`` around 0, shape (n_runs,)."""
    return step * (np.arange(n_runs) - (n_runs - 1) / 2)


def label_logarithmic_axis(axis: matplotlib.axis.Axis) -> None:
    """Label a logarithmic axis by its limits: powers of ten, 2 and 5 times these, or even steps."""
    low, high = axis.get_view_interval()
    locator: Locator
    if high > 5 * low:
        multiples = (1, 2, 5) if high < 100 * low else (1,)
        locator = LogLocator(subs=multiples, numticks=10)
    else:
        locator = MaxNLocator(5)
    axis.set_major_locator(locator)
    axis.set_major_formatter(format_logarithmic_tick)
    axis.set_minor_formatter(NullFormatter())


def format_logarithmic_tick(value: float, position: float | None = None) -> str:
    """Format the number at a tick: ``0.01``, ``1,000``, or ``10⁻⁶`` instead of many zeros."""
    if value >= 1:
        return f"{value:,.10g}"
    if value >= 1e-3:
        return f"{value:g}"
    exponent = str(-round(math.log10(value)))
    return f"10⁻{exponent.translate(_SUPERSCRIPT_DIGITS)}"
