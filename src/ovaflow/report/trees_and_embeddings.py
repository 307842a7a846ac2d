"""The sections on trees of instances (FastXML) and label embeddings (Rembrandt)."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.report import wording
from ovaflow.report.drawing import NAMED, STYLES, FigureOfRuns, draw_all, line, logarithmic, series
from ovaflow.report.tables import Column, table_of_runs
from ovaflow.storage.texts import read_json


def _mean(title, name, text, group, hint=""):
    return Column(title, lambda run: float(np.mean(run.trees[name])), text, group, hint)


COLUMNS = (
    Column("trees", lambda run: len(run.trees["nodes"]), wording.count),
    _mean("leaves", "leaves", wording.decimal, "per tree"),
    _mean("depth", "depth", wording.decimal, "per tree", "deepest leaf"),
    _mean("H", "mean_depth", wording.decimal, "per tree", "mean depth of a training instance’s leaf"),
    _mean("balance", "balance", wording.decimal, "per tree", "H / log2(n / max leaf); 1 is perfect"),
    _mean("weights", "nonzeros", wording.count, "per tree", "of the separators"),
    _mean("time", "seconds", wording.duration, "per tree"),
    _mean("labels", "labels_per_leaf", wording.decimal, "per leaf", "whose scores are kept"),
    Column("largest", lambda run: int(run.trees["largest_leaf"].max()), wording.count, "leaf", "instances"),
)


def show_trees(anchor, results):
    forests = [run for run in results.runs if run.trees]
    if not forests:
        return None
    shown = [run for run in forests if run.tree_curve and run.series is not None]
    table = table_of_runs("Trees of instances", forests, COLUMNS)
    return {"table": table, "runs": shown, "figures": draw_all(anchor, shown, BY_TREES)}


def _paint_quality(axes, runs):
    for run in runs:
        trees = [point["trees"] for point in run.tree_curve]
        for metric, style in STYLES.items():
            values = [100 * point[metric] for point in run.tree_curve]
            markers = {} if style == "solid" or len(values) == 1 else {"marker": None}
            line(axes, run, trees, values, f"{run.name}, {metric}", linestyle=style, **markers)
    axes.set(xlabel="trees", ylabel="P@k in %", xlim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


BY_TREES = (
    FigureOfRuns(
        "by-trees",
        "P@1, P@3 and P@5 by number of trees",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the first trees (FastXML, fig. 1). Where the curve is flat, "
        "fewer trees are enough.",
        _paint_quality,
    ),
)


def read_embedding(folder, label_names):
    """The embedding of a run; None for methods without one."""
    path = folder / "embedding.json"
    if not path.exists():
        return None
    description = read_json(path, "embedding-description")
    neighbours = []
    for entry in description["neighbours"]:
        nearest = [(label_names[label], cosine) for label, cosine in entry["nearest"]]
        neighbours.append({"label": label_names[entry["label"]], "nearest": nearest})
    return description | {"neighbours": neighbours}


def show_embeddings(anchor, results):
    runs = [run for run in results.shown if run.embedding is not None]
    return {"runs": runs, "figures": draw_all(anchor, runs, EMBEDDINGS)} if runs else None


def _paint_spectrum(axes, runs):
    axes.set(xscale="log", yscale="log", xlabel="number of the eigenvalue", ylabel="eigenvalue / instances")
    for run in runs:
        values = run.embedding["eigenvalues"]
        line(axes, run, range(1, len(values) + 1), values)
    # runs differ only in how much of it they computed
    covariance = max((run.embedding["label_covariance"] for run in runs), key=len)
    numbers = range(1, len(covariance) + 1)
    axes.plot(numbers, covariance, color=NAMED["ink"], linestyle=(0, (4, 4)), linewidth=1)
    axes.keep("labels alone", x=numbers, y=covariance)
    logarithmic(axes.xaxis)
    logarithmic(axes.yaxis)


def _paint_error(axes, runs):
    for run in runs:
        points = run.embedding["points"]
        if points:
            ranks = [point["rank"] for point in points]
            line(axes, run, ranks, map(_error, points), f"{run.name}, least squares", marker=None)
        if "P@1" in run.metrics:
            _paint_trained(axes, run, points)
    axes.set(xscale="log", xlabel="dimensions of the embedding", ylabel="100 − P@1, in %")
    logarithmic(axes.xaxis)


def _paint_trained(axes, run, points):
    """The error of the run itself: a marker at its rank, or a line where it has no embedding."""
    error, rank = _error(run.metrics.get("first_stage", run.metrics)), None
    if points:
        rank = points[-1]["rank"]
        line(axes, run, [rank], [error], keep=False, markersize=6)
    else:
        axes.axhline(error, color=series(run.series), linestyle=(0, (4, 4)), linewidth=1.3)
    axes.keep(f"{run.name}, trained", x=[rank], y=[error])


def _error(metrics):
    return 100 - 100 * metrics["P@1"]


EMBEDDINGS = (
    FigureOfRuns(
        "ranks",
        "Error by dimensions of the embedding",
        "Lines: the first dimensions of the run’s embedding, decoded by least squares without training; markers: the "
        "runs with their trained decoders; dashed: runs without an embedding (Rembrandt, fig. 1a).",
        _paint_error,
    ),
    FigureOfRuns(
        "spectrum",
        "Spectrum of the label covariance and of the embeddings",
        "Dashed: spectrum of the labels’ covariance (Rembrandt, fig. 1b). Lines: spectrum of what each run embedded, "
        "for the embedding “rembrandt” the labels as the features predict them. The slower it falls, the more "
        "dimensions are useful.",
        _paint_spectrum,
    ),
)
