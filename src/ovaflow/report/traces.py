"""The sections Iteration by iteration, and Weights and pruning: from trace.h5, prune.json and the model."""

from functools import partial

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.model.model_file import open_model
from ovaflow.model.trace_file import read_trace
from ovaflow.report.drawing import (
    DASHED,
    DOTTED,
    FEWEST,
    band,
    by_positives,
    draw_all,
    line,
    logarithmic,
    paint_bands,
    series,
    side_by_side,
    values_axis,
)
from ovaflow.report.training import milliseconds, newton_axes, seconds_axes

SMALLEST_GAP = 1e-6
"""Rounding of the objective in float32; smaller gaps mean nothing."""

STYLES = {"P@1": "-", "P@3": DASHED, "P@5": DOTTED}

_STILL_SOLVED = 0.1
_DRAWN = 0.95
_CHANGES_NO_PROBLEM = {"stored_threshold", "reference"}
_SMALLEST_SHARE = 1e-6
_ALIKE = 0.01
_BEYOND = 1e-4


def read_traces(folder, pruned):
    """What the trace and the prune curve of a run tell, where they are of its model."""
    if not (pruned or (folder / "trace.h5").exists()):
        return {}
    model = open_model(folder / "model.h5")
    trace = _read_trace(folder, model)
    found = {"curves": curves_of(trace), "weights": weights_of(trace, model)} if trace else {}
    # the axis of thresholds is logarithmic
    pruned = [point for point in pruned if point["prune"] > 0]
    return found | {"pruning": pruned if len(pruned) > 1 else []}


def _read_trace(folder, model):
    """The trace of a run, None where there is none or it was made with other settings than the model."""
    if not (folder / "trace.h5").exists():
        return None
    trace = read_trace(folder / "trace.h5")
    settings = model.parameters.get("train", {})
    names = (settings.keys() | trace.parameters.keys()) - _CHANGES_NO_PROBLEM
    same = all(settings.get(name) == trace.parameters.get(name) for name in names)
    return trace if same and trace.inputs.get("dataset") == model.inputs.get("dataset") else None


def curves_of(trace):
    """How a run's sampled labels were solved, by iteration and by positives; None with too few labels."""
    n_labels = len(trace.starts) - 1
    if n_labels < FEWEST:
        return None
    steps = np.diff(trace.starts) - 1
    last = max(int(np.quantile(steps, _DRAWN, method="higher")), 1)
    gaps = trace.iterations["objective"] / np.repeat(trace.of_labels["optimum"], steps + 1) - 1
    seconds, positives = trace.iterations["seconds"], trace.of_labels["positives"]
    active = np.maximum(trace.iterations["active"], 1) / trace.n_instances
    return {
        "n_labels": n_labels,
        # after so many, 95 % of the labels were solved
        "iterations": last,
        # objective over that of the optimum, less 1, after 0, 1, 2, ... iterations
        "gap": band(range(last + 1), _carried_on(np.maximum(gaps, SMALLEST_GAP), trace.starts, last)),
        # step length that the line search found in iteration 1, 2, ...
        "multiplier": _by_iteration(trace.iterations["step_length"], trace.starts, np.mean),
        "active": _by_iteration(active, trace.starts, before=1),
        "milliseconds": _by_iteration(1000 * seconds, trace.starts),
        "newton_by_positives": by_positives(positives, steps, np.mean, bins_per_decade=2),
        "milliseconds_by_positives": by_positives(
            positives, 1000 * np.add.reduceat(seconds, trace.starts[:-1]), bins_per_decade=2
        ),
    }


def _carried_on(values, starts, last):
    """Values after each iteration, those of solved labels as they were at the end."""
    return [values[np.minimum(starts[:-1] + step, starts[1:] - 1)] for step in range(last + 1)]


def _by_iteration(values, starts, middle=np.median, before=0):
    """Values of each iteration, over the labels that still need it."""
    steps = np.diff(starts) - 1
    enough = max(FEWEST, int(_STILL_SOLVED * len(steps)))
    places = [step for step in range(1, steps.max() + 1) if (steps >= step).sum() >= enough]
    return band(places, [values[starts[:-1][steps >= step] + step - before] for step in places], middle)


def show_iterations(anchor, results):
    """Figures of traced labels."""
    runs = [run for run in results.shown if run.curves]
    # labels of similar frequency are a single point
    spread = any(len(run.curves["newton_by_positives"].x) > 1 for run in runs)
    wanted = (*BY_ITERATION, *(BY_POSITIVES if spread else ()))
    return {"runs": runs, "figures": draw_all(anchor, runs, wanted)} if runs else None


