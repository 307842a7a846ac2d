"""Recording every Newton iteration of a sample of labels, separately from training, for the figures of the papers.

The kernels are those of :func:`ovaflow.solver.newton.minimise`, called step by step from Python: training itself
records nothing and is not slowed down.
"""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.initialization.label_tree import parents_first, with_ancestors
from ovaflow.model.trace_file import ITERATIONS, Trace
from ovaflow.solver.newton import FAILED, begin, pose, solve_label, take_step
from ovaflow.solver.objective import value
from ovaflow.solver.problem import Outcome, Status, make_workspace
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.plan import stratified_sample

_BIN = 0.02
_BINS_EACH_SIDE = 150

WEIGHT_EDGES = _BIN * (np.arange(-_BINS_EACH_SIDE, _BINS_EACH_SIDE + 2) - 0.5)
"""Bins of weights: the middle one holds what pruning at 0.01 drops."""

_REFINED = 1e-3
_MOST_REFINING_STEPS = 20


class Record(NamedTuple):
    """One Newton iteration, or the start before the first."""

    objective: float  # under the weights that the iteration leads to, as are the gradient and the active instances
    gradient_norm: float
    active: int
    step_length: float  # 0 at the start, and where the line search found none
    cg_steps: int
    seconds: float  # processor time without recording; other jobs do not affect it


def solve_recorded(X, positives, target, work, settings, positive_cost=1.0, n_documents=None):
    """Solve a label as :func:`~ovaflow.solver.newton.solve_label` does; returns its Outcome and a list of Records."""
    began = time.thread_time()
    pose(X, positives, np.float32(positive_cost), X.n_rows if n_documents is None else n_documents, work)
    at = begin(X, work, settings)
    seconds = time.thread_time() - began
    records, halvings, status = [_record(at, seconds, work, settings)], 0, Status.CONVERGED
    while at.gradient_norm > target:
        if len(records) > settings.max_newton:
            status = Status.ITERATION_LIMIT
            break
        began = time.thread_time()
        at = take_step(X, at, work, settings)
        seconds = time.thread_time() - began
        records.append(_record(at, seconds, work, settings))
        halvings += at.halvings
        if at.step_length == FAILED:
            status = Status.LINE_SEARCH_FAILED
            break
    first, steps, cg = records[0], len(records) - 1, sum(record.cg_steps for record in records)
    end = records[-1].objective, at.gradient_norm, target, int(status), 1 + steps
    return Outcome(steps, cg, halvings, first.active, at.active, *end), records


def _record(at, seconds, work, settings):
    return Record(value(work, settings), at.gradient_norm, at.active, at.step_length, at.cg_steps, seconds)


def refined_objective(X, positives, target, work, settings, positive_cost=1.0, n_documents=None):
    """Objective at the optimum, as near as float32 comes to it, from the solution in ``work.weights``."""
    patient = settings._replace(max_newton=_MOST_REFINING_STEPS)
    return solve_label(X, positives, _REFINED * target, work, patient, positive_cost, n_documents).objective


def traced_labels(counts, n_labels, seed):
    """About ``n_labels`` labels with positives to record, ascending, spread over their frequencies."""
    return np.sort(stratified_sample(counts, n_labels, seed)[0])


def trace_labels(dataset, inputs, labels, training, made_from=None):
    """Solve some labels with the plain solver on all instances and record every iteration; returns a Trace.

    ``made_from`` has the checksums of other artifacts than the dataset, by kind.
    """
    if training.regularization == "l1":
        raise InputError("a trace follows Newton's method, which L1 problems do not use", remedy="trace an L2 training")
    order = labels
    if inputs.parents is not None:
        order = parents_first(with_ancestors(labels, inputs.parents), inputs.parents)
    jobs = LabelJobs.of(dataset, inputs.within(order), training.model_copy(update={"reference": True}))
    work = make_workspace(jobs.X.n_rows, jobs.X.n_columns)
    # kernels are loaded, and the pages of X in memory, before anything is timed
    for label in labels[:1].tolist():
        _trace_label(replace(jobs, start=jobs.ranking), label, work)
    solved = {}
    with Progress("trace", len(order), "labels") as progress:
        for label in order.tolist():
            solved[label] = _trace_label(jobs, label, work)
            progress.advance()
    solved = [solved[label] for label in labels.tolist()]
    of_labels = {
        "labels": labels,
        "positives": inputs.means.counts[labels],
        "target": np.array([each.outcome.gradient_target for each in solved]),
        "optimum": np.array([each.optimum for each in solved]),
        "status": np.array([each.outcome.status for each in solved]),
    }
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
    alone, cost = jobs.alone, jobs.positive_costs[label]
    problem = jobs.X, positives, jobs.targets[label], work, alone.settings, cost, alone.n_documents
    outcome, records = solve_recorded(*problem)
    jobs.keep_solution(label, work.weights)
    counts, _ = np.histogram(np.clip(work.weights, WEIGHT_EDGES[0], WEIGHT_EDGES[-1]), WEIGHT_EDGES)
    return _Traced(outcome, records, min(refined_objective(*problem), outcome.objective), counts)
