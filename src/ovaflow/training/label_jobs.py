"""Labels of a job on one thread: take one that is ready, start, solve, prune.

Where labels start at their parents' solutions (OVA-Primal++), a label is ready when its parent is
solved. Labels that became ready last are taken first, which is a depth-first walk: few parents wait
for their children at a time.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Condition
from typing import NamedTuple, Self

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.start import Solution, Start
from ovaflow.initialization.starts import (
    RANKING_STARTS,
    StartInputs,
    make_ranking_start,
    make_start,
)
from ovaflow.model.pruning import select_large_weights
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.batch import BatchSolver, SolvedLabel
from ovaflow.solver.label_solvers import LabelData, LabelSolver
from ovaflow.solver.problem import (
    Costs,
    Instances,
    LabelProblem,
    Outcome,
    Settings,
    Status,
    Workspace,
)
from ovaflow.solver.sampled import SampledSolver
from ovaflow.solver.selection import FastPath, choose_fast_path, choose_label_solver
from ovaflow.solver.stopping import Tolerance
from ovaflow.solver.working_features import WorkingScratch
from ovaflow.sparse.csr import CSR, omit_full_indices


class TrainedLabel(NamedTuple):
    """Weights and outcome of a solved label."""

    indices: np.ndarray  # ascending
    data: np.ndarray
    outcome: Outcome
    seconds: float  # processor time; of labels solved together, a share
    solution: Solution | None = None  # before pruning, if other labels start there


def make_unsolved_label(
    status: Status, indices: Sequence[int] | np.ndarray = (), data: Sequence | np.ndarray = ()
) -> TrainedLabel:
    """Make a label that the solver did not work on, with these weights."""
    features = np.asarray(indices, np.int32)
    weights = np.asarray(data, np.float32)
    return TrainedLabel(features, weights, Outcome(status=status), 0.0)


def compute_label_costs(dataset: Dataset, training: TrainLabels) -> Costs:
    """Compute the weights of each label's losses.

    With p_j the chance that label j was assigned where it is true, 2/p_j - 1 makes the loss over
    the observed labels an unbiased estimate: PW-DiSMEC (Qaraei, Schultheis, Gupta and Babbar 2021).
    """
    C = np.full(dataset.n_labels, float(training.C))
    if training.class_weight == "balanced":
        return _balance_costs(dataset, C)
    if training.weighting == "none":
        return Costs(np.ones(dataset.n_labels), C)
    inverse_propensity = dataset.inverse_propensity(training.propensity_a, training.propensity_b)
    return Costs(2.0 * inverse_propensity - 1.0, C)


def _balance_costs(dataset: Dataset, C: np.ndarray) -> Costs:
    """Compute costs n / (2 |P|) and n / (2 |N|), as scikit-learn does.

    |P| and |N| are the weights of a label's positives and negatives, and n = |P| + |N|.
    """
    weights = dataset.instance_weights.astype(np.float64)
    Y = dataset.train.Y
    entry_weights = np.repeat(weights, np.diff(Y.indptr))
    positives = np.bincount(Y.indices, entry_weights, Y.n_columns)
    end = Y.indptr[dataset.n_documents]
    # names of labels are negatives of none
    negatives = weights[: dataset.n_documents].sum() - np.bincount(
        Y.indices[:end], entry_weights[:end], Y.n_columns
    )
    has_both = (positives > 0) & (negatives > 0)
    ratio = np.divide(negatives, positives, out=np.ones(len(C)), where=has_both)
    share = np.divide(positives + negatives, 2 * negatives, out=np.ones(len(C)), where=has_both)
    return Costs(ratio, C * share)


@dataclass(frozen=True)
class LabelJobs:
    """The one-vs-all problems of a dataset; read by all threads."""

    X: CSR
    positives: CSR  # shape (l, n)
    start: Start
    costs: Costs
    targets: np.ndarray  # gradient norm that each label must reach; with L1 the violation
    threshold: np.float32  # smaller weights are dropped
    solver: LabelSolver  # of one label at a time
    fast_path: FastPath | None  # None if every label is solved one at a time

    @classmethod
    def from_dataset(cls, dataset: Dataset, inputs: StartInputs, training: TrainLabels) -> Self:
        """Prepare the problems of a dataset; InputError if features are not finite."""
        means = inputs.means
        if not np.isfinite(means.xx):
            raise InputError(
                "features that are not finite numbers", path=dataset.path, remedy="fix the source"
            )
        # no kernel needs places
        X = dataset.train.X._replace(places=None)
        settings = Settings.from_training(training)
        instances = Instances(dataset.instance_weights, dataset.n_documents)
        if training.regularization == "l2":
            # coordinate descent reads indices itself
            X = omit_full_indices(X)
        start = make_start(training, inputs)
        costs = compute_label_costs(dataset, training)
        solver = choose_label_solver(
            X,
            instances,
            settings,
            Tolerance.from_training(training),
            regularization=training.regularization,
            reference=training.reference,
        )
        targets = solver.compute_targets(LabelData(dataset.positives, means, costs))
        fast_path = None
        if not training.reference:
            ranking = start
            if training.initialization not in RANKING_STARTS:
                ranking = make_ranking_start(inputs)
            fast_path = choose_fast_path(solver, means.counts, targets, costs.C, start, ranking)
        threshold = np.float32(training.stored_threshold)
        return cls(X, dataset.positives, start, costs, targets, threshold, solver, fast_path)

    def make_problem(self, label: int) -> LabelProblem:
        """Make the problem of one label."""
        start, end = self.positives.indptr[label : label + 2]
        return LabelProblem(
            self.positives.indices[start:end],
            self.targets[label],
            float(self.costs.C[label]),
            self.costs.positives[label],
        )

    def suits_fast_path(self, counts: np.ndarray) -> np.ndarray:
        """Find the labels that are solved on the fast path, by their positives: bool."""
        if self.fast_path is None:
            return np.zeros(len(counts), bool)
        return self.fast_path.find_suited(counts)

    def keep_solution(self, label: int, weights: np.ndarray) -> Solution | None:
        """Pass the dense solution of a label to the start if other labels may start there."""
        if self.start.parents is None:
            return None
        features = np.flatnonzero(weights)
        return self.start.keep(label, features, weights[features])


class LabelQueue:
    """Labels of a job that wait for threads, most urgent first.

    Parameters
    ----------
    labels
        The labels, most urgent first.
    fast
        True for labels of the fast path.
    parents
        Label at whose solution each label of the dataset starts, or ROOT_PARENT; None for all.
    threads
        Threads that share the labels.
    """

    def __init__(
        self,
        labels: Sequence[int],
        fast: Sequence[bool],
        parents: np.ndarray | None = None,
        threads: int = 1,
    ) -> None:
        self._fast = dict(zip(labels, fast, strict=True))
        self._n_waiting = len(labels)
        self._ready: dict[bool, list[int]] = {False: [], True: []}
        self._children: dict[int, list[int]] = {}
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
        """Give out no further label."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def take(self, *, fast: bool, held: int = 0) -> int | None:
        """Take a label for a thread with ``held`` in flight.

        None if no label is ready, or the thread has its share of all labels that are ready or in
        flight.
        """
        with self._changed:
            n_ready = len(self._ready[False]) + len(self._ready[True])
            n_unsolved = self._in_flight + n_ready
            if self._stopped or not self._ready[fast] or held * self._threads >= n_unsolved:
                return None
            self._n_waiting -= 1
            self._in_flight += 1
            return self._ready[fast].pop()

    def finish(self, label: int) -> None:
        """Make the children of a solved label ready."""
        with self._changed:
            self._in_flight -= 1
            for child in self._children.pop(label, ()):
                self._ready[self._fast[child]].append(child)
            self._changed.notify_all()

    def wait(self) -> bool:
        """Wait until a label may be ready; False if there will be no more."""
        with self._changed:
            while not self._stopped and self._n_waiting and not any(self._ready.values()):
                self._changed.wait()
            return not self._stopped and self._n_waiting > 0


