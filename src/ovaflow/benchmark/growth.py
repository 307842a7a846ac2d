"""How the cost of a label grows with the number of instances and of features."""

import time
from dataclasses import replace

import numpy as np

from ovaflow.benchmark.sample import columns_of, sample_labels
from ovaflow.console.progress import Progress
from ovaflow.data.dataset import Dataset, Split
from ovaflow.sparse.csr import CSR, rows_of
from ovaflow.training.label_jobs import LabelJobs, solve_on_fast_path, solve_plainly
from ovaflow.training.start_inputs import compute_start_inputs

SHARES = (0.125, 0.25, 0.5, 1.0)
"""Parts of the instances, and of the features, that are kept."""

FEWEST_POSITIVES = 2
"""Positives that a label must have left in the smallest part."""


def measure_growth(dataset, n_labels, seed, training, repeats=1):
    """Cost of the same labels on growing parts of a dataset, for the fast and the plain solver.

    Instances are drawn at random, each part inside the next. Of the features
    the most frequent are kept and rows scaled back to unit length.

    Parameters
    ----------
    dataset : Dataset
    n_labels : int
        At most so many labels, drawn from those that keep enough positives in
        the smallest part.
    seed : int
    training : Training
    repeats : int
        Rounds; the median is kept.

    Returns
    -------
    dict
        ``points``: one for each ``axis`` ("n", "d"), part and ``solver``
        ("fast", "plain") with ``size``, ``nonzeros``, ``cpu_ms_per_label``,
        ``ms_per_label``, mean step counts, and ``on_working_sets``, the share of
        the labels that the fast solver does not hand to the plain one.
        ``fits``: ``exponent``, the slope of log CPU time over log size.
        ``labels``: how many.
    """
    parts, labels = _parts(dataset, n_labels, seed)
    points = []
    with Progress("growth", 2 * len(parts) * repeats, "runs") as progress:
        for axis, size, part in parts:
            inputs = compute_start_inputs(part, training)
            means = inputs.means
            for name in ("fast", "plain"):
                jobs = LabelJobs.of(part, inputs, replace(training, reference=name == "plain"))
                point = {"axis": axis, "size": size, "nonzeros": len(part.train.X.data), "solver": name}
                points.append(point | _median_cost(jobs, means, labels, repeats, progress))
    fits = [_fit(points, axis, name) for axis in ("n", "d") for name in ("fast", "plain")]
    return {"labels": len(labels), "points": points, "fits": fits}


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
    """A dataset with some of the training instances.

    Parameters
    ----------
    dataset : Dataset
    rows : ndarray of int64

    Returns
    -------
    Dataset
        In memory.
    """
    return _with_train(dataset, Split(rows_of(dataset.train.X, rows), rows_of(dataset.train.Y, rows)))


def with_frequent_features(dataset, width):
    """A dataset with the features that occur in the most training instances, its rows scaled to unit length again.

    Parameters
    ----------
    dataset : Dataset
    width : int
        Features to keep; the bias feature stays beside them.

    Returns
    -------
    Dataset
        In memory.
    """
    X = dataset.train.X
    frequency = np.bincount(X.indices, minlength=X.n_columns)[: _width(dataset)]
    kept = np.sort(np.argsort(-frequency, kind="stable")[:width])
    columns = np.concatenate([kept, np.arange(_width(dataset), X.n_columns)])
    return _with_train(dataset, Split(_unit_rows(columns_of(X, columns), len(kept)), dataset.train.Y))


def _width(dataset):
    """Number of features without the bias feature."""
    return dataset.n_features - (dataset.parameters.get("bias", 0.0) != 0)


def _with_train(dataset, train):
    return Dataset(dataset.path, train, dataset.test, "", dataset.parameters)


def _unit_rows(X, width):
    """Scale the first columns to unit rows; what stands behind them is the bias feature."""
    squares = np.where(X.indices < width, np.square(X.data, dtype=np.float64), 0.0)
    sums = np.concatenate([[0.0], np.cumsum(squares)])
    norms = np.sqrt(np.diff(sums[X.indptr]))
    scale = np.repeat(1.0 / np.maximum(norms, 1e-12), np.diff(X.indptr))
    return CSR(np.where(X.indices < width, X.data * scale, X.data).astype(np.float32), *X.arrays[1:], X.n_columns)


def _median_cost(jobs, means, labels, repeats, progress):
    labels = labels[np.argsort(-means.counts[labels], kind="stable")]
    suited = jobs.suits_fast_path(means.counts[labels])
    _solve(jobs, labels[:1], labels[-1:])
    rounds = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.thread_time()
        outcomes = _solve(jobs, labels[~suited], labels[suited])
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


def _solve(jobs, plain, screened):
    """Outcomes of labels solved on this thread, whose CPU time can be told."""
    solved = [*solve_plainly(jobs, iter(plain.tolist()))]
    if jobs.fast_path is not None:
        solved += solve_on_fast_path(jobs, iter(screened.tolist()))
    return [trained.outcome for _, trained in solved]


def _fit(points, axis, name):
    chosen = [point for point in points if (point["axis"], point["solver"]) == (axis, name)]
    sizes, times = (np.log([point[name] for point in chosen]) for name in ("size", "cpu_ms_per_label"))
    return {"axis": axis, "solver": name, "exponent": float(np.polyfit(sizes, times, 1)[0])}
