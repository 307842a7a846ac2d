"""One shard of a one-vs-all model: threads over labels, each pruned as soon as it is solved."""

import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.initialization.starts import make_start
from ovaflow.model.pruning import large_weights
from ovaflow.solver.losses import LOSSES, SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Outcome, Settings, Status, make_workspace
from ovaflow.solver.stopping import gradient_targets
from ovaflow.sparse.csr import CSR

_UNTRAINED = Outcome(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, int(Status.NO_POSITIVES))


@dataclass(frozen=True)
class Training:
    """Settings of a one-vs-all training.

    Attributes
    ----------
    initialization : str
        A name of :data:`ovaflow.initialization.starts.STARTS`.
    C : float
    loss : str
        A name of :data:`ovaflow.solver.losses.LOSSES`.
    epsilon : float
        Relative gradient tolerance (MSI eq. 12).
    stored_threshold : float
        Smaller weights are dropped after a label is solved.
    s, t : float
        Mean scores that the mean-separating start aims at.
    """

    initialization: str = "mean-separating"
    C: float = 1.0
    loss: str = "squared-hinge"
    epsilon: float = 0.01
    stored_threshold: float = 0.01
    s: float = 1.0
    t: float = -2.0

    @property
    def settings(self):
        """Constants of the solver."""
        return Settings(C=float(self.C), loss=LOSSES[self.loss], epsilon=float(self.epsilon))


class TrainedLabel(NamedTuple):
    """What is kept of a solved label.

    Attributes
    ----------
    indices : ndarray of int32
    data : ndarray of float32
    outcome : Outcome
    seconds : float
        Wall time of the solution, start included.
    """

    indices: np.ndarray
    data: np.ndarray
    outcome: Outcome
    seconds: float


class LabelTrainer:
    """Solves labels of a dataset; threads may call it side by side.

    Parameters
    ----------
    dataset : Dataset
    means : Means
    training : Training
    """

    def __init__(self, dataset, means, training):
        self._X = dataset.train.X
        self._positives = dataset.positives
        self._settings = training.settings
        self._threshold = np.float32(training.stored_threshold)
        n = self._X.n_rows
        self._start = make_start(training.initialization, means, n, training.s, training.t)
        slope = SLOPE_AT_ZERO[self._settings.loss]
        self._targets = gradient_targets(self._settings, slope, n, means.counts, means.pp, means.xp, means.xx)
        self._of_thread = threading.local()

    def train(self, label):
        """Solve one label.

        Parameters
        ----------
        label : int

        Returns
        -------
        TrainedLabel
            Without weights when the label has no positives.

        Raises
        ------
        ArithmeticError
            If the weights are not finite.
        """
        started = time.perf_counter()
        positives = self._positives_of(label)
        if not len(positives):
            return TrainedLabel(np.empty(0, np.int32), np.empty(0, np.float32), _UNTRAINED, 0.0)
        work = self._workspace()
        self._start.fill(label, self._X, positives, work.weights)
        outcome = solve_label(self._X, positives, self._targets[label], work, self._settings)
        if not np.isfinite(outcome.objective):
            raise ArithmeticError(f"label {label}: the objective became {outcome.objective}")
        indices, data = large_weights(work.weights, self._threshold)
        return TrainedLabel(indices, data, outcome, time.perf_counter() - started)

    def _positives_of(self, label):
        start, end = self._positives.indptr[label : label + 2]
        return self._positives.indices[start:end]

    def _workspace(self):
        if not hasattr(self._of_thread, "workspace"):
            self._of_thread.workspace = make_workspace(self._X.n_rows, self._X.n_columns)
        return self._of_thread.workspace


@dataclass(frozen=True)
class TrainedShard:
    """Labels of a shard after training, in the order they were given.

    Attributes
    ----------
    weights : CSR, shape (m, d)
    trained : ndarray of bool, shape (m,)
    statistics : dict of str to ndarray, shape (m,)
        Fields of :class:`~ovaflow.solver.problem.Outcome`, with ``positives``
        and ``seconds``.
    core_seconds : float
        Threads times wall seconds.
    peak_rss_bytes : int
    """

    weights: CSR
    trained: np.ndarray
    statistics: dict
    core_seconds: float
    peak_rss_bytes: int


def train_labels(dataset, means, labels, training, threads=1, title="train"):
    """Train some labels of a dataset.

    Parameters
    ----------
    dataset : Dataset
    means : Means
    labels : ndarray of int, shape (m,)
    training : Training
    threads : int
        Labels solved at a time; the result does not depend on it.
    title : str
        Name of the step in its progress lines.

    Returns
    -------
    TrainedShard

    Raises
    ------
    ArithmeticError
        If the weights of a label are not finite.
    """
    trainer = LabelTrainer(dataset, means, training)
    # labels with many positives take longest and must not be left for the end
    order = np.argsort(-means.counts[labels], kind="stable")
    results = [None] * len(labels)
    started = time.perf_counter()
    with Progress(title, len(labels), "labels") as progress, ThreadPoolExecutor(threads) as pool:
        for position, result in zip(order, pool.map(trainer.train, labels[order].tolist()), strict=True):
            results[position] = result
            progress.advance()
    core_seconds = threads * (time.perf_counter() - started)
    return _assemble(results, means.counts[labels], dataset.n_features, core_seconds)


def _assemble(results, counts, d, core_seconds):
    indptr = np.zeros(len(results) + 1, np.int64)
    np.cumsum([len(result.indices) for result in results], out=indptr[1:])
    empty = [np.empty(0)]
    data = np.concatenate([result.data for result in results] or empty).astype(np.float32, copy=False)
    indices = np.concatenate([result.indices for result in results] or empty).astype(np.int32, copy=False)
    statistics = {name: np.array([getattr(result.outcome, name) for result in results]) for name in Outcome._fields}
    statistics["positives"] = counts
    statistics["seconds"] = np.array([result.seconds for result in results])
    trained = statistics["status"] != Status.NO_POSITIVES
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return TrainedShard(CSR(data, indices, indptr, d), trained, statistics, core_seconds, peak)
