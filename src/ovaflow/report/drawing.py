"""How figures are drawn: inline SVG, text stays text, colours are the page's CSS variables."""

import functools
import io
import math
import re

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

WIDTH, HEIGHT = 5.4, 3.3
"""Inches; the page scales the figure to its column."""

NAMED = {"ink": "#000001", "muted": "#000002", "line": "#000003", "accent": "#000004"}
"""Stand-ins for the page's colours: in the SVG they become its CSS variables."""

MARKERS = "osD^vPXd"
"""Markers of runs, by number."""

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
    "xtick.color": NAMED["muted"],
    "ytick.color": NAMED["muted"],
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
}


def figure(title):
    """Make a figure of what paints runs into axes.

    Parameters
    ----------
    title : str
        What it shows, for those who do not see it.

    Returns
    -------
    callable
        Decorator of ``paint(axes, runs)``; what it makes takes ``(name, runs)``,
        see :func:`draw`.
    """

    def decorate(paint):
        @functools.wraps(paint)
        def drawn(name, runs):
            return draw(name, title, lambda axes: paint(axes, runs))

        return drawn

    return decorate


def draw(name, title, paint):
    """Draw a figure.

    Parameters
    ----------
    name : str
        Unique on the page; makes the figure's ids unlike those of others.
    title : str
        What it shows, for those who do not see it.
    paint : callable
        Draws into the axes that it is given.

    Returns
    -------
    Markup
        The same for the same arguments.
    """
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}):
        canvas = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        paint(canvas.add_subplot())
        written = io.StringIO()
        canvas.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return Markup(_inline(written.getvalue()).replace("<svg", f'<svg role="img" aria-label="{title}"', 1))


def _inline(svg):
    """Bring an SVG file into a form that can stand inside an HTML page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"| version="1.1"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg))
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    return re.sub("|".join(_VARIABLES), lambda match: _VARIABLES[match[0]], svg)


def series(number):
    """Colour of a run.

    Parameters
    ----------
    number : int

    Returns
    -------
    str
    """
    return _SERIES[number % len(_SERIES)]


def thousands(axis):
    """Write an axis' numbers in full, thousands separated.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
    """
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.set_minor_formatter(NullFormatter())


def logarithmic(axis):
    """Label a logarithmic axis: powers of ten, and 2 and 5 times these where they are few.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        With the limits that it will have.
    """
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=10))
    axis.set_major_formatter(plain_logarithm)
    axis.set_minor_formatter(NullFormatter())


def plain_logarithm(value, _=None):
    """Number at a tick of a logarithmic axis.

    Parameters
    ----------
    value : float

    Returns
    -------
    str
        Such as ``"0.01"``, ``"1,000"``, or ``"10⁻⁶"`` where zeros would be many.
    """
    if value >= 1:
        return f"{value:,.0f}"
    return f"{value:g}" if value >= 1e-3 else f"10⁻{str(-round(math.log10(value))).translate(_RAISED)}"
