"""How figures are drawn: inline SVG, text stays text, colours are the page's CSS variables."""

import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from ovaflow.report import wording
from ovaflow.report.tables import make_csv_link

WIDTH, HEIGHT = 5.2, 3.2  # inches; the page scales the figure to its column

PAGE_COLOURS = {"ink": "#000001", "muted": "#000002", "line": "#000003", "accent": "#000004"}
"""Stand-ins for the page's colours: in the SVG they become its CSS variables."""

MARKERS = "osD^vPXd"  # markers of runs, by number; the page's legends show the same
DASHED = (0, (5, 2))

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SERIES = [f"#0001{number:02x}" for number in range(8)]
_VARIABLES = {colour: f"var(--{name})" for name, colour in PAGE_COLOURS.items()}
_VARIABLES |= {colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)}

_STYLE = {
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
}
_STYLE |= {f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")}
_STYLE |= {f"{axis}tick.color": PAGE_COLOURS["muted"] for axis in "xy"}


@dataclass(frozen=True)
class Drawing:
    name: str  # its id on the page
    title: str
    caption: str
    svg: Markup
    columns: list
    rows: list

    @property
    def csv(self):
        return make_csv_link(self.columns, self.rows)


class FigureOfRuns(NamedTuple):
    key: str  # ends its id on the page
    title: str
    caption: str
    paint: Callable  # draws into axes, given these and the runs


class RecordingAxes(Axes):
    """Axes that also keep the figures behind what they show."""

    name = "ovaflow"

    def __init__(self, *args, **kwargs) -> None:
        self.kept = []
        super().__init__(*args, **kwargs)

    def curve(self, series, x, y, drawn_at=None, **style) -> None:
        """Draw a line, by default at ``x``, and keep the figures behind it."""
        x = list(x)
        y = list(y)
        self.plot(x if drawn_at is None else drawn_at, y, **style)
        self.keep(series, x=x, y=y)

    def keep(self, series, **columns) -> None:
        """Keep the figures behind a line; ``x`` and ``y`` take the names of the axes."""
        names = [column.replace("_", " ") for column in columns]
        for values in zip(*columns.values(), strict=True):
            self.kept.append(
                {"series": wording.plain(series)} | dict(zip(names, values, strict=True))
            )


def draw_figure(name, title, caption, paint, *content):
    """Draw a figure: ``paint(axes, *content)`` draws into a :class:`Plot`."""
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}):
        canvas = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = canvas.add_subplot(axes_class=RecordingAxes)
        paint(axes, *content)
        file = io.StringIO()
        canvas.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    columns = list(dict.fromkeys(column for row in axes.kept for column in row))
    rows = [list(map(row.get, columns)) for row in axes.kept]
    titles = {"x": axes.get_xlabel(), "y": axes.get_ylabel()}
    headings = [titles.get(column, column) for column in columns]
    label = escape(_description(title, axes))
    svg = _inline(file.getvalue()).replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return Drawing(name, title, caption, Markup(svg), headings, rows)


def draw_figures(anchor, runs, figures):
    """Draw each :class:`FigureOfRuns`; none where there are no runs."""
    return [draw_figure(f"{anchor}.{key}", *figure, runs) for key, *figure in figures if runs]


def _description(title, axes):
    sentence = f"{title}. {axes.get_ylabel()} against {axes.get_xlabel()}"
    names = list(dict.fromkeys(row["series"] for row in axes.kept))
    if names:
        sentence += f": {', '.join(names[:8])}"
    if len(names) > 8:
        sentence += " and others"
    return f"{sentence}."


def _inline(svg):
    """An SVG file as an element of an HTML page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"| version="1.1"', "", svg)
    svg = re.sub(
        r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg)
    )
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    return re.sub("|".join(_VARIABLES), lambda match: _VARIABLES[match[0]], svg)


def get_series_colour(number):
    return _SERIES[number % len(_SERIES)]


def draw_line(axes, run, x, y, name=None, **style) -> None:
    """Draw a run's line in its colour."""
    x = list(x)
    # where lines coincide, the markers of earlier runs are larger and show behind later ones
    size = max(4.0, 6.5 - 0.9 * run.series)
    marked = {
        "marker": MARKERS[run.series % len(MARKERS)],
        "markersize": size,
        "markevery": max(1, len(x) // 8),
    }
    axes.curve(
        name or run.name,
        x,
        y,
        **{"color": get_series_colour(run.series), "linewidth": 1.5} | marked | style,
    )


def spread_runs(n_runs, step):
    """Shifts for runs that have the same figures: multiples of ``step`` around 0, shape (n_runs,)."""
    return step * (np.arange(n_runs) - (n_runs - 1) / 2)


def label_logarithmic_axis(axis) -> None:
    """Label a logarithmic axis by its limits: powers of ten, 2 and 5 times these, or even steps."""
    low, high = axis.get_view_interval()
    multiples = (1, 2, 5) if high < 100 * low else (1,)
    locator = LogLocator(subs=multiples, numticks=10) if high > 5 * low else MaxNLocator(5)
    axis.set_major_locator(locator)
    axis.set_major_formatter(format_logarithmic_tick)
    axis.set_minor_formatter(NullFormatter())


def format_logarithmic_tick(value, _=None):
    """Number at a tick: ``0.01``, ``1,000``, or ``10⁻⁶`` instead of many zeros."""
    if value >= 1:
        return f"{value:,.10g}"
    if value >= 1e-3:
        return f"{value:g}"
    exponent = str(-round(math.log10(value)))
    return f"10⁻{exponent.translate(_RAISED)}"
