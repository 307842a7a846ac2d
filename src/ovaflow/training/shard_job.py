"""One shard of a one-vs-all model: threads that take labels from a common list."""

from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread

import numpy as np

from ovaflow.artifacts.label_tree import ROOT
from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.initialization.label_tree import parents_within
from ovaflow.machine.limits import peak_rss_bytes
from ovaflow.machine.pinning import settle_thread
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import CSR
from ovaflow.storage.parts import Parts
from ovaflow.training.finished_labels import earlier_labels, keep_label
from ovaflow.training.label_jobs import LabelJobs, solve_on_fast_path, solve_plainly, unsolved
from ovaflow.training.label_queue import Hand, LabelQueue
from ovaflow.training.plan import estimated_work

_SOLVERS = (solve_plainly, solve_on_fast_path)
"""By kind of label; a thread takes from the first before the others."""

_OVER = object()


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
        Threads times wall seconds, of all attempts.
    peak_rss_bytes : int
    """

    weights: CSR
    trained: np.ndarray
    statistics: dict
    core_seconds: float
    peak_rss_bytes: int


def train_labels(dataset, inputs, labels, training, threads=1, title="train", parts=None):
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
    parts : Parts, optional
        Keep labels as they are finished; what they hold already is not trained.

    Returns
    -------
    TrainedShard

    Raises
    ------
    InputError
        If the weights of a label are not finite.
    """
    parts = parts or Parts(threads=threads)
    jobs, counts = LabelJobs.of(dataset, inputs.within(labels), training), inputs.means.counts[labels]
    results, solutions = earlier_labels(parts, labels, title)
    results |= _taken_over(inputs.earlier, labels, counts, training)
    left = ~np.isin(labels, list(results))
    jobs.start.resume(labels[left], solutions)
    with Progress(title, int(left.sum()), "labels") as progress:
        for label, trained in _on_threads(jobs, labels[left], counts[left], threads):
            _require_finite(label, trained, dataset)
            keep_label(parts, label, trained)
            results[label] = trained._replace(solution=None)
            progress.advance()
    core_seconds = parts.core_seconds
    parts.write()
    return _assemble([results.pop(label) for label in labels.tolist()], counts, dataset.n_features, core_seconds)


def _require_finite(label, trained, dataset):
    # pruning would drop nan, so weights that are gone by now are told by the objective
    if not (np.isfinite(trained.outcome).all() and np.isfinite(trained.data).all()):
        raise InputError(
            f"label {label}: its weights or their gradient are beyond what numbers of 32 bits hold",
            path=dataset.path,
            remedy="prepare the dataset with normalize: true, or choose a smaller C",
        )


def _taken_over(earlier, labels, counts, training):
    """Labels that keep the weights of the earlier model."""
    if earlier is None or training.initialization != "pretrained":
        return {}
    kept = labels[earlier.taken_over(labels, counts, training.retrain)]
    return {label: unsolved(Status.TAKEN_OVER, *earlier.weights_of(label)) for label in kept.tolist()}


def _on_threads(jobs, labels, counts, threads):
    """Labels as threads finish them; an error of a thread ends the others and is raised here."""
    queue, finished = _queue_of(jobs, labels, counts, threads), SimpleQueue()

    def work():
        try:
            settle_thread()
            for solved in _solved(jobs, queue):
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
    except KeyboardInterrupt:
        # the process ends, and must not wait for labels that take minutes
        workers = []
        raise
    finally:
        queue.stop()
        for worker in workers:
            worker.join()


def _queue_of(jobs, labels, counts, threads):
    kinds = jobs.suits_fast_path(counts).astype(int)
    # those that were finished earlier keep nobody waiting
    parents = None if jobs.start.parents is None else parents_within(jobs.start.parents, labels)
    # what takes longest must not be left for the end: frequent labels, and those with a long way down to the leaves
    work = estimated_work(counts)
    below = work if parents is None else _work_below(labels, work, parents)
    order = np.argsort(-below, kind="stable")
    return LabelQueue(labels[order].tolist(), kinds[order].tolist(), len(_SOLVERS), parents, threads)


def _work_below(labels, work, parents):
    """Work on the longest path from each label down to a leaf."""
    place = {label: number for number, label in enumerate(labels.tolist())}
    below = work.copy()
    for leaf in labels.tolist():
        label, reach = leaf, work[place[leaf]]
        while parents[label] != ROOT:
            label = int(parents[label])
            reach += work[place[label]]
            if below[place[label]] >= reach:
                break
            below[place[label]] = reach
    return below


def _solved(jobs, queue):
    """Labels as one thread finishes them, waiting where all that is left depends on other threads."""
    hand = Hand(queue)
    solvers = [solve(jobs, hand.labels(kind)) for kind, solve in enumerate(_SOLVERS)]
    while solvers:
        solved = None
        for solver in tuple(solvers):
            solved = next(solver, _OVER)
            if solved is _OVER:
                solvers.remove(solver)
            elif solved is not None:
                hand.finish(solved[0])
                yield solved
                break
        else:
            queue.wait()


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
