"""Draw the figures of the documentation from the results of docs/make/figures.yaml.

    ovaflow run docs/make/figures.yaml       # in an empty folder, four minutes
    python docs/make/figures.py FOLDER       # writes docs/figures/*.svg

Colours are in the middle between light and dark, so that a figure reads on both.
"""

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ovaflow.data.dataset import open_dataset
from ovaflow.model.model_file import open_model
from ovaflow.model.trace_file import read_trace
from ovaflow.prediction import index

FIGURES = Path(__file__).parents[1] / "figures"
INK, LINE = "#7d858f", "#7d858f55"
COLOURS = ["#1a9e8f", "#d9822b", "#7a6fd0", "#d0567f", "#6f9f3a"]

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "ovaflow", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10, "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.grid": True, "grid.color": LINE, "grid.linewidth": 0.6, "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False, "legend.labelcolor": INK, "lines.linewidth": 1.8,
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS), "axes.titlesize": 10, "axes.titlecolor": INK,
})  # fmt: skip


def draw(name, title, paint, panels=1, size=(6.4, 3.2)):
    """Make a figure of one or more panels and write it."""
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, panels)
    paint(axes)
    figure.savefig(FIGURES / f"{name}.svg", transparent=True, metadata={"Date": None, "Title": title, "Creator": None})
    path = FIGURES / f"{name}.svg"
    text = re.sub(r"\n\s*", "\n", path.read_text(encoding="utf-8"))
    text = re.sub(r"(\d+\.\d{2})\d+", r"\1", text)
    # no font of this machine: the reader's own
    path.write_text(re.sub(r"font: ([\d.]+px)[^;\"]*", r"font: \1 system-ui, sans-serif", text), encoding="utf-8")


class Results:
    """What the runs of docs/make/figures.yaml left."""

    def __init__(self, folder):
        self.folder = Path(folder) / "results" / "docstrings"
        self.dataset = open_dataset(self.folder / "dataset.h5")

    def trace(self, run):
        """Iterations of the traced labels of a run."""
        return read_trace(self.folder / run / "trace.h5")

    def json(self, run, name):
        """A JSON file of a run."""
        return json.loads((self.folder / run / name).read_text())


STARTS = ("mean-separating", "all-negative", "bias", "zero")


def starts(results):
    """Distance to the optimum after each Newton step."""
    traces = {name: results.trace(name) for name in STARTS}
    best = np.min([[t.iterations["objective"][a:b].min() for a, b in _spans(t)] for t in traces.values()], axis=0)

    def paint(axes):
        for name, trace in traces.items():
            worst = [trace.iterations["objective"][a:b] - low for (a, b), low in zip(_spans(trace), best, strict=True)]
            zero = [
                traces["zero"].iterations["objective"][a] - low
                for (a, _), low in zip(_spans(traces["zero"]), best, strict=True)
            ]
            steps = max(map(len, worst))
            curve = [
                np.median([path[min(k, len(path) - 1)] / scale for path, scale in zip(worst, zero, strict=True)])
                for k in range(steps)
            ]
            axes.semilogy(range(steps), np.maximum(curve, 1e-7), marker="o", markersize=3.5, label=name)
        axes.set(
            xlabel="Newton steps",
            ylabel="objective above the optimum\n(start from zero = 1), median",
            xlim=(-0.2, 9.5),
            ylim=(1e-6, 3),
        )
        axes.legend()

    draw("starts", "Objective after each Newton step from four starts, median of 40 labels of docstrings", paint)


def _spans(trace):
    return list(zip(trace.starts[:-1], trace.starts[1:], strict=True))


