"""The section on weights and pruning: weights before and after, and how good and large models pruned further are."""

from dataclasses import dataclass

import numpy as np

from ovaflow.report.drawing import DASHED, DOTTED, draw_all, line, logarithmic, series, side_by_side, values_axis
from ovaflow.storage.texts import read_json

STYLES = {"P@1": "-", "P@3": DASHED, "P@5": DOTTED}

_SAME = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5", "nonzeros", "model_bytes")
_SMALLEST_SHARE = 1e-6
_ALIKE = 0.01
_BEYOND = 1e-4


@dataclass(frozen=True)
class Weights:
    """Histogram of the weights of sampled labels."""

    edges: np.ndarray  # shape (b + 1,); what lies beyond is counted in the outermost bins
    before: np.ndarray  # shares of all weights before pruning, zeros among them, shape (b,)
    after: np.ndarray


def weights_of(trace, model):
    """Compare the traced labels' weights before pruning with those in the model; None without weights."""
    total = trace.weight_counts.sum()
    if not total:
        return None
    edges, starts = trace.weight_edges, model.weights.indptr
    rows = [model.weights.data[starts[label] : starts[label + 1]] for label in trace.of_labels["labels"]]
    after, _ = np.histogram(np.clip(np.concatenate(rows), edges[0], edges[-1]), edges)
    return Weights(edges, trace.weight_counts / total, after / total)


def read_pruning(folder, model, metrics):
    """Points of a run's prune curve, that of its own threshold first; empty where there are fewer than two."""
    path = folder / "prune.json"
    curve = read_json(path, "prune-curve") if path.exists() else {}
    points = curve["points"] if curve.get("model") == model.checksum else []
    threshold = model.parameters.get("prune")
    # the axis of thresholds is logarithmic
    if threshold and "model_bytes" in metrics:
        points = [{"prune": threshold} | {name: metrics[name] for name in _SAME if name in metrics}, *points]
    return points if len(points) > 1 else []


def show(anchor, results):
    """Figures of weights and of models pruned further."""
    weighed = [run for run in results.shown if run.weights]
    pruned = [run for run in results.shown if run.pruning]
    if not weighed and not pruned:
        return None
    figures = draw_all(anchor, weighed, WEIGHTS) if weighed else []
    figures += draw_all(anchor, pruned, BY_THRESHOLD) if pruned else []
    return {"runs": [run for run in results.shown if run.weights or run.pruning], "figures": figures}


def distinct(runs):
    """Runs whose weights are distributed unlike those of the runs before."""
    kept = []
    for run in runs:
        ours, theirs = run.weights, [other.weights for other in kept]
        if not any(
            np.abs(ours.before - their.before).sum() <= _ALIKE >= np.abs(ours.after - their.after).sum()
            for their in theirs
        ):
            kept.append(run)
    return kept


def _paint_histogram(axes, runs):
    for run in distinct(runs):
        edges, before, after = run.weights.edges, run.weights.before, run.weights.after
        axes.stairs(after, edges, baseline=_SMALLEST_SHARE, color=series(run.series), fill=True, alpha=0.35)
        axes.stairs(before, edges, baseline=_SMALLEST_SHARE, color=series(run.series), linewidth=1.2)
        axes.keep(run.name, x=(edges[:-1] + edges[1:]) / 2, before_pruning=before, after_pruning=after)
    most = max(_reach(run.weights) for run in runs)
    axes.set(yscale="log", xlabel="weight", ylabel="share of the weights", xlim=(-most, most))
    axes.set_ylim(_SMALLEST_SHARE, 1.5)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.grid(axis="x", visible=False)


def _reach(weights):
    """Half the axis: all but few weights lie within it."""
    magnitudes = np.abs(weights.edges[:-1] + weights.edges[1:]) / 2
    order = np.argsort(-magnitudes)
    beyond = np.cumsum(weights.before[order]) > _BEYOND
    return max(float(magnitudes[order[np.argmax(beyond)]]), 0.1)


def _paint_precision(axes, runs):
    for run, factor in zip(runs, _factors(runs), strict=True):
        for metric, style in STYLES.items():
            known = [(point["prune"], 100 * point[metric]) for point in run.pruning if metric in point]
            x, y = np.array(known).reshape(-1, 2).T
            marked = {"markevery": 1} if metric == "P@1" else {"marker": None}
            line(axes, run, factor * x, y, keep=False, linestyle=style, **marked)
            axes.keep(f"{run.name}, {metric}", x=x, y=y)
    _threshold_axis(axes, runs)
    axes.set(ylabel="P@k in %")
    axes.set_ylim(bottom=0)


def _paint_size(axes, runs):
    for run, factor in zip(runs, _factors(runs), strict=True):
        x, y = np.array([(point["prune"], point["model_bytes"] / (1 << 20)) for point in run.pruning]).T
        line(axes, run, factor * x, y, keep=False, markevery=1)
        axes.keep(run.name, x=x, y=y)
    _threshold_axis(axes, runs)
    axes.set(yscale="log", ylabel="MiB")
    logarithmic(axes.yaxis)


def _factors(runs):
    """Factors that draw runs next to one another on a logarithmic axis, since many have the same figures."""
    return 1.05 ** side_by_side(len(runs), 1)


def _threshold_axis(axes, runs):
    values_axis(axes, "prune threshold", sorted({point["prune"] for run in runs for point in run.pruning}))


WEIGHTS = (
    (
        "histogram",
        "Weights before and after pruning",
        "Weights of the sampled labels before (line) and after pruning (filled): most lie near zero and are dropped. "
        "Runs whose weights differ by no more than a hundredth are drawn once (DiSMEC, fig. 2).",
        _paint_histogram,
    ),
)
BY_THRESHOLD = (
    (
        "precision",
        "Precision by prune threshold",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the model pruned further: where the lines are flat, smaller "
        "models are as good (DiSMEC, fig. 5).",
        _paint_precision,
    ),
    ("size", "Model size by prune threshold", "Size of the same models (DiSMEC, fig. 5).", _paint_size),
)
