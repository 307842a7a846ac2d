"""Figures of a dataset and of how its labels were solved."""

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ovaflow.report import training
from ovaflow.report.drawing import NAMED, draw, line, series, thousands

MOST_STEPS = 40
"""Labels with more Newton steps are drawn together."""


def rank_frequency(name, counts, law=None):
    """Training positives of the labels by rank, both axes logarithmic.

    Parameters
    ----------
    name : str
        Unique on the page.
    counts : ndarray of int, shape (l,)
    law : PowerLaw, optional

    Returns
    -------
    Drawing
    """
    ranked = np.sort(counts[counts > 0])[::-1]
    changes = np.flatnonzero(np.diff(ranked, prepend=-1, append=-1))
    corners = np.union1d(changes[:-1], changes[1:] - 1)

    def paint(axes):
        axes.set(xscale="log", yscale="log", xlabel="rank of the label", ylabel="training positives")
        if law:
            ends = np.array([1, law.n_labels])
            axes.plot(ends, law.at(ends), color=NAMED["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
        axes.plot(corners + 1, ranked[corners], color=NAMED["accent"], marker="o" if len(ranked) < 20 else None)
        axes.keep("labels", x=corners + 1, y=ranked[corners])
        axes.set_ylim(bottom=0.8)
        thousands(axes.xaxis)
        thousands(axes.yaxis)

    return draw(name, "Training positives of the labels by rank", paint)


def newton_histogram(name, runs):
    """Share of labels by number of Newton steps, one outline a run.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With training statistics.

    Returns
    -------
    Drawing
    """
    last = _last_step(runs)

    def paint(axes):
        edges = np.arange(last + 2) - 0.5
        for run in runs:
            shares = 100 * training.histogram(run.training.newton_steps, last)
            axes.stairs(shares, edges, color=series(run.series), fill=True, alpha=0.13)
            axes.stairs(shares, edges, color=series(run.series), linewidth=1.6)
            line(axes, run, range(last + 1), shares, linestyle="none", markevery=shares > 0.5)
        axes.set(xlabel="Newton steps", ylabel="labels in %", xlim=(-0.5, last + 0.5))
        axes.xaxis.set_major_locator(MultipleLocator(10) if last == MOST_STEPS else MaxNLocator(8, integer=True))
        axes.xaxis.set_major_formatter(lambda step, _: f"{step:.0f}" + ("+" if step == MOST_STEPS else ""))
        axes.grid(axis="x", visible=False)

    return draw(name, "Labels by number of Newton steps", paint)


def _last_step(runs):
    return min(MOST_STEPS, max((int(run.training.newton_steps.max(initial=1)) for run in runs), default=1))
