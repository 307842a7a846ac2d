"""Growth of the cost of a label with the instances, features and labels of a dataset."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import scipy.sparse
from label_costs import sample_labels
from matplotlib.figure import Figure
from tables import align

from ovaflow.dataset.dataset import Dataset, Split, open_dataset
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import from_scipy, select_rows
from ovaflow.training.shard_job import train_labels

SHARES = (0.125, 0.25, 0.5, 1.0)
"""Shares of the instances, of the features and of the sampled labels."""

FEWEST_POSITIVES = 2
"""Positives that a label must have in the smallest part."""

SOLVERS = {"fast": "#1f5fa8", "plain": "#8a8a8a"}
"""Colours of ovaflow's solver, and of the one that passes over all instances."""

AXES = {"n": "training instances", "d": "features (the most frequent)", "l": "labels"}


def measure(dataset: Dataset, n_labels: int, seed: int, training: TrainLabels) -> dict:
    """Measure each part and solver, and for each axis the slope of log time over log size.

    Instances are drawn at random, each part inside the next. The most frequent features are kept,
    and rows scaled back to unit length. The labels are the same on the first two axes.
    """
    points = []
    for axis, size, part, labels in _parts(dataset, n_labels, seed):
        inputs = compute_start_inputs(part, training)
        by_count = labels[np.argsort(inputs.means.counts[labels])]
        for solver in SOLVERS:
            settings = training.model_copy(update={"reference": solver == "plain"})
            # loads the kernels before anything is timed
            train_labels(part, inputs, np.unique(by_count[[0, -1]]), settings, title="warm up")
            title = f"{axis} = {size:,}, {solver}"
            trained = train_labels(part, inputs, labels, settings, title=title)
            points.append(
                {
                    "axis": axis,
                    "size": size,
                    "solver": solver,
                    "labels": len(labels),
                    "cpu_ms_per_label": 1000 * float(trained.statistics["seconds"].mean()),
                    "newton_per_label": float(trained.statistics["newton_steps"].mean()),
                    "full_passes_per_label": float(trained.statistics["full_passes"].mean()),
                }
            )
    return {"points": points, "exponents": {name: _exponents(points, name) for name in AXES}}


def _parts(
    dataset: Dataset, n_labels: int, seed: int
) -> Iterator[tuple[str, int, Dataset, np.ndarray]]:
    """Yield axis, size, dataset and labels of each part."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(dataset.train.X.n_rows)
    width = _width(dataset)
    shrunk = [with_instances(dataset, np.sort(order[:size])) for size in _sizes(len(order))]
    left = np.bincount(shrunk[0].train.Y.indices, minlength=dataset.n_labels)
    labels = sample_labels(np.where(left >= FEWEST_POSITIVES, left, 0), n_labels, seed)
    if not len(labels):
        raise click.UsageError("no label has two positives in an eighth of the instances")
    for part in shrunk:
        yield "n", part.train.X.n_rows, part, labels
    for size in _sizes(width):
        yield "d", size, with_frequent_features(dataset, size), labels
    drawn = generator.permutation(labels)
    for size in _sizes(len(labels)):
        yield "l", size, dataset, np.sort(drawn[:size])


def _sizes(whole: int) -> list[int]:
    return [max(1, round(share * whole)) for share in SHARES]


def with_instances(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Return a dataset with some of the training instances, in memory."""
    X = dataset.train.X
    Y = dataset.train.Y
    return _with_train(dataset, Split(select_rows(X, rows), select_rows(Y, rows)))


def with_frequent_features(dataset: Dataset, width: int) -> Dataset:
    """Return a dataset with the most frequent features and rows of unit length, in memory."""
    X = dataset.train.X.to_scipy()
    plain = _width(dataset)
    frequency = np.bincount(X.indices, minlength=X.shape[1])[:plain]
    kept = X[:, np.sort(np.argsort(-frequency, kind="stable")[:width])].astype(np.float64)
    norms = np.sqrt(kept.multiply(kept).sum(axis=1))
    scaled = scipy.sparse.diags_array(1.0 / np.maximum(norms, 1e-12)) @ kept
    # the bias feature stays as it is
    X = from_scipy(scipy.sparse.hstack([scaled, X[:, plain:]]))
    return _with_train(dataset, Split(X, dataset.train.Y))


def _width(dataset: Dataset) -> int:
    """Return the number of features without the bias feature."""
    if dataset.bias_feature >= 0:
        return dataset.n_features - 1
    return dataset.n_features


def _with_train(dataset: Dataset, train: Split) -> Dataset:
    return Dataset(dataset.path, train, dataset.test, "", dataset.parameters)


def _exponents(points: list[dict], axis: str) -> dict[str, float]:
    exponents = {}
    for solver in SOLVERS:
        sizes, times = np.log(_line(points, axis, solver))
        exponents[solver] = float(np.polyfit(sizes, times, 1)[0])
    return exponents


def _line(points: list[dict], axis: str, solver: str) -> np.ndarray:
    """Return sizes and times of a solver, shape (2, parts)."""
    sizes = []
    times = []
    for point in points:
        if point["axis"] == axis and point["solver"] == solver:
            sizes.append(point["size"])
            times.append(point["cpu_ms_per_label"])
    return np.array([sizes, times])


def format_table(growth: dict) -> str:
    """Format the measurement as text."""
    lines = [["size, solver", "labels", "CPU ms/label", "Newton", "full passes"]]
    for point in growth["points"]:
        name = "{axis} = {size:,}, {solver}".format(**point)
        lines.append(
            [
                name,
                str(point["labels"]),
                f"{point['cpu_ms_per_label']:.3g}",
                f"{point['newton_per_label']:.1f}",
                f"{point['full_passes_per_label']:.1f}",
            ]
        )
    exponents = []
    for axis, of_solvers in growth["exponents"].items():
        for solver, exponent in of_solvers.items():
            exponents.append(f"{solver}: CPU time of a label grows as {axis}^{exponent:.2f}")
    return "\n".join([align(lines), "", *exponents])


def draw(growth: dict, path: str) -> None:
    """Draw the processor time of a label over each size, all axes logarithmic."""
    canvas = Figure(figsize=(11, 3.6), layout="constrained")
    panels = canvas.subplots(1, len(AXES), sharey=True)
    for axes, (axis, title) in zip(panels, AXES.items(), strict=True):
        for solver, colour in SOLVERS.items():
            sizes, times = _line(growth["points"], axis, solver)
            exponent = growth["exponents"][axis][solver]
            axes.plot(
                sizes, times, marker="o", color=colour, label=f"{solver}: {axis}^{exponent:.2f}"
            )
        axes.set(xscale="log", yscale="log", xlabel=title)
        axes.legend(frameon=False)
    panels[0].set_ylabel("CPU time of a label in ms")
    canvas.savefig(path, dpi=160)


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--labels",
    type=click.IntRange(1),
    default=128,
    show_default=True,
    help="Size of the sample; the fast solver takes 64 at a time.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the sample."
)
@click.option("--C", "C", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@click.option("--figure", type=click.Path(dir_okay=False), help="Figure to draw.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(dataset, labels, seed, C, figure, as_json) -> None:
    """Measure the cost of a label on 1/8, 1/4, 1/2 and all of DATASET (dataset.h5)."""
    growth = measure(open_dataset(dataset).documents, labels, seed, TrainLabels(C=C))
    if figure:
        draw(growth, figure)
    click.echo(json.dumps(growth) if as_json else format_table(growth))


if __name__ == "__main__":
    main()
