"""Weights, and what pruning them costs and saves."""

import numpy as np

from ovaflow.report.drawing import figure, line, logarithmic, series

STYLES = {"P@1": "-", "P@3": (0, (5, 2)), "P@5": (0, (1.2, 1.6))}
"""Metrics drawn against the threshold, and how."""

_SMALLEST_SHARE = 1e-6
_ALIKE = 0.01
_BEYOND = 1e-4


@figure("Weights before and after pruning")
def histogram(axes, runs):
    """Weights of the sampled labels before (line) and after pruning (filled)."""
    for run in distinct(runs):
        edges, before, after = run.details.weights.edges, run.details.weights.before, run.details.weights.after
        axes.stairs(after, edges, baseline=_SMALLEST_SHARE, color=series(run.series), fill=True, alpha=0.35)
        axes.stairs(before, edges, baseline=_SMALLEST_SHARE, color=series(run.series), linewidth=1.2)
        axes.keep(run.name, x=(edges[:-1] + edges[1:]) / 2, before_pruning=before, after_pruning=after)
    most = max(_reach(run.details.weights) for run in runs)
    axes.set(yscale="log", xlabel="weight", ylabel="share of the weights", xlim=(-most, most))
    axes.set_ylim(_SMALLEST_SHARE, 1.5)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.grid(axis="x", visible=False)


def distinct(runs):
    """Runs without those whose weights are distributed as those of a run before.

    Parameters
    ----------
    runs : sequence of Run
        With weights.

    Returns
    -------
    list of Run
    """
    kept = []
    for run in runs:
        ours = run.details.weights
        theirs = [other.details.weights for other in kept]
        if not any(
            np.abs(ours.before - their.before).sum() <= _ALIKE >= np.abs(ours.after - their.after).sum()
            for their in theirs
        ):
            kept.append(run)
    return kept


def _reach(weights):
    """Half the axis: all but few weights lie within it."""
    magnitudes = np.abs(weights.edges[:-1] + weights.edges[1:]) / 2
    order = np.argsort(-magnitudes)
    beyond = np.cumsum(weights.before[order]) > _BEYOND
    return max(float(magnitudes[order[np.argmax(beyond)]]), 0.1)


@figure("Precision by prune threshold")
def precision(axes, runs):
    """P@1, P@3 and P@5 by prune threshold."""
    for run, beside in zip(runs, _apart(len(runs)), strict=True):
        for metric, style in STYLES.items():
            known = [(point["prune"], 100 * point[metric]) for point in run.details.pruning if metric in point]
            x, y = np.array(known).reshape(-1, 2).T
            marked = {"markevery": 1} if metric == "P@1" else {"marker": None}
            line(axes, run, beside * x, y, keep=False, linestyle=style, **marked)
            axes.keep(f"{run.name}, {metric}", x=x, y=y)
    _thresholds(axes, runs)
    axes.set(ylabel="P@k in %")
    axes.set_ylim(bottom=0)


@figure("Model size by prune threshold")
def size(axes, runs):
    """Bytes of the model file by prune threshold."""
    for run, beside in zip(runs, _apart(len(runs)), strict=True):
        x, y = np.array([(point["prune"], point["model_bytes"] / (1 << 20)) for point in run.details.pruning]).T
        line(axes, run, beside * x, y, keep=False, markevery=1)
        axes.keep(run.name, x=x, y=y)
    _thresholds(axes, runs)
    axes.set(yscale="log", ylabel="MiB")
    logarithmic(axes.yaxis)


def _apart(n_runs):
    """Factors that draw runs beside one another on a logarithmic axis, since many have the same figures."""
    return 1.05 ** (np.arange(n_runs) - (n_runs - 1) / 2)


def _thresholds(axes, runs):
    thresholds = sorted({point["prune"] for run in runs for point in run.details.pruning})
    axes.set(xscale="log", xlabel="prune threshold", xticks=thresholds)
    axes.set_xticklabels([f"{threshold:g}" for threshold in thresholds])
    axes.xaxis.set_minor_formatter("")
