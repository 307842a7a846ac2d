"""How labels are solved: by Newton iteration, and by number of positives."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.report import bands
from ovaflow.report.drawing import draw, logarithmic, series, thousands
from ovaflow.report.traces import SMALLEST_GAP


def objective(name, runs):
    """Objective above the optimum by Newton iteration.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With curves.

    Returns
    -------
    Markup
    """

    def paint(axes):
        _paint_bands(axes, runs, "gap")
        _iterations(axes, runs, first=0)
        axes.set(yscale="log", ylabel="objective above the optimum")
        axes.set_ylim(bottom=SMALLEST_GAP / 2)
        logarithmic(axes.yaxis)

    return draw(name, "Objective above the optimum by Newton iteration", paint)


def multiplier(name, runs):
    """Multiplier found by the line search, by Newton iteration.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With curves.

    Returns
    -------
    Markup
    """

    def paint(axes):
        _paint_bands(axes, runs, "multiplier")
        _iterations(axes, runs)
        axes.set(ylabel="line-search multiplier", ylim=(0, 1.04))

    return draw(name, "Line-search multiplier by Newton iteration", paint)


def active(name, runs):
    """Share of the instances that each Newton iteration looks at.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With curves.

    Returns
    -------
    Markup
    """

    def paint(axes):
        _paint_bands(axes, runs, "active")
        _iterations(axes, runs)
        axes.set(yscale="log", ylabel="active instances")
        axes.set_ylim(top=1.3)
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.yaxis.set_minor_formatter("")

    return draw(name, "Share of active instances by Newton iteration", paint)


def duration(name, runs):
    """Wall time of each Newton iteration.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With curves.

    Returns
    -------
    Markup
    """

    def paint(axes):
        _paint_bands(axes, runs, "milliseconds")
        _iterations(axes, runs)
        _milliseconds(axes)

    return draw(name, "Duration of Newton iterations", paint)


def traced_newton_by_positives(name, runs):
    """Newton steps of the sampled labels by their training positives.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With curves.

    Returns
    -------
    Markup
    """

    def paint(axes):
        _paint_bands(axes, runs, "newton_by_positives")
        _newton_by_positives(axes)

    return draw(name, "Newton steps of sampled labels by their training positives", paint)


def traced_seconds_by_positives(name, runs):
    """Time of the sampled labels by their training positives.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With curves.

    Returns
    -------
    Markup
    """

    def paint(axes):
        _paint_bands(axes, runs, "milliseconds_by_positives")
        _milliseconds_by_positives(axes)

    return draw(name, "Time of sampled labels by their training positives", paint)


def newton_by_positives(name, runs):
    """Newton steps of a label by its training positives.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With training statistics.

    Returns
    -------
    Markup
    """

    def paint(axes):
        for run in runs:
            each = run.training
            _paint(axes, run, bands.by_positives(each.positives, each.newton_steps, np.mean))
        _newton_by_positives(axes)

    return draw(name, "Newton steps by training positives of the label", paint)


def seconds_by_positives(name, runs):
    """Time of a label by its training positives.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With training statistics.

    Returns
    -------
    Markup
    """

    def paint(axes):
        for run in runs:
            each = run.training
            _paint(axes, run, bands.by_positives(each.positives, 1000 * each.seconds))
        _milliseconds_by_positives(axes)

    return draw(name, "Time of a label by its training positives", paint)


def _paint_bands(axes, runs, quantity):
    for run in runs:
        _paint(axes, run, getattr(run.details.curves, quantity))


def _paint(axes, run, band):
    axes.fill_between(band.x, band.low, band.high, color=series(run.series), alpha=0.13, linewidth=0)
    axes.plot(band.x, band.middle, color=series(run.series), marker="o" if len(band.x) < 2 else None)


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
