"""How figures are drawn: inline SVG, text stays text, colours are the page's CSS variables."""

import io
import math
import re
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ovaflow.report import wording
from ovaflow.report.tables import csv_link

WIDTH, HEIGHT = 5.2, 3.2  # inches; the page scales the figure to its column

NAMED = {"ink": "#000001", "muted": "#000002", "line": "#000003", "accent": "#000004"}
"""Stand-ins for the page's colours: in the SVG they become its CSS variables."""

MARKERS = "osD^vPXd"
"""Markers of runs, by number; the page's legends show the same ones."""

DASHED, DOTTED = (0, (5, 2)), (0, (1.5, 1.5))

QUANTILES = 0.05, 0.95
"""Ends of a band, as in the figures of the MSI paper."""

FEWEST = 3
"""Labels without which nothing is drawn."""

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SERIES = [f"#0001{number:02x}" for number in range(8)]
_VARIABLES = {colour: f"var(--{name})" for name, colour in NAMED.items()}
_VARIABLES |= {colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)}

_STYLE = {
    "svg.fonttype": "none",
    "font.size": 10.5,
    "text.parse_math": False,
    "text.color": NAMED["ink"],
    "axes.edgecolor": NAMED["muted"],
    "axes.labelcolor": NAMED["muted"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": NAMED["line"],
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
}
_STYLE |= {f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")}
_STYLE |= {f"{axis}tick.color": NAMED["muted"] for axis in "xy"}


@dataclass(frozen=True)
class Drawing:
    """A figure with its caption and the figures behind it."""

    name: str  # its id on the page
    title: str
    caption: str
    svg: Markup
    columns: list
    rows: list

    @property
    def csv(self):
        """Link to the figures behind it, as a CSV file."""
        return csv_link(self.columns, self.rows)


class Plot(Axes):
    """Axes that also keep the figures behind what they show."""

    name = "ovaflow"

    def __init__(self, *args, **kwargs):
        self.kept = []
        super().__init__(*args, **kwargs)

    def keep(self, series, **columns):
        """Keep the figures behind a line, all of one length; ``x`` and ``y`` are named as the axes are in the end."""
        names = [column.replace("_", " ") for column in columns]
        for values in zip(*columns.values(), strict=True):
            self.kept.append({"series": wording.plain(series)} | dict(zip(names, values, strict=True)))


def draw(name, title, caption, paint):
    """Draw a figure; ``paint`` draws into a :class:`Plot` and has it keep the figures."""
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}):
        canvas = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = canvas.add_subplot(axes_class=Plot)
        paint(axes)
        for axis, set_scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
            # without a positive number a logarithmic axis cannot be drawn
            if axis.get_scale() == "log" and not np.isfinite(axis.get_minpos()):
                set_scale("linear")
        written = io.StringIO()
        canvas.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    columns = list(dict.fromkeys(column for row in axes.kept for column in row))
    rows = [[row.get(column) for column in columns] for row in axes.kept]
    titles = {"x": axes.get_xlabel(), "y": axes.get_ylabel()}
    label = escape(_in_words(title, axes))
    svg = _inline(written.getvalue()).replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return Drawing(name, title, caption, Markup(svg), [titles.get(column, column) for column in columns], rows)


def draw_all(anchor, runs, figures):
    """Draw figures of runs, each given as key, title, caption, and what paints the runs into axes."""
    return [
        draw(f"{anchor}.{key}", title, caption, partial(paint, runs=runs)) for key, title, caption, paint in figures
    ]


def _in_words(title, axes):
    """A figure for those who do not see it."""
    series = list(dict.fromkeys(row["series"] for row in axes.kept))
    shown = f"{', '.join(series[:8])}{' and others' if len(series) > 8 else ''}"
    return f"{title}. {axes.get_ylabel()} against {axes.get_xlabel()}" + (f": {shown}." if shown else ".")


def _inline(svg):
    """An SVG file as an element of an HTML page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"| version="1.1"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg))
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    return re.sub("|".join(_VARIABLES), lambda match: _VARIABLES[match[0]], svg)


def series(number):
    """Colour of a run."""
    return _SERIES[number % len(_SERIES)]


def line(axes, run, x, y, name=None, keep=True, **style):
    """Draw a run's line in its colour with its markers, and keep the figures behind it unless the caller does."""
    x, y = list(x), list(y)
    # where lines coincide, markers of earlier runs show behind those of later ones
    size = max(4.0, 6.5 - 0.9 * run.series)
    marked = {"marker": MARKERS[run.series % len(MARKERS)], "markersize": size, "markevery": max(1, len(x) // 8)}
    axes.plot(x, y, **{"color": series(run.series), "linewidth": 1.5} | marked | style)
    if keep:
        axes.keep(name or run.name, x=x, y=y)


def side_by_side(n_runs, step):
    """Shifts for runs that have the same figures: multiples of ``step`` around 0, shape (n_runs,)."""
    return step * (np.arange(n_runs) - (n_runs - 1) / 2)


def thousands(axis):
    """Write an axis' numbers in full, thousands separated."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.set_minor_formatter(NullFormatter())


def values_axis(axes, name, values):
    """Make the x axis logarithmic, with a tick at each of the values."""
    axes.set(xscale="log", xlabel=name, xticks=values)
    axes.set_xticklabels([f"{value:g}" for value in values])
    axes.xaxis.set_minor_formatter(NullFormatter())


def logarithmic(axis):
    """Label a logarithmic axis that has its final limits: powers of ten, 2 and 5 times these, or even steps."""
    low, high = axis.get_view_interval()
    powers = LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=10)
    axis.set_major_locator(powers if high > 5 * low else MaxNLocator(5))
    axis.set_major_formatter(plain_logarithm)
    axis.set_minor_formatter(NullFormatter())


def plain_logarithm(value, _=None):
    """Number at a tick: ``0.01``, ``1,000``, or ``10⁻⁶`` where zeros would be many."""
    if value >= 1:
        return f"{value:,.10g}"
    return f"{value:g}" if value >= 1e-3 else f"10⁻{str(-round(math.log10(value))).translate(_RAISED)}"


class Band(NamedTuple):
    """A quantity over labels at several places x: median or mean, and the quantiles around it."""

    x: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray


def band(x, groups, middle=np.median):
    """Sum up a group of values at each place; groups of too few values are left out."""
    known = [(place, values) for place, values in zip(x, groups, strict=True) if len(values) >= FEWEST]
    rows = [(place, middle(values), *np.quantile(values, QUANTILES)) for place, values in known]
    return Band(*np.array(rows, np.float64).reshape(-1, 4).T)


def by_positives(positives, values, middle=np.median, bins_per_decade=5):
    """Sum up values of labels with similar numbers of positives, at the geometric mean of these."""
    bins = np.floor(bins_per_decade * np.log10(np.maximum(positives, 1)) + 1e-9).astype(np.int64)
    members = [np.flatnonzero(bins == number) for number in np.unique(bins)]
    places = [float(np.exp(np.log(positives[group]).mean())) for group in members]
    return band(places, [values[group] for group in members], middle)


def paint_bands(band_of, finish, axes, runs):
    """Draw a band of each run, then let ``finish`` set up the axes."""
    for run in runs:
        x, middle, low, high = band_of(run)
        axes.fill_between(x, low, high, color=series(run.series), alpha=0.13, linewidth=0)
        line(axes, run, x, middle, keep=False)
        axes.keep(run.name, x=x, y=middle, **{"5 %": low, "95 %": high})
    finish(axes, runs)