class LabelWorker:
    """Trainer of labels on one thread: one at a time, or on the fast path with many in flight."""

    def __init__(self, jobs: LabelJobs) -> None:
        self._jobs = jobs
        self._work: Workspace | WorkingScratch | None = None
        self._fast_solver: BatchSolver | SampledSolver | None = None
        self._seconds: dict[int, float] = {}  # of each label in flight

    def solve_from(self, queue: LabelQueue) -> Iterator[tuple[int, TrainedLabel]]:
        """Solve labels of a queue until there are no more, and yield each when it is solved."""
        while True:
            label = queue.take(fast=False, held=len(self._seconds))
            if label is not None:
                result = self._solve_plainly(label)
                queue.finish(label)
                yield label, result
            elif self._admit_from(queue):
                for finished, result in self._advance_all():
                    queue.finish(finished)
                    yield finished, result
            elif not queue.wait():
                return

    def _solve_plainly(self, label: int) -> TrainedLabel:
        jobs = self._jobs
        problem = jobs.make_problem(label)
        if not len(problem.positives):
            return make_unsolved_label(Status.NO_POSITIVES)
        if self._work is None:
            self._work = jobs.solver.make_work()
        weights = self._work.weights
        start = time.thread_time()
        jobs.start.fill(label, jobs.X, problem.positives, weights)
        outcome = jobs.solver.solve(problem, self._work)
        solution = jobs.keep_solution(label, weights)
        indices, data = select_large_weights(weights, jobs.threshold)
        seconds = time.thread_time() - start
        return TrainedLabel(indices, data, outcome, seconds, solution)

    def _admit_from(self, queue: LabelQueue) -> bool:
        """Fill the slots of the fast path; False if no label is in flight."""
        jobs = self._jobs
        while self._fast_solver is None or self._fast_solver.has_free_slot:
            label = queue.take(fast=True, held=len(self._seconds))
            if label is None:
                break
            if self._fast_solver is None:
                # only labels that suit the fast path are queued for it
                assert jobs.fast_path is not None
                self._fast_solver = jobs.fast_path.make_solver()
            problem = jobs.make_problem(label)
            start = time.thread_time()
            self._fast_solver.admit(label, problem)
            self._seconds[label] = time.thread_time() - start
        return bool(self._seconds)

    def _advance_all(self) -> Iterator[tuple[int, TrainedLabel]]:
        """Pass over all instances once for the labels in flight, and yield those it finishes."""
        solver = self._fast_solver
        assert solver is not None
        start = time.thread_time()
        solver.screen()
        share = (time.thread_time() - start) / len(self._seconds)
        for label in list(self._seconds):
            start = time.thread_time()
            solved = solver.advance(label)
            self._seconds[label] += share + time.thread_time() - start
            if solved is not None:
                yield label, self._finish(label, solved)

    def _finish(self, label: int, solved: SolvedLabel) -> TrainedLabel:
        solution = self._jobs.start.keep(label, solved.features, solved.weights)
        places, data = select_large_weights(solved.weights, self._jobs.threshold)
        indices = solved.features[places]
        order = np.argsort(indices)
        seconds = self._seconds.pop(label)
        return TrainedLabel(indices[order], data[order], solved.outcome, seconds, solution)
