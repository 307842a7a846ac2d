"""Training labels of a one-vs-all model: threads that take them from a common queue, and parts of what is finished."""

import sys
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread

import numpy as np

from ovaflow.artifacts.label_tree import ROOT
from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.fingerprint import code_fingerprint
from ovaflow.initialization.label_tree import parents_first, parents_within
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.machine.limits import peak_rss_bytes
from ovaflow.machine.pinning import settle_thread
from ovaflow.model.model_file import Model
from ovaflow.model.pruning import prune
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import CSR
from ovaflow.storage.parts import Parts, digest_of
from ovaflow.training.label_jobs import LabelJobs, LabelSolver, TrainedLabel, unsolved
from ovaflow.training.label_queue import LabelQueue
from ovaflow.training.plan import estimated_work

_NO_SOLUTION = np.empty(0, np.int32), np.empty(0, np.float32)


@dataclass(frozen=True)
class TrainedShard:
    """Labels of a shard after training, in the order they were given."""

    weights: CSR  # shape (m, d)
    trained: np.ndarray  # whether a label has weights, shape (m,)
    statistics: dict  # arrays of shape (m,): the fields of Outcome, "positives" and "seconds"
    core_seconds: float  # processor time, of all attempts
    peak_rss_bytes: int


def train_labels(dataset, inputs, labels, training, threads=1, title="train", parts=None):
    """Train some labels of a dataset; the result does not depend on the threads.

    With ``parts`` labels are kept as they are finished, and those that it holds already are not trained. InputError
    if the weights of a label are not finite.
    """
    parts = parts or Parts()
    jobs, counts = LabelJobs.of(dataset, inputs.within(labels), training), inputs.means.counts[labels]
    results, solutions = _earlier_labels(parts, labels, title)
    results |= _taken_over(inputs.earlier, labels, dataset.counts[labels], training)
    left = ~np.isin(labels, list(results))
    jobs.start.resume(labels[left], solutions)
    expected = dict(zip(labels[left].tolist(), estimated_work(counts[left]).tolist(), strict=True))
    with Progress(title, len(expected), "labels", work=sum(expected.values())) as progress:
        for label, trained in _on_threads(jobs, labels[left], counts[left], threads):
            _require_finite(label, trained, dataset)
            _keep_label(parts, label, trained)
            results[label] = trained._replace(solution=None)
            progress.advance(work=expected[label])
    core_seconds = parts.core_seconds
    parts.write()
    return _assemble([results.pop(label) for label in labels.tolist()], counts, dataset.n_features, core_seconds)


def train_model(dataset, training, threshold, threads=1, earlier=None):
    """Train all labels of a dataset; the model is the one that shards of the same training are merged into."""
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    done = train_labels(dataset, inputs, np.arange(dataset.n_labels, dtype=np.int32), training, threads)
    return Model(
        dataset.path,
        done.trained,
        dataset.counts,
        checksum="",
        parameters={"train": training.recorded, "prune": threshold, "transform": dataset.parameters},
        inputs={"dataset": dataset.checksum},
        weights=prune(done.weights, threshold),
        names_in_memory=dataset.names,
    )


def digest_of_shard(labels, training, inputs, made_from, command):
    """Digest of all that the weights of a shard depend on, with the code of the command that trains it."""
    means = inputs.means
    arrays = [labels, means.x_mean, means.pp, means.xp, np.array([means.xx, inputs.bias, inputs.n]), means.counts]
    arrays += [array for array in (inputs.root, inputs.parents) if array is not None]
    return digest_of(training.recorded, made_from, code_fingerprint(command), *arrays)


def _keep_label(parts, label, trained):
    """Keep a finished label; its weights before pruning too, if other labels start there."""
    features, weights = trained.solution or _NO_SOLUTION
    parts.keep(
        label,
        indices=trained.indices,
        data=trained.data,
        outcome=np.array([*trained.outcome, trained.seconds]),
        features=features,
        weights=weights,
    )


def _earlier_labels(parts, labels, title):
    """Results of the labels that earlier attempts finished, and the solutions that other labels may start from."""
    results, solutions = {}, {}
    for label, kept in parts.earlier().items():
        *values, seconds = kept["outcome"].tolist()
        outcome = Outcome(*(kind(value) for kind, value in zip(Outcome.__annotations__.values(), values, strict=True)))
        results[label] = TrainedLabel(kept["indices"], kept["data"], outcome, seconds)
        solutions[label] = kept["features"], kept["weights"]
    if results:
        print(f"{title}: continues, {len(results):,} of {len(labels):,} labels were finished", file=sys.stderr)
    return results, solutions


def _require_finite(label, trained, dataset):
    # pruning drops nan, but the objective still shows it
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
            for solved in LabelSolver(jobs).solve_from(queue):
                finished.put(solved)
        except BaseException as error:
            finished.put(error)

    for _ in range(threads):
        # an interrupted process must not wait for labels that take minutes
        Thread(target=work, daemon=True).start()
    try:
        for _ in range(len(labels)):
            solved = finished.get()
            if isinstance(solved, BaseException):
                raise solved
            yield solved
    finally:
        queue.stop()


def _queue_of(jobs, labels, counts, threads):
    fast = jobs.suits_fast_path(counts)
    # no label waits for one that was finished earlier
    parents = None if jobs.start.parents is None else parents_within(jobs.start.parents, labels)
    # what takes longest must not be left for the end: frequent labels, and those with long paths below them
    work = estimated_work(counts)
    below = work if parents is None else _work_to_leaves(labels, work, parents)
    order = np.argsort(-below, kind="stable")
    return LabelQueue(labels[order].tolist(), fast[order].tolist(), parents, threads)


def _work_to_leaves(labels, work, parents):
    """Work on the longest path from each label down to a leaf."""
    own = np.zeros(len(parents))
    own[labels] = work
    below = own.copy()
    for label in parents_first(labels, parents)[::-1].tolist():
        above = parents[label]
        if above != ROOT:
            below[above] = max(below[above], own[above] + below[label])
    return below[labels]


def _assemble(results, counts, d, core_seconds):
    outcomes = [result.outcome for result in results]
    statistics = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in Outcome._fields}
    statistics["positives"] = counts
    statistics["seconds"] = np.array([result.seconds for result in results])
    trained = statistics["status"] != Status.NO_POSITIVES
    return TrainedShard(_joined(results, d), trained, statistics, core_seconds, peak_rss_bytes())


def _joined(results, d):
    """Weights of all labels; each label's own are released as soon as they are copied."""
    indptr = np.zeros(len(results) + 1, np.int64)
    np.cumsum([len(result.indices) for result in results], out=indptr[1:])
    data, indices = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    for row in range(len(results)):
        data[indptr[row] : indptr[row + 1]] = results[row].data
        indices[indptr[row] : indptr[row + 1]] = results[row].indices
        results[row] = None
    return CSR(data, indices, indptr, d)
