"""One shard of a one-vs-all model: threads that take labels from a common list."""

import time
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import CSR
from ovaflow.training.label_jobs import LabelJobs, solve_on_working_sets, solve_plainly
from ovaflow.training.memory import peak_rss_bytes


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


def train_labels(dataset, inputs, labels, training, threads=1, title="train"):
    """Train some labels of a dataset.

    Parameters
    ----------
    dataset : Dataset
    inputs : StartInputs
    labels : ndarray of int, shape (m,)
    training : Training
    threads : int
        Threads that solve labels; the result does not depend on it.
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
    started = time.perf_counter()
    jobs, counts = LabelJobs.of(dataset, inputs, training), inputs.means.counts[labels]
    results = {}
    with Progress(title, len(labels), "labels") as progress:
        for label, trained in _on_threads(jobs, labels, counts, threads):
            if not np.isfinite(trained.outcome.objective):
                raise ArithmeticError(f"label {label}: the objective became {trained.outcome.objective}")
            results[label] = trained
            progress.advance()
    core_seconds = threads * (time.perf_counter() - started)
    return _assemble([results.pop(label) for label in labels.tolist()], counts, dataset.n_features, core_seconds)


def _on_threads(jobs, labels, counts, threads):
    """Labels as threads finish them; an error of a thread ends the others and is raised here."""
    # labels with many positives take longest and must not be left for the end
    order = np.argsort(-counts, kind="stable")
    suited = jobs.suits_working_set(counts)
    stop, finished = Event(), SimpleQueue()
    plain, screened = (_SharedLabels(stop, labels[order[suited[order] == kind]].tolist()) for kind in (False, True))

    def work():
        try:
            for solved in _chained(jobs, plain, screened):
                finished.put(solved)
        except BaseException as error:
            finished.put(error)

    workers = [Thread(target=work, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(len(labels)):
            solved = finished.get()
            if isinstance(solved, BaseException):
                raise solved
            yield solved
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def _chained(jobs, plain, screened):
    yield from solve_plainly(jobs, plain)
    yield from solve_on_working_sets(jobs, screened)


class _SharedLabels:
    """Iterator over labels that threads may share and that an event ends."""

    def __init__(self, stop, labels):
        self._stop, self._labels = stop, iter(labels)

    def __iter__(self):
        return self

    def __next__(self):
        if self._stop.is_set():
            raise StopIteration
        return next(self._labels)


def _assemble(results, counts, d, core_seconds):
    outcomes = [result.outcome for result in results]
    statistics = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in Outcome._fields}
    statistics["positives"] = counts
    statistics["seconds"] = np.array([result.seconds for result in results])
    trained = statistics["status"] != Status.NO_POSITIVES
    return TrainedShard(_joined(results, d), trained, statistics, core_seconds, peak_rss_bytes())


def _joined(results, d):
    """Weights of all labels; each label's own are given up as soon as they are copied."""
    indptr = np.zeros(len(results) + 1, np.int64)
    np.cumsum([len(result.indices) for result in results], out=indptr[1:])
    data, indices = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    for row in range(len(results)):
        data[indptr[row] : indptr[row + 1]] = results[row].data
        indices[indptr[row] : indptr[row + 1]] = results[row].indices
        results[row] = None
    return CSR(data, indices, indptr, d)
