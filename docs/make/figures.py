r"""Draw the figures of the documentation from the results of docs/make/figures.yaml.

    ovaflow run docs/make/figures.yaml       # in an empty folder, two minutes
    python benchmarks/iterations.py results/docstrings/dataset.h5 --labels=40 \
        --output=results/docstrings/iterations.csv
    python docs/make/figures.py FOLDER       # writes docs/figures/*.svg

Without FOLDER only data-flow.svg and packages.svg are drawn.

Colours lie between light and dark, so that a figure is readable on both.
"""

import csv
import re
import sys
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter
from scipy.sparse import csr_array

from ovaflow.dataset.dataset import open_dataset
from ovaflow.model.one_vs_all import OneVsAll

FIGURES = Path(__file__).parents[1] / "figures"
INK = "#7d858f"
LINE = "#7d858f55"
COLOURS = ["#1a9e8f", "#d9822b", "#7a6fd0", "#d0567f"]

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "ovaflow",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.titlesize": 10,
        "axes.spines.right": False,
        "axes.titlecolor": INK,
        "legend.frameon": False,
        "legend.labelcolor": INK,
        "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    }
)


def draw(
    name: str,
    title: str,
    paint: Callable,
    panels: int = 1,
    size: tuple[float, float] = (7.4, 3.0),
) -> None:
    """Draw a figure of one or more axes and write it, the same bytes each time.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    title : str
        Title in the metadata.
    paint : callable
        Function that draws on the axes.
    panels : int
        Number of axes.
    size : tuple of float
        Width and height in inches.
    """
    figure = Figure(figsize=size, layout="constrained")
    paint(figure.subplots(1, panels))
    path = FIGURES / f"{name}.svg"
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None, "Title": title})
    text = re.sub(
        r"<metadata>.*?</metadata>|<!DOCTYPE.*?>|<!--.*?-->",
        "",
        path.read_text("utf-8"),
        flags=re.DOTALL,
    )
    text = re.sub(r"(\d+\.\d)\d+", r"\1", " ".join(text.split()))
    # the reader's own font
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font: \1 system-ui, sans-serif", text)
    path.write_text(text.replace("> <", ">\n<") + "\n", encoding="utf-8")


STEPS = [
    ["texts,\nlabels"],
    ["prepare"],
    ["means", "label tree", "plan"],
    ["train\nshard 1", "train\nshard 2", "train\nshard N"],
    ["merge"],
    ["predict"],
    ["report"],
]


def data_flow() -> None:
    """Draw the steps from the source to the report."""
    positions = []
    for k, names in enumerate(STEPS):
        middle = (len(names) - 1) / 2
        positions.append([(2.1 * k, 1.1 * (middle - row)) for row in range(len(names))])

    def paint(axes: Axes) -> None:
        for column, next_column in pairwise(positions):
            for (x0, y0), (x1, y1) in product(column, next_column):
                axes.plot([x0 + 0.75, x1 - 0.75], [y0, y1], color=LINE, linewidth=1.1)
        for column, names in zip(positions, STEPS, strict=True):
            is_end = column in (positions[0], positions[-1])
            colour = COLOURS[1] if is_end else COLOURS[0]
            for (x, y), name in zip(column, names, strict=True):
                axes.text(x, y, name, ha="center", va="center", bbox=_make_box(colour))
        axes.set(xlim=(-0.9, 13.5), ylim=(-1.8, 1.8))
        axes.axis("off")

    draw("data-flow", "Steps from texts and labels to the report", paint, size=(8.6, 2.5))


def _make_box(colour: str) -> dict[str, str]:
    """Make the box around a name."""
    return {"boxstyle": "round,pad=0.45", "facecolor": colour + "22", "edgecolor": colour}


PACKAGES = {
    "reading": (0, 1),
    "records": (1, 1),
    "labels": (2, 1.5),
    "features": (2, 0.5),
    "dataset": (3, 1),
    "training": (4, 1),
    "model": (5, 1),
    "reranking": (5, -0.4),
    "prediction": (4, -0.4),
    "report,\nserving": (3, -0.4),
}
"""Position of each package that a record and its answer pass."""

PATHS = {
    "a record": [
        "reading records",
        "records labels",
        "records features",
        "labels dataset",
        "features dataset",
        "dataset training",
        "training model",
    ],
    "an answer": ["model reranking", "reranking prediction", "prediction report,\nserving"],
}
"""Pairs of packages that a record or an answer passes, by name."""
PATH_NAMES = {"a record": (0, 1.5), "an answer": (5.5, 0.3)}
"""Positions of the names."""


