"""How a thread trains its labels: take one that is ready, start, solve, prune.

Where labels start at their parents' solutions (OVA-Primal++), a label is ready when its parent is
solved. Labels that became ready last are taken first, which is a depth-first walk: few parents wait
for their children at a time.
"""

import time
from dataclasses import dataclass
from threading import Condition
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.starts import RANKING_STARTS, make_ranking_start, make_start
from ovaflow.model.pruning import select_large_weights
from ovaflow.solver.problem import L1, Costs, Instances, Outcome, Settings, Status
from ovaflow.solver.selection import NewtonSolver, choose_fast_path, choose_label_solver
from ovaflow.sparse.csr import CSR, omit_full_indices


class TrainedLabel(NamedTuple):
    """Weights and outcome of a solved label."""

    indices: np.ndarray  # ascending
    data: np.ndarray
    outcome: Outcome
    seconds: float  # processor time; of labels solved together, a share
    solution: tuple | None = (
        None  # features and weights before pruning, if other labels start there
    )


def make_unsolved_label(status, indices=(), data=()):
    """A label that the solver did not work on, with these weights."""
    outcome = Outcome(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, status, 0)
    return TrainedLabel(np.asarray(indices, np.int32), np.asarray(data, np.float32), outcome, 0.0)


def compute_label_costs(dataset, training):
    """What the losses of each label's positives weigh, those of negatives being 1, and all of them.

    With p_j the chance that label j was assigned where it is true, 2/p_j - 1 makes the loss over
    the observed labels an unbiased estimate: PW-DiSMEC (Qaraei, Schultheis, Gupta and Babbar 2021).
    """
    C = np.full(dataset.n_labels, float(training.C))
    if training.class_weight == "balanced":
        return _balanced(dataset, C)
    if training.weighting == "none":
        return Costs(np.ones(dataset.n_labels), C)
    return Costs(
        2.0 * dataset.inverse_propensity(training.propensity_a, training.propensity_b) - 1.0, C
    )


def _balanced(dataset, C):
    """Costs n / (2 |P|) and n / (2 |N|), as scikit-learn has them, of all that weighs n = |P| + |N|
    for a label.
    """
    weights = dataset.instance_weights.astype(np.float64)
    Y = dataset.train.Y
    of_labels = np.repeat(weights, np.diff(Y.indptr))
    positives = np.bincount(Y.indices, of_labels, Y.n_columns)
    end = Y.indptr[dataset.n_documents]
    # names of labels are negatives of none
    negatives = weights[: dataset.n_documents].sum() - np.bincount(
        Y.indices[:end], of_labels[:end], Y.n_columns
    )
    both = (positives > 0) & (negatives > 0)
    ratio = np.divide(negatives, positives, out=np.ones(len(C)), where=both)
    return Costs(
        ratio, C * np.divide(positives + negatives, 2 * negatives, out=np.ones(len(C)), where=both)
    )


@dataclass(frozen=True)
class LabelJobs:
    """The one-vs-all problems of a dataset; read by all threads."""

    X: CSR
    positives: CSR  # shape (l, n)
    start: object
    ranking: object  # chooses the first working set: the start, or the mean-separating start
    costs: Costs  # of the losses of each label
    targets: np.ndarray  # gradient norm that each label must reach; with L1 the violation
    threshold: np.float32  # smaller weights are dropped
    alone: NewtonSolver  # how labels are solved one by one
    fast_path: object | None  # None if every label is solved so

    @classmethod
    def of(cls, dataset, inputs, training):
        """Prepare the problems of a dataset; InputError if features are not finite."""
        means = inputs.means
        if not np.isfinite(means.xx):
            raise InputError(
                "features that are not finite numbers", path=dataset.path, remedy="fix the source"
            )
        # no kernel needs places
        X = dataset.train.X._replace(places=None)
        settings = Settings.of(training)
        instances = Instances(dataset.instance_weights, dataset.n_documents)
        if settings.regularization != L1:
            # coordinate descent reads indices itself
            X = omit_full_indices(X)
        start = make_start(training, inputs)
        costs = compute_label_costs(dataset, training)
        alone = choose_label_solver(X, instances, settings, training.reference)
        targets = alone.targets(dataset.positives, means, costs)
        return cls(
            X,
            dataset.positives,
            start,
            ranking=start
            if training.initialization in RANKING_STARTS
            else make_ranking_start(inputs),
            costs=costs,
            targets=targets,
            threshold=np.float32(training.stored_threshold),
            alone=alone,
            fast_path=None
            if training.reference
            else choose_fast_path(X, instances, means.counts, targets, costs.C, settings),
        )

    def positives_of(self, label):
        start, end = self.positives.indptr[label : label + 2]
        return self.positives.indices[start:end]

    def costs_of(self, label):
        """What losses of a label's positives weigh, and its C."""
        return self.costs.positives[label], float(self.costs.C[label])

    def suits_fast_path(self, counts):
        """Whether labels with so many positives are solved on the fast path."""
        if self.fast_path is None:
            return np.zeros(len(counts), bool)
        return self.fast_path.suits(counts, self.alone.instances.n_documents)

    def keep_solution(self, label, weights):
        """Pass the dense solution of a label to the start if other labels may start there."""
        if self.start.parents is None:
            return None
        features = np.flatnonzero(weights)
        return self.start.keep(label, features, weights[features])


