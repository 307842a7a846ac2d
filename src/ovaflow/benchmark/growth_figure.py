"""The figure of a growth measurement."""

import io
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from ovaflow.console.errors import InputError
from ovaflow.storage.artifact import write_text

STYLES = {"fast": {"color": "#1f5fa8", "marker": "o"}, "plain": {"color": "#8a8a8a", "marker": "s"}}
TITLES = {"n": "training instances", "d": "features (the most frequent)"}


def write_growth_figure(path, growth):
    """Draw CPU time a label over instances and over features, all axes logarithmic.

    Parameters
    ----------
    path : pathlib.Path
        Ends in .svg or .png.
    growth : dict
        See :func:`ovaflow.benchmark.growth.measure_growth`.

    Raises
    ------
    InputError
        If the path has another ending.
    """
    canvas = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = canvas.subplots(1, 2, sharey=True)
    _draw(left, growth, "n")
    _draw(right, growth, "d")
    left.set_ylabel("CPU time a label in ms")
    if path.suffix == ".png":
        canvas.savefig(path, format="png", dpi=160)
    else:
        written = io.StringIO()
        canvas.savefig(written, format="svg", metadata={"Date": None})
        write_text(path, written.getvalue())


def check_figure_path(path):
    """Refuse a path that names neither an SVG nor a PNG file, before anything is measured.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    InputError
    """
    if Path(path).suffix not in (".svg", ".png"):
        raise InputError("unknown kind of figure", path=path, remedy="end its name in .svg or .png")


def _draw(axes, growth, axis):
    for fit in (fit for fit in growth["fits"] if fit["axis"] == axis):
        points = [p for p in growth["points"] if (p["axis"], p["solver"]) == (axis, fit["solver"])]
        sizes, times = [p["size"] for p in points], [p["cpu_ms_per_label"] for p in points]
        axes.plot(sizes, times, label=f"{fit['solver']}: {axis}^{fit['exponent']:.2f}", **STYLES[fit["solver"]])
    axes.set(xscale="log", yscale="log", xlabel=TITLES[axis], xticks=sizes)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(StrMethodFormatter("{x:g}"))
    axes.grid(which="major", color="#dddddd")
    axes.set_axisbelow(True)
    axes.legend(frameon=False)
