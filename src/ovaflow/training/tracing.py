"""Recording every Newton iteration of a sample of labels, beside the training."""

from dataclasses import replace

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.model.trace_file import ITERATIONS, Trace
from ovaflow.solver.problem import make_workspace
from ovaflow.solver.recording import refined_objective, solve_recorded
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.sampling import stratified_sample

_BIN = 0.02
_BINS_EACH_SIDE = 150

WEIGHT_EDGES = _BIN * (np.arange(-_BINS_EACH_SIDE, _BINS_EACH_SIDE + 2) - 0.5)
"""Bins of weights: the middle one holds what pruning at 0.01 drops."""


def traced_labels(counts, n_labels, seed):
    """Labels to record, spread over their frequencies; the same for all runs of a dataset.

    Parameters
    ----------
    counts : ndarray of int64, shape (l,)
        Positives of each label.
    n_labels : int
        Wanted number, met about.
    seed : int

    Returns
    -------
    ndarray of int64
        Ascending, all with positives.
    """
    strata = stratified_sample(counts, np.zeros(len(counts), bool), n_labels, seed)
    return np.sort(np.concatenate([np.empty(0, np.int64), *(stratum.labels for stratum in strata)]))


def trace_labels(dataset, inputs, labels, training):
    """Solve some labels with the plain solver on all instances and record every iteration.

    Parameters
    ----------
    dataset : Dataset
    inputs : StartInputs
    labels : ndarray of int64, shape (m,)
    training : Training

    Returns
    -------
    Trace
    """
    jobs = LabelJobs.of(dataset, inputs, replace(training, reference=True))
    work = make_workspace(jobs.X.n_rows, jobs.X.n_columns)
    # compiled or loaded, and the pages of X in memory, before anything is timed
    for label in labels[:1].tolist():
        _solve(jobs, label, work)
    solved, counts = [], np.zeros(len(WEIGHT_EDGES) - 1, np.int64)
    with Progress("trace", len(labels), "labels") as progress:
        for label in labels.tolist():
            outcome, records = _solve(jobs, label, work)
            counts += np.histogram(np.clip(work.weights, WEIGHT_EDGES[0], WEIGHT_EDGES[-1]), WEIGHT_EDGES)[0]
            optimum = refined_objective(*_problem(jobs, label, work))
            solved.append((outcome, records, min(optimum, outcome.objective)))
            progress.advance()
    return _assemble(dataset, labels, inputs.means.counts[labels], solved, counts, training)


def _solve(jobs, label, work):
    jobs.start.fill(label, jobs.X, jobs.positives_of(label), work.weights)
    return solve_recorded(*_problem(jobs, label, work))


def _problem(jobs, label, work):
    positives, target, cost = jobs.positives_of(label), jobs.targets[label], jobs.positive_costs[label]
    return jobs.X, positives, target, work, jobs.settings, cost


def _assemble(dataset, labels, positives, solved, weight_counts, training):
    outcomes, records, optima = zip(*solved, strict=True) if solved else ((), (), ())
    of_labels = {
        "labels": labels,
        "positives": positives,
        "target": [outcome.gradient_target for outcome in outcomes],
        "optimum": optima,
        "status": [outcome.status for outcome in outcomes],
    }
    iterations = {name: [getattr(record, name) for each in records for record in each] for name in ITERATIONS}
    starts = np.cumsum([0, *(len(each) for each in records)])
    return Trace(
        {name: np.asarray(values) for name, values in of_labels.items()},
        starts,
        {name: np.asarray(values) for name, values in iterations.items()},
        WEIGHT_EDGES,
        weight_counts,
        dataset.train.X.n_rows,
        training.parameters,
        {"dataset": dataset.checksum},
    )
