"""The figure of ``ovaflow benchmark growth --json > growth.json``: ``draw_growth.py growth.json growth.svg``."""

import json
import sys
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

STYLES = {"fast": {"color": "#1f5fa8", "marker": "o"}, "plain": {"color": "#8a8a8a", "marker": "s"}}
TITLES = {"n": "training instances", "d": "features (the most frequent)"}


def write_figure(growth, path):
    """Draw CPU time of a label over instances and over features, all axes logarithmic; any format of matplotlib's."""
    canvas = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = canvas.subplots(1, 2, sharey=True)
    _draw(left, growth, "n")
    _draw(right, growth, "d")
    left.set_ylabel("CPU time of a label in ms")
    canvas.savefig(path, dpi=160)


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


if __name__ == "__main__":
    write_figure(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2])