class LabelQueue:
    """Labels of a job, most urgent first, whether each is for the fast path, and parents."""

    def __init__(self, labels, fast, parents=None, threads=1) -> None:
        self._fast = dict(zip(labels, fast, strict=True))
        self._n_waiting = len(labels)
        self._ready = {False: [], True: []}
        self._children = {}
        for label in reversed(labels):
            parent = ROOT_PARENT if parents is None else int(parents[label])
            if parent == ROOT_PARENT:
                self._ready[self._fast[label]].append(label)
            else:
                self._children.setdefault(parent, []).append(label)
        self._in_flight = 0
        self._threads = threads
        self._stopped = False
        self._changed = Condition()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def take(self, fast, held=0):
        """A label for a thread with ``held`` in flight; None if none is ready or it has enough."""
        with self._changed:
            unsolved = self._in_flight + sum(map(len, self._ready.values()))
            if self._stopped or not self._ready[fast] or held * self._threads >= unsolved:
                return None
            self._n_waiting -= 1
            self._in_flight += 1
            return self._ready[fast].pop()

    def finish(self, label) -> None:
        """Make the children of a solved label ready."""
        with self._changed:
            self._in_flight -= 1
            for child in self._children.pop(label, ()):
                self._ready[self._fast[child]].append(child)
            self._changed.notify_all()

    def wait(self):
        """Wait until a label may be ready; False if there will be no more."""
        with self._changed:
            while not self._stopped and self._n_waiting and not any(self._ready.values()):
                self._changed.wait()
            return not self._stopped and self._n_waiting > 0


class LabelWorker:
    """Solves labels on one thread: plain ones one at a time, those of the fast path with many in
    flight.
    """

    def __init__(self, jobs) -> None:
        self._jobs = jobs
        self._work = None
        self._fast = None
        self._seconds = {}  # of each label in flight

    def solve_from(self, queue):
        """Labels of a queue as they are solved, each with its TrainedLabel."""
        while True:
            label = queue.take(fast=False, held=len(self._seconds))
            if label is not None:
                results = [(label, self._solve_plainly(label))]
            elif self._admit_from(queue):
                results = self._advance_all()
            elif queue.wait():
                continue
            else:
                return
            for label, result in results:
                queue.finish(label)
                yield label, result

    def _solve_plainly(self, label):
        jobs = self._jobs
        positives = self._jobs.positives_of(label)
        if not len(positives):
            return make_unsolved_label(Status.NO_POSITIVES)
        self._work = self._work or jobs.alone.make_work()
        weights = self._work.weights
        start = time.thread_time()
        jobs.start.fill(label, jobs.X, positives, weights)
        outcome = jobs.alone.solve(
            positives, jobs.targets[label], self._work, *jobs.costs_of(label)
        )
        solution = jobs.keep_solution(label, weights)
        indices, data = select_large_weights(weights, jobs.threshold)
        return TrainedLabel(indices, data, outcome, time.thread_time() - start, solution)

    def _admit_from(self, queue):
        """Fill the batch of the fast path; returns how many labels are in flight."""
        jobs = self._jobs
        while self._fast is None or self._fast.has_free_slot:
            label = queue.take(fast=True, held=len(self._seconds))
            if label is None:
                break
            self._fast = self._fast or jobs.fast_path.make_solver(jobs.start, jobs.ranking)
            positives = jobs.positives_of(label)
            start = time.thread_time()
            self._fast.admit(label, positives, jobs.targets[label], *jobs.costs_of(label))
            self._seconds[label] = time.thread_time() - start
        return len(self._seconds)

    def _advance_all(self):
        """One pass over all instances for the labels in flight; yields those that it finishes."""
        start = time.thread_time()
        self._fast.screen()
        share = (time.thread_time() - start) / len(self._seconds)
        for label in list(self._seconds):
            start = time.thread_time()
            solution = self._fast.advance(label)
            self._seconds[label] += share + time.thread_time() - start
            if solution is not None:
                yield label, self._finish(label, *solution)

    def _finish(self, label, support, weights, outcome):
        solution = self._jobs.start.keep(label, support, weights)
        places, data = select_large_weights(weights, self._jobs.threshold)
        indices = support[places]
        order = np.argsort(indices)
        seconds = self._seconds.pop(label)
        return TrainedLabel(indices[order], data[order], outcome, seconds, solution)
