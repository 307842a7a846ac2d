"""The sections of methods other than one-vs-all: trees of instances (FastXML) and label embeddings (Rembrandt)."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.report import wording
from ovaflow.report.drawing import DASHED, DOTTED, NAMED, draw_all, line, logarithmic, series
from ovaflow.report.tables import Column, table_of_runs
from ovaflow.storage.texts import read_json

OF_K = {"P@1": "solid", "P@3": DASHED, "P@5": DOTTED}


def _mean(name):
    return lambda run: float(np.mean(run.trees[name]))


COLUMNS = (
    Column("trees", lambda run: len(run.trees["nodes"]), wording.count),
    Column("leaves", _mean("leaves"), wording.decimal, "per tree"),
    Column("depth", _mean("depth"), wording.decimal, "per tree", "deepest leaf"),
    Column("H", _mean("mean_depth"), wording.decimal, "per tree", "mean depth of a training instance’s leaf"),
    Column("balance", _mean("balance"), wording.decimal, "per tree", "H / log2(n / max leaf); 1 is perfect"),
    Column("weights", _mean("nonzeros"), wording.count, "per tree", "of the separators"),
    Column("time", _mean("seconds"), wording.duration, "per tree"),
    Column("labels", _mean("labels_per_leaf"), wording.decimal, "per leaf", "whose scores are kept"),
    Column("largest", lambda run: int(run.trees["largest_leaf"].max()), wording.count, "leaf", "instances"),
)


def show_trees(anchor, results):
    """Shape of the trees, means over the trees, and quality by their number."""
    grown = [run for run in results.runs if run.trees]
    if not grown:
        return None
    runs = [run for run in grown if run.tree_curve and run.series is not None]
    return {
        "table": table_of_runs("Trees of instances", grown, COLUMNS),
        "runs": runs,
        "figures": draw_all(anchor, runs, BY_TREES) if runs else [],
    }


def _paint_quality(axes, runs):
    for run in runs:
        amounts = [point["trees"] for point in run.tree_curve]
        for metric, style in OF_K.items():
            values = [100 * point[metric] for point in run.tree_curve]
            unmarked = {} if style == "solid" or len(values) == 1 else {"marker": None}
            line(axes, run, amounts, values, f"{run.name}, {metric}", linestyle=style, **unmarked)
    axes.set(xlabel="trees", ylabel="P@k in %", xlim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


BY_TREES = (
    (
        "by-trees",
        "P@1, P@3 and P@5 by number of trees",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the first trees alone (FastXML, fig. 1). Where the curve is "
        "flat, fewer trees would do.",
        _paint_quality,
    ),
)


def read_embedding(folder, label_names):
    """The embedding of a run, None for methods without one."""
    path = folder / "embedding.json"
    if not path.exists():
        return None
    found = read_json(path, "embedding-description")
    neighbours = [
        (label_names[entry["label"]], [(label_names[label], cosine) for label, cosine in entry["nearest"]])
        for entry in found["neighbours"]
    ]
    return found | {"neighbours": neighbours}


def show_embeddings(anchor, results):
    """Figures, and the runs with their nearest labels."""
    runs = [run for run in results.shown if run.embedding is not None]
    return {"runs": runs, "figures": draw_all(anchor, runs, EMBEDDINGS)} if runs else None


def _paint_spectrum(axes, runs):
    axes.set(xscale="log", yscale="log", xlabel="number of the eigenvalue", ylabel="eigenvalue / instances")
    for run in runs:
        values = run.embedding["eigenvalues"]
        line(axes, run, range(1, len(values) + 1), values)
    # the same for all runs, but for its length
    alone = max((run.embedding["label_covariance"] for run in runs), key=len)
    axes.plot(range(1, len(alone) + 1), alone, color=NAMED["ink"], linestyle=(0, (4, 4)), linewidth=1)
    axes.keep("labels alone", x=range(1, len(alone) + 1), y=alone)
    logarithmic(axes.xaxis)
    logarithmic(axes.yaxis)


def _paint_error(axes, runs):
    measured = [run for run in runs if run.embedding["points"]]
    for run in runs:
        if not run.embedding["points"] and "P@1" in run.metrics:
            axes.axhline(_error(run.metrics), color=series(run.series), linestyle=(0, (4, 4)), linewidth=1.3)
            axes.keep(f"{run.name}, trained", x=[None], y=[_error(run.metrics)])
    for run in measured:
        ranks = [point["rank"] for point in run.embedding["points"]]
        line(axes, run, ranks, map(_error, run.embedding["points"]), f"{run.name}, least squares", marker=None)
        if "P@1" in run.metrics:
            line(axes, run, ranks[-1:], [_error(run.metrics)], keep=False, markersize=6)
            axes.keep(f"{run.name}, trained", x=ranks[-1:], y=[_error(run.metrics)])
    axes.set(xscale="log", xlabel="dimensions of the embedding", ylabel="100 − P@1, in %")
    logarithmic(axes.xaxis)


def _error(metrics):
    return 100 - 100 * metrics["P@1"]


EMBEDDINGS = (
    (
        "ranks",
        "Error by dimensions of the embedding",
        "Lines: the first dimensions of the run’s embedding, decoded by least squares, which needs no training; "
        "markers: the runs themselves, with their trained decoders; "
        "dashed: runs without an embedding (Rembrandt, fig. 1a).",
        _paint_error,
    ),
    (
        "spectrum",
        "Spectrum of the label covariance and of the embeddings",
        "Dashed: spectrum of the labels’ covariance (Rembrandt, fig. 1b). Lines: of what each run embedded; for the "
        "embedding “rembrandt” that of the labels as the features predict them. The slower it falls, the more "
        "dimensions are worth having.",
        _paint_spectrum,
    ),
)