def newton(results):
    """Active instances and gradient of labels on their way."""
    trace = results.trace("mean-separating")

    def paint(axes):
        for a, b in _spans(trace):
            axes[0].semilogy(
                np.maximum(trace.iterations["active"][a:b], 0.8) / trace.n_instances,
                color=COLOURS[0],
                alpha=0.35,
                linewidth=1,
            )
            axes[1].semilogy(
                trace.iterations["gradient_norm"][a:b] / trace.iterations["gradient_norm"][a],
                color=COLOURS[1],
                alpha=0.35,
                linewidth=1,
            )
        axes[0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
        axes[0].set(xlabel="Newton steps", title="active instances, share of all")
        axes[1].set(xlabel="Newton steps", title="gradient norm, that of the start = 1")

    draw("newton", "Active instances and gradient norms of 40 labels of docstrings", paint, 2, (7.4, 3.0))


def mean_separating(results):
    """Scores of a label's instances at its start and at the optimum."""
    from scipy.sparse import csr_array

    split = results.dataset.train
    X, Y = split.X.to_scipy(), csr_array(split.Y.to_scipy())
    counts = np.asarray(Y.sum(axis=0)).ravel()
    label = int(np.argmin(np.abs(counts - 300)))
    positives = np.zeros(X.shape[0], bool)
    positives[Y[:, [label]].nonzero()[0]] = True
    p, x = (np.asarray(X[rows].mean(axis=0)).ravel() for rows in (positives, slice(None)))
    share = positives.mean()
    gram = np.array([[p @ p, x @ p], [x @ p, x @ x]])
    u, v = np.linalg.solve(gram, [1.0, -2.0 + 3.0 * share])
    model = open_model(results.folder / "mean-separating" / "model.h5")
    scores = {
        "at the mean-separating start": X @ (u * p + v * x),
        "at the optimum": X @ model.weights.to_scipy()[[label]].toarray().ravel(),
    }

    def paint(axes):
        for axis, (title, score) in zip(axes, scores.items(), strict=True):
            bins = np.linspace(-4, 4, 65)
            for rows, colour, name in ((~positives, COLOURS[1], "negatives"), (positives, COLOURS[0], "positives")):
                axis.hist(
                    np.clip(score[rows], -3.99, 3.99),
                    bins,
                    weights=np.full(rows.sum(), 1 / rows.sum()),
                    color=colour,
                    alpha=0.75,
                    label=name,
                )
            axis.axvline(-1, color=INK, linestyle=":", linewidth=1)
            axis.axvline(1, color=INK, linestyle=":", linewidth=1)
            axis.set(title=title, xlabel="score", ylim=(0, 0.3))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
        axes[0].legend()

    draw(
        "mean-separating",
        "Scores of positives and negatives of a label at the start and at the optimum",
        paint,
        2,
        (7.4, 3.0),
    )


def label_tree(results):
    """The largest subtrees of middling size, drawn."""
    from ovaflow.artifacts.label_tree import read_label_tree

    tree = read_label_tree(results.folder / "label_tree.h5", results.dataset.checksum)
    names = results.dataset.label_names
    sizes = np.bincount(tree.subtree)
    shown = [int(s) for s in np.argsort(-np.where((sizes >= 5) & (sizes <= 9), sizes + tree_height(tree) / 10, 0))[:3]]
    order = [int(j) for s in shown for j in tree.order if tree.subtree[j] == s]
    place = {j: (int(tree.depth[j]), -k) for k, j in enumerate(order)}
    place[-1] = (0, -(len(order) - 1) / 2)

    def paint(axes):
        for j in order:
            parent = int(tree.parent[j])
            (x0, y0), (x1, y1) = place[parent], place[j]
            axes.plot([x0, x0 + 0.5, x1], [y0, y1, y1], color=LINE, linewidth=1.2)
            axes.text(x1 + 0.06, y1, f"{names[j]}  ", va="center", fontsize=9, color=INK)
            axes.text(x1 - 0.06, y1 + 0.12, str(tree.distance[j]), ha="right", fontsize=8, color=COLOURS[0])
            axes.plot(x1, y1, "o", color=COLOURS[0], markersize=4)
        axes.text(-0.05, place[-1][1], "root:\nno positives", ha="right", va="center", fontsize=9)
        axes.plot(*place[-1], "o", color=COLOURS[1], markersize=6)
        axes.set_xlim(-1.1, max(x for x, _ in place.values()) + 1.6)
        axes.axis("off")

    draw(
        "label-tree",
        "Three subtrees of the label tree of docstrings; numbers are Hamming distances",
        paint,
        1,
        (7.4, 0.26 * len(order) + 0.5),
    )


def tree_height(tree):
    """Depth of the deepest label of each subtree."""
    height = np.zeros(int(tree.subtree.max()) + 1)
    np.maximum.at(height, tree.subtree, tree.depth)
    return height


def pruning(results):
    """P@1 and size by the pruning threshold."""
    unpruned = results.json("mean-separating", "metrics.json") | {"prune": 0.01}
    rows = [unpruned, *results.json("mean-separating", "prune.json")["points"]]

    def paint(axes):
        t = [row["prune"] for row in rows]
        for k in (1, 3, 5):
            axes[0].plot(t, [100 * row[f"P@{k}"] for row in rows], marker="o", markersize=3.5, label=f"P@{k}")
        axes[1].plot(t, [row["nonzeros"] / 1e6 for row in rows], marker="o", markersize=3.5, color=COLOURS[1])
        for axis, title in zip(axes, ("quality, %", "weights, millions"), strict=True):
            axis.set(xscale="log", xlabel="threshold", title=title)
            axis.set_xticks([0.01, 0.03, 0.1, 0.3, 1], ["0.01", "0.03", "0.1", "0.3", "1"])
        axes[0].legend()

    draw(
        "pruning",
        "Quality and number of weights of a docstrings model pruned at different thresholds",
        paint,
        2,
        (7.4, 3.0),
    )


def shards(results):
    """Work and labels of each shard."""
    table = np.loadtxt(results.folder / "mean-separating" / "shards.tsv", skiprows=1)
    counts = np.bincount(results.dataset.train.Y.indices, minlength=results.dataset.train.Y.n_columns)

    def paint(axes):
        n = int(table[:, 0].max()) + 1
        work = [table[table[:, 0] == s, 2].sum() for s in range(n)]
        labels = [np.sum(table[:, 0] == s) for s in range(n)]
        axes[0].bar(range(n), np.array(work) / sum(work), color=COLOURS[0], width=0.6)
        axes[0].bar(np.arange(n) + 0.0, np.array(labels) / sum(labels), color=COLOURS[1], width=0.25)
        axes[0].set(title="share of the work (wide) and of the labels (narrow)", xlabel="shard", xticks=range(n))
        axes[1].loglog(np.sort(counts)[::-1], color=COLOURS[0])
        axes[1].set(title="positives of each label", xlabel="labels, most frequent first")

    draw("shards", "Work and labels of shards, and the long tail behind them", paint, 2, (7.4, 3.0))


def fastxml(results):
    """P@k by number of trees."""
    curve = results.json("fastxml", "trees.json")["points"]

    def paint(axes):
        for k in (1, 3, 5):
            axes.plot(
                [row["trees"] for row in curve],
                [100 * row[f"P@{k}"] for row in curve],
                marker="o",
                markersize=3.5,
                label=f"P@{k}",
            )
        axes.set(xlabel="trees", ylabel="%")
        axes.legend()

    draw("fastxml", "P@k of FastXML on docstrings by the number of trees", paint)


def rembrandt(results):
    """Eigenvalues of the embedding."""
    import h5py

    [path] = (results.folder / "embeddings").glob("*.h5")
    with h5py.File(path) as file:
        found, labels = file["eigenvalues"][()], file["label_covariance"][()]

    def paint(axes):
        axes.semilogy(np.arange(1, len(labels) + 1), labels, color=COLOURS[1], label="of the labels alone")
        axes.semilogy(np.arange(1, len(found) + 1), found, color=COLOURS[0], label="of what the features say of them")
        axes.set(xlabel="dimension", ylabel="eigenvalue / n")
        axes.legend()

    draw("rembrandt", "Leading eigenvalues of an embedding of docstrings", paint)


def prediction_index(results):
    """Rounded against exact scores of one instance, with the bound."""
    model = open_model(results.folder / "mean-separating" / "model.h5")
    panel = index.build_panel(model.weights, model.trained, 0, model.n_labels)
    X = results.dataset.test.X
    start, end = (int(X.indptr[7]), int(X.indptr[8]))
    rounded = np.empty(model.n_labels, np.float32)
    index.rounded_scores(X.data, X.indices, start, end, panel, rounded)
    bound = float(index.error_bound(X.data, X.indices, start, end, panel))
    dense = np.zeros(X.n_columns, np.float32)
    dense[X.indices[start:end]] = X.data[start:end]
    exact = model.weights.to_scipy() @ dense
    best = np.argsort(-exact)[:12]

    def paint(axes):
        gap = 1e4 * (rounded[best] - exact[best])
        axes[0].bar(range(len(best)), exact[best], color=[COLOURS[0]] * 5 + [LINE] * 7)
        axes[0].set(
            title="exact scores of the twelve best labels",
            xlabel="rank",
            xticks=range(0, 12, 2),
            xticklabels=range(1, 13, 2),
        )
        axes[1].axhspan(-1e4 * bound, 1e4 * bound, color=COLOURS[1], alpha=0.2)
        axes[1].plot(range(len(best)), gap, "o", color=COLOURS[0])
        axes[1].set(
            title="rounded - exact, in 1/10,000; band: the bound",
            xlabel="rank",
            xticks=range(0, 12, 2),
            xticklabels=range(1, 13, 2),
        )

    draw(
        "prediction-index",
        "Rounded and exact scores of a test instance of docstrings, and the bound",
        paint,
        2,
        (7.4, 3.0),
    )


def calibration(results):
    """Probabilities against how often they are right."""
    curve = results.json("mean-separating", "calibration.json")

    def paint(axes):
        axes.plot([0, 1], [0, 1], color=LINE)
        for fit, colour in ((curve["probabilities"][0], COLOURS[1]), (curve["probabilities"][-1], COLOURS[0])):
            bins = [each for each in fit["bins"] if each["predictions"]]
            points = [[each[name] for each in bins] for name in ("probability", "hits")]
            axes.plot(*points, marker="o", markersize=4, color=colour, label=fit["name"])
        axes.legend()
        axes.set(xlabel="probability that was said", ylabel="share that was right", aspect="equal")

    draw("calibration", "Probabilities of predicted labels and how often they were right", paint, 1, (4.2, 4.0))


STEPS = [
    [("texts,\nlabels", 0)], [("prepare", 1)], [("means", 1), ("label tree", 1), ("plan", 1)],
    [("train\nshard 1", 1), ("train\nshard 2", 1), ("train\nshard N", 1)],
    [("merge", 1)], [("predict", 1)], [("report", 0)],
]  # fmt: skip


def data_flow(_):
    """The steps from the source to the report."""

    def paint(axes):
        places = [
            [(2.1 * k, 1.1 * ((len(column) - 1) / 2 - r)) for r in range(len(column))] for k, column in enumerate(STEPS)
        ]
        for column, after in pairwise(places):
            for x0, y0 in column:
                for x1, y1 in after:
                    axes.annotate(
                        "",
                        (x1 - 0.72, y1),
                        (x0 + 0.72, y0),
                        arrowprops={"arrowstyle": "-|>", "color": LINE, "linewidth": 1.1},
                    )
        for column, names in zip(places, STEPS, strict=True):
            for (x, y), (name, step) in zip(column, names, strict=True):
                box = {
                    "boxstyle": "round,pad=0.45",
                    "facecolor": COLOURS[0] + "22" if step else "none",
                    "edgecolor": COLOURS[0] if step else COLOURS[1],
                }
                axes.text(x, y, name, ha="center", va="center", bbox=box, fontsize=10)
        axes.set(xlim=(-0.9, 13.5), ylim=(-1.8, 1.8))
        axes.axis("off")

    draw("data-flow", "Steps from texts and labels to the report", paint, 1, (8.6, 2.5))


DRAWN = (
    data_flow,
    mean_separating,
    starts,
    newton,
    label_tree,
    pruning,
    shards,
    prediction_index,
    calibration,
    fastxml,
    rembrandt,
)

if __name__ == "__main__":
    chosen = sys.argv[2:]
    for drawn in DRAWN:
        if not chosen or drawn.__name__ in chosen:
            drawn(Results(sys.argv[1]) if drawn is not data_flow else None)
