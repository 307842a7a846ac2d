"""Figures of runs that embed labels."""

from ovaflow.report.drawing import MARKERS, NAMED, draw, logarithmic, series
from ovaflow.report.embeddings import labels_alone


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
    Markup
    """

    def paint(axes):
        axes.set(xscale="log", yscale="log", xlabel="number of the eigenvalue", ylabel="eigenvalue / instances")
        alone = labels_alone(runs)
        for run in runs:
            values = run.embedding.eigenvalues
            axes.plot(range(1, len(values) + 1), values, color=series(run.series), linewidth=1.8)
        axes.plot(range(1, len(alone) + 1), alone, color=NAMED["ink"], linestyle=(0, (4, 4)), linewidth=1)
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
    Markup
    """

    def paint(axes):
        for place, run in enumerate(runs):
            points, colour = run.embedding.points, series(run.series)
            ranks = [point["rank"] for point in points]
            axes.plot(ranks, [100 - 100 * point["P@1"] for point in points], color=colour, linewidth=1.3)
            if "P@1" in run.metrics:
                marker = MARKERS[run.series % len(MARKERS)]
                # beside one another, where runs have the same rank
                at = ranks[-1] * 1.12 ** (1 + place)
                axes.plot([at], [100 - 100 * run.metrics["P@1"]], color=colour, marker=marker, markersize=6)
        axes.set(xscale="log", xlabel="dimensions of the embedding", ylabel="100 − P@1, in %")
        logarithmic(axes.xaxis)

    return draw(name, "Error by dimensions of the embedding", paint)
