"""Figures of runs that embed labels."""

from ovaflow.report.drawing import NAMED, draw, line, logarithmic, series


def spectrum(name, runs):
    """Eigenvalues of the label covariance, and of what each run embedded (Rembrandt, fig. 1b).

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        Those with an embedding.

    Returns
    -------
    Drawing
    """

    def paint(axes):
        axes.set(xscale="log", yscale="log", xlabel="number of the eigenvalue", ylabel="eigenvalue / instances")
        alone = labels_alone(runs)
        for run in runs:
            values = run.embedding.eigenvalues
            line(axes, run, range(1, len(values) + 1), values)
        axes.plot(range(1, len(alone) + 1), alone, color=NAMED["ink"], linestyle=(0, (4, 4)), linewidth=1)
        axes.keep("labels alone", x=range(1, len(alone) + 1), y=alone)
        logarithmic(axes.xaxis)
        logarithmic(axes.yaxis)

    return draw(name, "Spectrum of the label covariance and of the embeddings", paint)


def error_by_rank(name, runs):
    """Error of the first prediction against the rank (Rembrandt, fig. 1a).

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        Those with an embedding.

    Returns
    -------
    Drawing
    """

    def paint(axes):
        plotted = [run for run in runs if run.embedding.points]
        for run in runs:
            if run not in plotted and "P@1" in run.metrics:
                axes.axhline(_error(run.metrics), color=series(run.series), linestyle=(0, (4, 4)), linewidth=1.3)
                axes.keep(f"{run.name}, trained", x=[None], y=[_error(run.metrics)])
        for run, at in zip(plotted, _apart([run.embedding.points[-1]["rank"] for run in plotted]), strict=True):
            points = run.embedding.points
            ranks, errors = [point["rank"] for point in points], list(map(_error, points))
            line(axes, run, ranks, errors, f"{run.name}, least squares", marker=None)
            if "P@1" in run.metrics:
                line(axes, run, [at], [_error(run.metrics)], keep=False, markersize=6)
                axes.keep(f"{run.name}, trained", x=ranks[-1:], y=[_error(run.metrics)])
        axes.set(xscale="log", xlabel="dimensions of the embedding", ylabel="100 − P@1, in %")
        logarithmic(axes.xaxis)

    return draw(name, "Error by dimensions of the embedding", paint)


def _error(metrics):
    return 100 - 100 * metrics["P@1"]


def _apart(ranks):
    """Where to draw markers: at the rank, side by side where it is that of several runs."""
    places = []
    for number, rank in enumerate(ranks):
        left = ranks[:number].count(rank)
        places.append(rank * 1.1 ** (left - (ranks.count(rank) - 1) / 2))
    return places


def labels_alone(runs):
    """The longest spectrum of the labels among runs, which is the same for all.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    list of float
    """
    return max((run.embedding.label_covariance for run in runs), key=len, default=[])
