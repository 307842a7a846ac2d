"""What one thread does with its labels: start, solve, prune."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.starts import RANKING, make_start, ranking_start
from ovaflow.model.pruning import large_weights
from ovaflow.solver.problem import L1, Outcome, Settings, Status
from ovaflow.sparse.csr import CSR, for_kernels
from ovaflow.training.fast_path import FAST_PATHS
from ovaflow.training.one_by_one import Newton, one_by_one
from ovaflow.training.weighting import positive_costs


class TrainedLabel(NamedTuple):
    """What is kept of a solved label.

    Attributes
    ----------
    indices : ndarray of int32
        Ascending.
    data : ndarray of float32
    outcome : Outcome
    seconds : float
        Time spent on the label; its share where labels are worked on together.
    solution : tuple of ndarray, or None
        Features and weights before pruning, if other labels start there.
    """

    indices: np.ndarray
    data: np.ndarray
    outcome: Outcome
    seconds: float
    solution: tuple | None = None


_NO_MORE = object()


def unsolved(status, indices=(), data=()):
    """A label that the solver never saw.

    Parameters
    ----------
    status : Status
    indices, data : array_like
        Its weights.

    Returns
    -------
    TrainedLabel
    """
    outcome = Outcome(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, status, 0)
    return TrainedLabel(np.asarray(indices, np.int32), np.asarray(data, np.float32), outcome, 0.0)


UNTRAINED = unsolved(Status.NO_POSITIVES)
"""A label without positives."""


@dataclass(frozen=True)
class LabelJobs:
    """The one-vs-all problems of a dataset; read by all threads.

    Attributes
    ----------
    X : CSR, shape (n, d)
    positives : CSR, shape (l, n)
    start : Start
        See :func:`ovaflow.initialization.starts.make_start`.
    ranking : Start
        What the first working set is chosen by: the start itself, if its scores are good enough for that,
        or else the mean-separating start.
    positive_costs : ndarray of float64, shape (l,)
        What losses of each label's positives weigh.
    targets : ndarray of float64, shape (l,)
        What each label's gradient norm must reach, with L1 the violation of the optimality conditions.
    settings : Settings
    threshold : float32
        Smaller weights are dropped.
    alone : Newton
        How labels are solved one by one.
    fast_path : WorkingSets or Samples or None
        None where every label is solved so.
    """

    X: CSR
    positives: CSR
    start: object
    ranking: object
    positive_costs: np.ndarray
    targets: np.ndarray
    settings: Settings
    threshold: np.float32
    alone: Newton
    fast_path: object | None

    @classmethod
    def of(cls, dataset, inputs, training):
        """Prepare the problems of a dataset.

        Parameters
        ----------
        dataset : Dataset
        inputs : StartInputs
        training : TrainLabels

        Returns
        -------
        LabelJobs

        Raises
        ------
        InputError
            If features are not finite.
        """
        means = inputs.means
        if not np.isfinite(means.xx):
            raise InputError("features that are not finite numbers", path=dataset.path, remedy="fix the source")
        X, settings, n = dataset.train.X, Settings.of(training), dataset.train.X.n_rows
        if settings.regularization != L1:
            # coordinate descent reads indices itself
            X = for_kernels(X)
        start = make_start(training, inputs)
        ranking = start if training.initialization in RANKING else ranking_start(inputs)
        costs = positive_costs(means.counts, n, training.weighting, training.propensity_a, training.propensity_b)
        alone = one_by_one(X, settings, training.reference)
        targets = alone.targets(dataset.positives, means, costs)
        plain = training.reference or settings.regularization == L1
        fast_path = None if plain else FAST_PATHS[settings.loss].of(X, means.counts, targets, settings)
        return cls(
            X,
            dataset.positives,
            start,
            ranking,
            costs,
            targets,
            settings,
            np.float32(training.stored_threshold),
            alone,
            fast_path,
        )

    def positives_of(self, label):
        """Instances that carry a label.

        Parameters
        ----------
        label : int

        Returns
        -------
        ndarray of int32
        """
        start, end = self.positives.indptr[label : label + 2]
        return self.positives.indices[start:end]

    def suits_fast_path(self, counts):
        """Whether labels are solved on the fast path: not those that need a large part of all instances.

        Parameters
        ----------
        counts : ndarray of int64
            Positives of the labels.

        Returns
        -------
        ndarray of bool
        """
        if self.fast_path is None:
            return np.zeros(len(counts), bool)
        return self.fast_path.suits(counts)


def solve_plainly(jobs, labels):
    """Solve labels one after the other.

    Parameters
    ----------
    jobs : LabelJobs
    labels : iterator of int
        None where labels may be ready later, see :mod:`ovaflow.training.label_queue`.

    Yields
    ------
    label : int
    trained : TrainedLabel
        Or None instead of both, where no label is ready.
    """
    work = None
    for label in labels:
        if label is None:
            yield None
            continue
        positives = jobs.positives_of(label)
        if not len(positives):
            yield label, UNTRAINED
            continue
        work = work or jobs.alone.make_work()
        started = time.perf_counter()
        jobs.start.fill(label, jobs.X, positives, work.weights)
        outcome = jobs.alone.solve(positives, jobs.targets[label], work, jobs.positive_costs[label])
        solution = keep_solution(jobs, label, work.weights)
        indices, data = large_weights(work.weights, jobs.threshold)
        yield label, TrainedLabel(indices, data, outcome, time.perf_counter() - started, solution)


def keep_solution(jobs, label, weights):
    """Hand the dense solution of a label to its start, where starts of other labels may need it.

    Parameters
    ----------
    jobs : LabelJobs
    label : int
    weights : ndarray of float32, shape (d,)

    Returns
    -------
    tuple of ndarray, or None
        See :meth:`ovaflow.initialization.start.Start.keep`.
    """
    if jobs.start.parents is None:
        return None
    features = np.flatnonzero(weights)
    return jobs.start.keep(label, features, weights[features])


def solve_on_fast_path(jobs, labels):
    """Solve labels with the fast path, many in flight.

    Parameters
    ----------
    jobs : LabelJobs
    labels : iterator of int
        None where labels may be ready later, see :mod:`ovaflow.training.label_queue`.

    Yields
    ------
    label : int
        In the order in which labels are finished.
    trained : TrainedLabel
        Or None instead of both, where no label is ready and none in flight.
    """
    solver, dense, seconds = None, None, {}
    while True:
        while solver is None or solver.has_room:
            label = next(labels, _NO_MORE)
            if label is None or label is _NO_MORE:
                break
            if solver is None:
                solver, dense = jobs.fast_path.make_solver(), np.empty(jobs.X.n_columns, np.float32)
            began = time.perf_counter()
            positives = jobs.positives_of(label)
            if jobs.fast_path.ranks:
                jobs.ranking.fill(label, jobs.X, positives, dense)
            solver.admit(label, positives, dense, jobs.targets[label], jobs.positive_costs[label])
            seconds[label] = time.perf_counter() - began
        if seconds:
            yield from _advance_all(jobs, solver, dense, seconds)
        elif label is _NO_MORE:
            return
        else:
            yield None


def _advance_all(jobs, solver, dense, seconds):
    began = time.perf_counter()
    solver.screen()
    share = (time.perf_counter() - began) / len(seconds)
    for label in list(seconds):
        began = time.perf_counter()
        if solver.is_new(label) and not (jobs.fast_path.ranks and jobs.start is jobs.ranking):
            jobs.start.fill(label, jobs.X, jobs.positives_of(label), dense)
            solver.begin(label, dense)
        solution = solver.advance(label)
        if solution is None:
            seconds[label] += share + time.perf_counter() - began
        else:
            kept = jobs.start.keep(label, *solution[:2])
            trained = _pruned(*solution, jobs.threshold)
            spent = seconds.pop(label) + share + time.perf_counter() - began
            yield label, trained._replace(seconds=spent, solution=kept)


def _pruned(support, weights, outcome, threshold):
    kept, data = large_weights(weights, threshold)
    indices = support[kept]
    order = np.argsort(indices)
    return TrainedLabel(indices[order], data[order], outcome, 0.0)
