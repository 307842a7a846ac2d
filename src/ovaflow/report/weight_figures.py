"""Weights, and what pruning them costs and saves."""

import numpy as np

from ovaflow.report.drawing import draw, plain_logarithm, series

STYLES = {"P@1": "-", "P@3": (0, (5, 2)), "P@5": (0, (1.2, 1.6))}
"""Metrics drawn against the threshold, and how."""

_SMALLEST_SHARE = 1e-7


def histogram(name, runs):
    """Weights of the sampled labels before (line) and after pruning (filled).

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With weights.

    Returns
    -------
    Markup
    """

    def paint(axes):
        for run in runs:
            shown = run.details.weights
            axes.stairs(
                shown.after, shown.edges, baseline=_SMALLEST_SHARE, color=series(run.series), fill=True, alpha=0.25
            )
            axes.stairs(shown.before, shown.edges, baseline=_SMALLEST_SHARE, color=series(run.series), linewidth=1.2)
        found = np.concatenate([run.details.weights.edges[:-1][run.details.weights.before > 0] for run in runs])
        most = max(np.abs(found).max(), 0.1)
        least = min(run.details.weights.before[run.details.weights.before > 0].min() for run in runs)
        axes.set(yscale="log", xlabel="weight", ylabel="share of the weights", xlim=(-most, most))
        axes.set_ylim(max(least / 2, _SMALLEST_SHARE), 1.5)
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.grid(axis="x", visible=False)

    return draw(name, "Weights before and after pruning", paint)


def precision(name, runs):
    """P@1, P@3 and P@5 by prune threshold.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With a prune curve.

    Returns
    -------
    Markup
    """

    def paint(axes):
        for run in runs:
            for metric, style in STYLES.items():
                known = [(point["prune"], 100 * point[metric]) for point in run.details.pruning if metric in point]
                axes.plot(*np.array(known).reshape(-1, 2).T, color=series(run.series), linestyle=style, linewidth=1.5)
        _thresholds(axes, runs)
        axes.set(ylabel="P@k in %")
        axes.set_ylim(bottom=0)

    return draw(name, "Precision by prune threshold", paint)


def size(name, runs):
    """Bytes of the model file by prune threshold.

    Parameters
    ----------
    name : str
        Unique on the page.
    runs : sequence of Run
        With a prune curve.

    Returns
    -------
    Markup
    """

    def paint(axes):
        for run in runs:
            points = [(point["prune"], point["model_bytes"] / (1 << 20)) for point in run.details.pruning]
            axes.plot(*np.array(points).T, color=series(run.series), marker="o", markersize=3.5, linewidth=1.5)
        _thresholds(axes, runs)
        axes.set(yscale="log", ylabel="MiB")
        axes.yaxis.set_major_formatter(plain_logarithm)
        axes.yaxis.set_minor_formatter("")

    return draw(name, "Model size by prune threshold", paint)


def _thresholds(axes, runs):
    thresholds = sorted({point["prune"] for run in runs for point in run.details.pruning})
    axes.set(xscale="log", xlabel="prune threshold", xticks=thresholds)
    axes.set_xticklabels([f"{threshold:g}" for threshold in thresholds])
    axes.xaxis.set_minor_formatter("")
