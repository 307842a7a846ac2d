"""How the cost of a label grows with the number of instances and of features."""

import time

import numpy as np
import scipy.sparse

from ovaflow.benchmark.solver import sample_labels
from ovaflow.console.progress import Progress
from ovaflow.data.dataset import Dataset, Split
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.sparse.csr import from_scipy, rows_of
from ovaflow.training.label_jobs import LabelJobs, LabelSolver
from ovaflow.training.label_queue import LabelQueue

SHARES = (0.125, 0.25, 0.5, 1.0)
"""Parts of the instances, and of the features, that are kept."""

FEWEST_POSITIVES = 2
"""Positives that a label must have left in the smallest part."""


def measure_growth(dataset, n_labels, seed, training, repeats=1):
    """Cost of the same labels on growing parts of a dataset, for the fast and the plain solver.

    Instances are drawn at random, each part inside the next. The most frequent features are kept and rows scaled back
    to unit length. For each axis ("n", "d") and solver, the exponent is the slope of log CPU time over log size;
    ``on_working_sets`` is the share of labels that the fast solver does not hand to the plain one.
    """
    parts, labels = _parts(dataset.documents, n_labels, seed)
    points = []
    with Progress("growth", 2 * len(parts) * repeats, "runs") as progress:
        for axis, size, part in parts:
            inputs = compute_start_inputs(part, training)
            for name in ("fast", "plain"):
                jobs = LabelJobs.of(part, inputs, training.model_copy(update={"reference": name == "plain"}))
                point = {"axis": axis, "size": size, "nonzeros": len(part.train.X.data), "solver": name}
                points.append(point | _median_cost(jobs, inputs.means, labels, repeats, progress))
    fits = [_fit(points, axis, name) for axis in ("n", "d") for name in ("fast", "plain")]
    return {"labels": len(labels), "points": points, "fits": fits}


def growth_table(growth):
    """The measurement as text."""
    header = "of      size     nonzeros  solver  CPU ms/label  ms/label  Newton  full passes  on working sets"
    lines = [f"{growth['labels']} labels", header]
    for point in growth["points"]:
        lines.append(
            "{axis:2}{size:10,}{nonzeros:13,}  {solver:6}{cpu_ms_per_label:14.3g}{ms_per_label:10.3g}"
            "{newton_per_label:8.1f}{full_passes_per_label:13.1f}{on_working_sets:17.0%}".format(**point)
        )
    fits = ["{solver}: CPU time of a label grows as {axis}^{exponent:.2f}".format(**fit) for fit in growth["fits"]]
    return "\n".join([*lines, "", *fits])


def _parts(dataset, n_labels, seed):
    """Parts of a dataset, and labels that can be trained on all of them."""
    order = np.random.default_rng(seed).permutation(dataset.train.X.n_rows)
    sizes = [max(1, round(share * len(order))) for share in SHARES]
    parts = [("n", size, with_instances(dataset, np.sort(order[:size]))) for size in sizes]
    widths = [max(1, round(share * _width(dataset))) for share in SHARES]
    parts += [("d", width, with_frequent_features(dataset, width)) for width in widths]
    left = np.bincount(parts[0][2].train.Y.indices, minlength=dataset.n_labels)
    return parts, sample_labels(np.where(left >= FEWEST_POSITIVES, left, 0), n_labels, seed)


def with_instances(dataset, rows):
    """A dataset with some of the training instances, in memory."""
    return _with_train(dataset, Split(rows_of(dataset.train.X, rows), rows_of(dataset.train.Y, rows)))


def with_frequent_features(dataset, width):
    """A dataset with the features of most training instances, its rows scaled to unit length again, in memory.

    The bias feature stays as it is.
    """
    X, plain = dataset.train.X.to_scipy(), _width(dataset)
    frequency = np.bincount(X.indices, minlength=X.shape[1])[:plain]
    kept = X[:, np.sort(np.argsort(-frequency, kind="stable")[:width])].astype(np.float64)
    norms = np.sqrt(kept.multiply(kept).sum(axis=1))
    scaled = scipy.sparse.diags_array(1.0 / np.maximum(norms, 1e-12)) @ kept
    return _with_train(dataset, Split(from_scipy(scipy.sparse.hstack([scaled, X[:, plain:]])), dataset.train.Y))


def _width(dataset):
    """Number of features without the bias feature."""
    return dataset.n_features - (dataset.parameters.get("bias", 0.0) != 0)


def _with_train(dataset, train):
    return Dataset(dataset.path, train, dataset.test, "", dataset.parameters)


def _median_cost(jobs, means, labels, repeats, progress):
    labels = labels[np.argsort(-means.counts[labels], kind="stable")]
    suited = jobs.suits_fast_path(means.counts[labels])
    _solve(jobs, labels[[0, -1]], np.array([False, jobs.fast_path is not None]))
    rounds = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.thread_time()
        outcomes = _solve(jobs, labels, suited)
        rounds.append((time.thread_time() - cpu, time.perf_counter() - wall))
        progress.advance()
    cpu, wall = np.median(rounds, axis=0)
    return {
        "cpu_ms_per_label": 1e3 * float(cpu) / len(labels),
        "ms_per_label": 1e3 * float(wall) / len(labels),
        "newton_per_label": float(np.mean([outcome.newton_steps for outcome in outcomes])),
        "full_passes_per_label": float(np.mean([outcome.full_passes for outcome in outcomes])),
        "on_working_sets": float(suited.mean()),
    }


def _solve(jobs, labels, fast):
    """Outcomes of labels solved on this thread, whose CPU time can be told."""
    queue = LabelQueue(labels.tolist(), fast.tolist())
    return [trained.outcome for _, trained in LabelSolver(jobs).solve_from(queue)]


def _fit(points, axis, name):
    chosen = [point for point in points if (point["axis"], point["solver"]) == (axis, name)]
    sizes, times = (np.log([point[name] for point in chosen]) for name in ("size", "cpu_ms_per_label"))
    return {"axis": axis, "solver": name, "exponent": float(np.polyfit(sizes, times, 1)[0])}
