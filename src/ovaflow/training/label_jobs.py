"""How a thread trains its labels: start, solve, prune."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.starts import RANKING, make_start, ranking_start
from ovaflow.model.pruning import large_weights
from ovaflow.solver.fast_path import Newton, fast_path, one_by_one
from ovaflow.solver.problem import L1, Outcome, Settings, Status
from ovaflow.sparse.csr import CSR, for_kernels


class TrainedLabel(NamedTuple):
    """What is kept of a solved label."""

    indices: np.ndarray  # ascending
    data: np.ndarray
    outcome: Outcome
    seconds: float  # processor time; a label's share where labels are worked on together
    solution: tuple | None = None  # features and weights before pruning, if other labels start there


def unsolved(status, indices=(), data=()):
    """A label that the solver did not work on, with these weights."""
    outcome = Outcome(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, status, 0)
    return TrainedLabel(np.asarray(indices, np.int32), np.asarray(data, np.float32), outcome, 0.0)


def positive_costs(dataset, training):
    """Weight of each label's positives, that of negatives being 1, by their number in training.

    Annotators leave labels out, rare ones most of all. With p_j the chance that label j was assigned where it is true,
    (1/p_j) [s < 0] + (1 - 1/p_j) [s >= 0] over the observed positives is an unbiased estimate of the 0-1 loss. It is
    (2/p_j - 1) [s < 0] and a constant; the loss takes the place of [s < 0]: PW-DiSMEC (Qaraei, Schultheis, Gupta and
    Babbar 2021).
    """
    if training.weighting == "none":
        return np.ones(dataset.n_labels)
    return 2.0 * dataset.inverse_propensity(training.propensity_a, training.propensity_b) - 1.0


@dataclass(frozen=True)
class LabelJobs:
    """The one-vs-all problems of a dataset; read by all threads."""

    X: CSR
    positives: CSR  # shape (l, n)
    start: object
    ranking: object  # chooses the first working set: the start, or the mean-separating one if that ranks better
    positive_costs: np.ndarray  # what losses of each label's positives weigh
    targets: np.ndarray  # what each label's gradient norm must reach, with L1 the violation
    threshold: np.float32  # smaller weights are dropped
    alone: Newton  # how labels are solved one by one
    fast_path: object | None  # None where every label is solved so

    @classmethod
    def of(cls, dataset, inputs, training):
        """Prepare the problems of a dataset; InputError if features are not finite."""
        means = inputs.means
        if not np.isfinite(means.xx):
            raise InputError("features that are not finite numbers", path=dataset.path, remedy="fix the source")
        X, settings, n = dataset.train.X, Settings.of(training), dataset.n_documents
        if settings.regularization != L1:
            # coordinate descent reads indices itself
            X = for_kernels(X)
        start = make_start(training, inputs)
        costs = positive_costs(dataset, training)
        alone = one_by_one(X, n, settings, training.reference)
        targets = alone.targets(dataset.positives, means, costs)
        return cls(
            X,
            dataset.positives,
            start,
            ranking=start if training.initialization in RANKING else ranking_start(inputs),
            positive_costs=costs,
            targets=targets,
            threshold=np.float32(training.stored_threshold),
            alone=alone,
            fast_path=None if training.reference else fast_path(X, n, means.counts, targets, settings),
        )

    def positives_of(self, label):
        """Instances that carry a label."""
        start, end = self.positives.indptr[label : label + 2]
        return self.positives.indices[start:end]

    def suits_fast_path(self, counts):
        """Whether labels with so many positives are solved on the fast path."""
        if self.fast_path is None:
            return np.zeros(len(counts), bool)
        return self.fast_path.suits(counts, self.alone.n_documents)

    def keep_solution(self, label, weights):
        """Hand the dense solution of a label to its start, where starts of other labels may need it."""
        if self.start.parents is None:
            return None
        features = np.flatnonzero(weights)
        return self.start.keep(label, features, weights[features])


class LabelSolver:
    """Solves labels on one thread: plain ones one at a time, those of the fast path with many in flight."""

    def __init__(self, jobs):
        self._jobs, self._work, self._fast = jobs, None, None
        self._seconds = {}  # of the labels in flight

    def solve_from(self, queue):
        """Labels of a queue as they are solved, each with its TrainedLabel, until there are no more."""
        while True:
            label = queue.take(fast=False, held=len(self._seconds))
            if label is not None:
                solved = [(label, self._solve_plainly(label))]
            elif self._admit_from(queue):
                solved = self._advance_all()
            elif queue.wait():
                continue
            else:
                return
            for label, trained in solved:
                queue.finish(label)
                yield label, trained

    def _solve_plainly(self, label):
        jobs, positives = self._jobs, self._jobs.positives_of(label)
        if not len(positives):
            return unsolved(Status.NO_POSITIVES)
        self._work = self._work or jobs.alone.make_work()
        weights, started = self._work.weights, time.thread_time()
        jobs.start.fill(label, jobs.X, positives, weights)
        outcome = jobs.alone.solve(positives, jobs.targets[label], self._work, jobs.positive_costs[label])
        solution = jobs.keep_solution(label, weights)
        indices, data = large_weights(weights, jobs.threshold)
        return TrainedLabel(indices, data, outcome, time.thread_time() - started, solution)

    def _admit_from(self, queue):
        """Fill the batch of the fast path; returns how many labels are in flight."""
        jobs = self._jobs
        while self._fast is None or self._fast.has_room:
            label = queue.take(fast=True, held=len(self._seconds))
            if label is None:
                break
            self._fast = self._fast or jobs.fast_path.make_solver(jobs.start, jobs.ranking)
            began = time.thread_time()
            self._fast.admit(label, jobs.positives_of(label), jobs.targets[label], jobs.positive_costs[label])
            self._seconds[label] = time.thread_time() - began
        return len(self._seconds)

    def _advance_all(self):
        """One pass over all instances for the labels in flight; those that it finishes."""
        began = time.thread_time()
        self._fast.screen()
        share = (time.thread_time() - began) / len(self._seconds)
        for label in list(self._seconds):
            began = time.thread_time()
            solved = self._fast.advance(label)
            self._seconds[label] += share + time.thread_time() - began
            if solved is not None:
                yield label, self._finish(label, *solved)

    def _finish(self, label, support, weights, outcome):
        solution = self._jobs.start.keep(label, support, weights)
        kept, data = large_weights(weights, self._jobs.threshold)
        indices = support[kept]
        order = np.argsort(indices)
        return TrainedLabel(indices[order], data[order], outcome, self._seconds.pop(label), solution)