def packages() -> None:
    """Draw the path of a record from its file to the model, and of an answer back."""

    def paint(axes: Axes) -> None:
        boxes = {}
        for name, (x, y) in PACKAGES.items():
            colour = COLOURS[0] if y > 0 else COLOURS[1]
            text = axes.text(x, y, name, ha="center", va="center", bbox=_make_box(colour))
            boxes[name] = text.get_bbox_patch()
        for number, (path, steps) in enumerate(PATHS.items()):
            colour = COLOURS[number]
            for step in steps:
                start, end = step.split(" ")
                arrow = {
                    "arrowstyle": "->",
                    "color": colour,
                    "patchA": boxes[start],
                    "patchB": boxes[end],
                    "shrinkA": 3,
                    "shrinkB": 3,
                }
                axes.annotate("", PACKAGES[end], PACKAGES[start], arrowprops=arrow)
            x, y = PATH_NAMES[path]
            axes.text(x, y, path, ha="center", va="center", color=colour, style="italic")
        axes.set(xlim=(-0.5, 5.9), ylim=(-0.9, 1.9))
        axes.axis("off")

    draw(
        "packages",
        "The way of a record from its file to the model, and of an answer back",
        paint,
        size=(8.6, 2.9),
    )


def mean_separating(folder: Path) -> None:
    """Draw the scores of a label's instances at its start and at the optimum."""
    dataset = open_dataset(folder / "dataset.h5")
    model = OneVsAll.open(folder / "mean-separating" / "model.h5")
    X = dataset.train.X.to_scipy()
    Y = csr_array(dataset.train.Y.to_scipy()).tocsc()
    label = int(np.argmin(np.abs(np.diff(Y.indptr) - 300)))
    positives = np.zeros(X.shape[0], bool)
    positives[Y.indices[Y.indptr[label] : Y.indptr[label + 1]]] = True
    p = np.asarray(X[positives].mean(axis=0)).ravel()
    x = np.asarray(X[:].mean(axis=0)).ravel()
    u, v = np.linalg.solve([[p @ p, x @ p], [x @ p, x @ x]], [1.0, -2.0 + 3.0 * positives.mean()])
    scores = {
        "at the mean-separating start": X @ (u * p + v * x),
        "at the optimum": X @ model.weights.to_scipy()[[label]].toarray().ravel(),
    }

    def paint(axes: np.ndarray) -> None:
        edges = np.linspace(-4, 4, 33)
        for axis, (title, score) in zip(axes, scores.items(), strict=True):
            for rows, colour, name in (
                (~positives, COLOURS[1], "negatives"),
                (positives, COLOURS[0], "positives"),
            ):
                counts, _ = np.histogram(np.clip(score[rows], -3.99, 3.99), edges)
                axis.stairs(
                    counts / rows.sum(), edges, fill=True, color=colour, alpha=0.7, label=name
                )
            axis.set(title=title, xlabel="score", ylim=(0, 0.4), xticks=[-3, -1, 1, 3])
            axis.yaxis.set_major_formatter(PercentFormatter(1, 0))
        axes[0].legend()

    draw(
        "mean-separating",
        "Scores of a label's positives and negatives at the start and at the optimum",
        paint,
        2,
    )


def starts(folder: Path) -> None:
    """Draw the distance to the optimum after each Newton step."""
    runs = ("mean-separating", "all-negative", "bias", "zero")
    paths = {run: _read_objectives(folder / "iterations.csv", run) for run in runs}
    n_labels = len(paths["zero"])
    lowest = []
    for label in range(n_labels):
        lowest.append(min(min(paths[run][label]) for run in runs))
    scale = [paths["zero"][label][0] - lowest[label] for label in range(n_labels)]

    def paint(axes: Axes) -> None:
        for run, objectives in paths.items():
            medians = []
            for k in range(10):
                above = []
                for path, low, by in zip(objectives, lowest, scale, strict=True):
                    above.append((path[min(k, len(path) - 1)] - low) / by)
                medians.append(np.median(above))
            axes.semilogy(np.maximum(medians, 1e-7), marker="o", markersize=3.5, label=run)
        axes.set(
            xlabel="Newton steps",
            ylabel="objective above the optimum\n(start from zero = 1), median",
        )
        axes.set(xlim=(-0.2, 9.5), ylim=(1e-6, 3), yticks=[1, 1e-2, 1e-4, 1e-6])
        axes.yaxis.set_minor_locator(NullLocator())
        axes.legend()

    draw(
        "starts",
        f"Objective after each Newton step from four starts, median of {n_labels} labels",
        paint,
    )


def _read_objectives(path: Path, start: str) -> list[list[float]]:
    """Read the objectives of each label, iteration by iteration."""
    objectives = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["start"] == start:
                objectives.setdefault(int(row["label"]), []).append(float(row["objective"]))
    return [objectives[label] for label in sorted(objectives)]


if __name__ == "__main__":
    data_flow()
    packages()
    for argument in sys.argv[1:]:
        folder = Path(argument) / "results" / "docstrings"
        mean_separating(folder)
        starts(folder)