def _curve(name):
    return lambda run: run.curves[name]


def _iterations(axes, runs, first=1):
    last = max(run.curves["iterations"] for run in runs)
    axes.set(xlabel="Newton iteration", xlim=(first, max(last, first + 1)))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _gap_axes(axes, runs):
    _iterations(axes, runs, first=0)
    axes.set(yscale="log", ylabel="objective above the optimum")
    axes.set_ylim(bottom=SMALLEST_GAP / 2)
    logarithmic(axes.yaxis)


def _multiplier_axes(axes, runs):
    _iterations(axes, runs)
    axes.set(ylabel="line-search multiplier", ylim=(0, 1.04))


def _active_axes(axes, runs):
    _iterations(axes, runs)
    axes.set(yscale="log", ylabel="active instances")
    axes.set_ylim(top=1.3)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.yaxis.set_minor_formatter("")


def _duration_axes(axes, runs):
    _iterations(axes, runs)
    milliseconds(axes)


BY_ITERATION = (
    (
        "objective",
        "Objective above the optimum by Newton iteration",
        "Objective of a label, relative to its optimum, less 1: how far a start is from the solution, and how fast it "
        "gets there (median, and 5 to 95 % of the labels; solved labels stay where they ended; MSI, fig. 1).",
        partial(paint_bands, _curve("gap"), _gap_axes),
    ),
    (
        "multiplier",
        "Line-search multiplier by Newton iteration",
        "Multiplier that the line search found: below 1 the quadratic model promised more than the objective gave "
        "(mean, and 5 to 95 % of the labels not yet solved; MSI, fig. 3 and 8, right).",
        partial(paint_bands, _curve("multiplier"), _multiplier_axes),
    ),
    (
        "active",
        "Share of active instances by Newton iteration",
        "Share of the instances that an iteration looks at, where the loss is curved: a good start leaves out the easy "
        "negatives at once (median, and 5 to 95 % of the labels not yet solved; MSI, fig. 4, left, and 6).",
        partial(paint_bands, _curve("active"), _active_axes),
    ),
    (
        "duration",
        "Duration of Newton iterations",
        "Processor time of an iteration of the plain solver, which grows with the active instances "
        "(median, and 5 to 95 % of the labels not yet solved; MSI, fig. 4, right, and 8, left).",
        partial(paint_bands, _curve("milliseconds"), _duration_axes),
    ),
)
BY_POSITIVES = (
    (
        "traced-newton-by-positives",
        "Newton steps of sampled labels by their training positives",
        "Newton steps of the sampled labels with the plain solver: what the start alone decides, without working sets "
        "(mean, and 5 to 95 % of the labels; MSI, fig. 7, left).",
        partial(paint_bands, _curve("newton_by_positives"), newton_axes),
    ),
    (
        "traced-seconds-by-positives",
        "Time of sampled labels by their training positives",
        "Processor time of the sampled labels with the plain solver "
        "(median, and 5 to 95 % of the labels; MSI, fig. 7, right).",
        partial(paint_bands, _curve("milliseconds_by_positives"), seconds_axes),
    ),
)
"""Figures of traced labels."""


def weights_of(trace, model):
    """Histogram of the traced labels' weights before pruning and in the model, as shares; None without weights.

    What lies beyond the edges is counted in the outermost bins; before pruning, zeros count, too.
    """
    total = trace.weight_counts.sum()
    if not total:
        return None
    edges, starts = trace.weight_edges, model.weights.indptr
    rows = [model.weights.data[starts[label] : starts[label + 1]] for label in trace.of_labels["labels"]]
    after, _ = np.histogram(np.clip(np.concatenate(rows), edges[0], edges[-1]), edges)
    return {"edges": edges, "before": trace.weight_counts / total, "after": after / total}


def show_weights(anchor, results):
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
            all(np.abs(ours[side] - their[side]).sum() <= _ALIKE for side in ("before", "after")) for their in theirs
        ):
            kept.append(run)
    return kept


def _paint_histogram(axes, runs):
    for run in distinct(runs):
        edges, before, after = (run.weights[name] for name in ("edges", "before", "after"))
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
    magnitudes = np.abs(weights["edges"][:-1] + weights["edges"][1:]) / 2
    order = np.argsort(-magnitudes)
    beyond = np.cumsum(weights["before"][order]) > _BEYOND
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
        "models are as good (DiSMEC, fig. 5). Measured on at most 20,000 test instances.",
        _paint_precision,
    ),
    ("size", "Model size by prune threshold", "Size of the same models (DiSMEC, fig. 5).", _paint_size),
)
