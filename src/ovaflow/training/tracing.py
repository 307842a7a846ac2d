"""Recording every Newton iteration of a sample of labels, beside the training."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.initialization.label_tree import parents_first, with_ancestors
from ovaflow.model.trace_file import ITERATIONS, Trace
from ovaflow.solver.problem import Outcome, make_workspace
from ovaflow.solver.recording import refined_objective, solve_recorded
from ovaflow.training.label_jobs import LabelJobs, keep_solution
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
    return np.sort(stratified_sample(counts, n_labels, seed)[0])


def trace_labels(dataset, inputs, labels, training, made_from=None):
    """Solve some labels with the plain solver on all instances and record every iteration.

    Parameters
    ----------
    dataset : Dataset
    inputs : StartInputs
    labels : ndarray of int64, shape (m,)
    training : Training
    made_from : dict of str to str, optional
        Checksums of artifacts used beside the dataset, by kind.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If the regularisation is L1.
    """
    if training.regularization == "l1":
        raise InputError("a trace follows Newton's method, which L1 problems do not use", remedy="trace an L2 training")
    order = labels
    if inputs.parents is not None:
        order = parents_first(with_ancestors(labels, inputs.parents), inputs.parents)
    jobs = LabelJobs.of(dataset, inputs.within(order), training.model_copy(update={"reference": True}))
    work = make_workspace(jobs.X.n_rows, jobs.X.n_columns)
    # compiled or loaded, and the pages of X in memory, before anything is timed
    for label in labels[:1].tolist():
        _trace_label(replace(jobs, start=jobs.ranking), label, work)
    solved = {}
    with Progress("trace", len(order), "labels") as progress:
        for label in order.tolist():
            solved[label] = _trace_label(jobs, label, work)
            progress.advance()
    solved = [solved[label] for label in labels.tolist()]
    of_labels = {"labels": labels, "positives": inputs.means.counts[labels], **_of_labels(solved)}
    return Trace(
        of_labels,
        np.cumsum([0, *(len(each.records) for each in solved)]),
        {name: np.array([getattr(record, name) for each in solved for record in each.records]) for name in ITERATIONS},
        WEIGHT_EDGES,
        sum((each.weight_counts for each in solved), np.zeros(len(WEIGHT_EDGES) - 1, np.int64)),
        jobs.X.n_rows,
        training.recorded,
        {"dataset": dataset.checksum} | (made_from or {}),
    )


class _Traced(NamedTuple):
    outcome: Outcome
    records: list
    optimum: float
    weight_counts: np.ndarray


def _trace_label(jobs, label, work):
    positives = jobs.positives_of(label)
    jobs.start.fill(label, jobs.X, positives, work.weights)
    problem = jobs.X, positives, jobs.targets[label], work, jobs.settings, jobs.positive_costs[label]
    outcome, records = solve_recorded(*problem)
    keep_solution(jobs, label, work.weights)
    counts, _ = np.histogram(np.clip(work.weights, WEIGHT_EDGES[0], WEIGHT_EDGES[-1]), WEIGHT_EDGES)
    return _Traced(outcome, records, min(refined_objective(*problem), outcome.objective), counts)


def _of_labels(solved):
    return {
        "target": np.array([each.outcome.gradient_target for each in solved]),
        "optimum": np.array([each.optimum for each in solved]),
        "status": np.array([each.outcome.status for each in solved]),
    }
