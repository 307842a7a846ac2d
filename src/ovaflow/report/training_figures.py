"""How labels are solved: by Newton iteration, and by number of positives.

A figure takes its name on the page and runs: with curves of traced labels, or with training statistics.
"""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.report import bands
from ovaflow.report.drawing import figure, line, logarithmic, series, thousands
from ovaflow.report.traces import SMALLEST_GAP


@figure("Objective above the optimum by Newton iteration")
def objective(axes, runs):
    """Objective above the optimum by Newton iteration."""
    _paint_bands(axes, runs, "gap")
    _iterations(axes, runs, first=0)
    axes.set(yscale="log", ylabel="objective above the optimum")
    axes.set_ylim(bottom=SMALLEST_GAP / 2)
    logarithmic(axes.yaxis)


@figure("Line-search multiplier by Newton iteration")
def multiplier(axes, runs):
    """Multiplier found by the line search, by Newton iteration."""
    _paint_bands(axes, runs, "multiplier")
    _iterations(axes, runs)
    axes.set(ylabel="line-search multiplier", ylim=(0, 1.04))


@figure("Share of active instances by Newton iteration")
def active(axes, runs):
    """Share of the instances that each Newton iteration looks at."""
    _paint_bands(axes, runs, "active")
    _iterations(axes, runs)
    axes.set(yscale="log", ylabel="active instances")
    axes.set_ylim(top=1.3)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.yaxis.set_minor_formatter("")


@figure("Duration of Newton iterations")
def duration(axes, runs):
    """Processor time of each Newton iteration."""
    _paint_bands(axes, runs, "milliseconds")
    _iterations(axes, runs)
    _milliseconds(axes)


@figure("Newton steps of sampled labels by their training positives")
def traced_newton_by_positives(axes, runs):
    """Newton steps of the sampled labels by their training positives."""
    _paint_bands(axes, runs, "newton_by_positives")
    _newton_by_positives(axes)


@figure("Time of sampled labels by their training positives")
def traced_seconds_by_positives(axes, runs):
    """Time of the sampled labels by their training positives."""
    _paint_bands(axes, runs, "milliseconds_by_positives")
    _milliseconds_by_positives(axes)


@figure("Newton steps by training positives of the label")
def newton_by_positives(axes, runs):
    """Newton steps of a label by its training positives."""
    for run in runs:
        each = run.training
        _paint(axes, run, bands.by_positives(each.positives, each.newton_steps, np.mean))
    _newton_by_positives(axes)


@figure("Time of a label by its training positives")
def seconds_by_positives(axes, runs):
    """Time of a label by its training positives."""
    for run in runs:
        each = run.training
        _paint(axes, run, bands.by_positives(each.positives, 1000 * each.seconds))
    _milliseconds_by_positives(axes)


def _paint_bands(axes, runs, quantity):
    for run in runs:
        _paint(axes, run, getattr(run.details.curves, quantity))


def _paint(axes, run, band):
    axes.fill_between(band.x, band.low, band.high, color=series(run.series), alpha=0.13, linewidth=0)
    line(axes, run, band.x, band.middle, keep=False)
    axes.keep(run.name, x=band.x, y=band.middle, **{"5 %": band.low, "95 %": band.high})


def _iterations(axes, runs, first=1):
    last = max(run.details.curves.iterations for run in runs)
    axes.set(xlabel="Newton iteration", xlim=(first, max(last, first + 1)))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _newton_by_positives(axes):
    axes.set(xscale="log", xlabel="training positives of the label", ylabel="Newton steps")
    thousands(axes.xaxis)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _milliseconds_by_positives(axes):
    axes.set(xscale="log", xlabel="training positives of the label")
    thousands(axes.xaxis)
    _milliseconds(axes)


def _milliseconds(axes):
    axes.set(yscale="log", ylabel="ms")
    logarithmic(axes.yaxis)
