"""Figures of a dataset and of how well its runs predict."""

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ovaflow.report import training
from ovaflow.report.drawing import MARKERS, NAMED, draw, series, thousands

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
    Markup
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


def recall_by_frequency(name, runs):
    """Recall of each run by the labels' training positives.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run

    Returns
    -------
    Markup
    """
    titles = [group.range for group in runs[0].bins]

    def paint(axes):
        for run, shift in zip(runs, _shifts(len(runs)), strict=True):
            known = [(place + shift, group.recall) for place, group in enumerate(run.bins) if group.recall is not None]
            places, recalls = zip(*known, strict=True) if known else ((), ())
            style = {"color": series(run.series), "marker": MARKERS[run.series % len(MARKERS)], "markersize": 4.5}
            axes.plot(places, [100 * recall for recall in recalls], linewidth=1.3, **style)
        axes.set(xlabel="training positives of the label", ylabel=f"recall@{runs[0].k} in %", xticks=range(len(titles)))
        axes.set_xticklabels(titles, rotation=32 if len(titles) > 6 else 0, ha="right" if len(titles) > 6 else "center")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, None if any(group.hits for run in runs for group in run.bins) else 1)

    return draw(name, "Recall by training positives of the labels", paint)


def _shifts(n_runs):
    """Sideways shifts, so that runs with the same figures stay visible beside one another."""
    step = min(0.16, 0.6 / max(n_runs, 1))
    return step * (np.arange(n_runs) - (n_runs - 1) / 2)


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
    Markup
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
