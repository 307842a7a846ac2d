"""Training labels of a one-vs-all model: threads share a queue, and finished labels are kept."""

import sys
from queue import SimpleQueue
from threading import Thread

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.initialization.label_tree import order_parents_first, restrict_parents
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.machine.pinning import pin_thread
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.model.training_file import Shard, cast_statistics
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.weight_rows import can_round_weights, round_weights
from ovaflow.storage.parts import Parts
from ovaflow.training.label_jobs import (
    LabelJobs,
    LabelQueue,
    LabelWorker,
    TrainedLabel,
    make_unsolved_label,
)
from ovaflow.training.plan import estimate_work

_NO_SOLUTION = np.empty(0, np.int32), np.empty(0, np.float32)


def train_labels(dataset, inputs, labels, training, threads=1, title="train", parts=None):
    """Train some labels of a dataset, except those that earlier attempts have kept in ``parts``."""
    parts = parts or Parts()
    jobs = LabelJobs.from_dataset(dataset, inputs.within(labels), training)
    counts = inputs.means.counts[labels]
    results, solutions = _earlier_labels(parts, labels, title)
    results |= _unchanged_labels(inputs.earlier, labels, dataset.counts[labels], training)
    remaining = ~np.isin(labels, list(results))
    jobs.start.resume(labels[remaining], solutions)
    work = estimate_work(counts[remaining]).tolist()
    work_by_label = dict(zip(labels[remaining].tolist(), work, strict=True))
    with Progress(title, len(work), "labels", work=sum(work)) as progress:
        for label, result in _on_threads(jobs, labels[remaining], counts[remaining], threads):
            _require_finite(label, result, dataset)
            _keep_label(parts, label, result)
            results[label] = result._replace(solution=None)
            progress.advance(work=work_by_label[label])
    core_seconds = parts.core_seconds
    parts.write()
    in_order = [results.pop(label) for label in labels.tolist()]
    return _assemble(labels, in_order, counts, dataset.n_features, core_seconds)


def train_model(dataset, training, threshold, threads=1, earlier=None):
    """Train all labels of a dataset; the model is the one that shards of the same training are
    merged into.
    """
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    done = train_labels(dataset, inputs, labels, training, threads)
    parameters = {"train": training.recorded, "prune": threshold}
    weights = prune(done.weights, threshold)
    if can_round_weights(dataset.parameters):
        weights = round_weights(weights)
    return OneVsAll.in_memory(dataset, done.trained, parameters, weights=weights)


def _keep_label(parts, label, result) -> None:
    """Keep a finished label; its weights before pruning too, if other labels start there."""
    features, weights = result.solution or _NO_SOLUTION
    parts.keep(
        label,
        indices=result.indices,
        data=result.data,
        outcome=np.array([*result.outcome, result.seconds]),
        features=features,
        weights=weights,
    )


def _earlier_labels(parts, labels, title):
    """Results of labels that earlier attempts finished, and solutions where other labels may start."""
    results = {}
    solutions = {}
    types = Outcome.__annotations__.values()
    for label, piece in parts.read_earlier().items():
        *values, seconds = piece["outcome"].tolist()
        outcome = Outcome(*(kind(value) for kind, value in zip(types, values, strict=True)))
        results[label] = TrainedLabel(piece["indices"], piece["data"], outcome, seconds)
        solutions[label] = piece["features"], piece["weights"]
    if results:
        finished = f"{len(results):,} of {len(labels):,} labels were finished"
        print(f"{title}: continues, {finished}", file=sys.stderr)
    return results, solutions


def _require_finite(label, result, dataset) -> None:
    # pruning drops nan, but the objective still shows it
    if not (np.isfinite(result.outcome).all() and np.isfinite(result.data).all()):
        message = f"label {label}: its weights or their gradient exceed the range of 32-bit numbers"
        remedy = "prepare the dataset with normalize: true, or choose a smaller C"
        raise InputError(message, path=dataset.path, remedy=remedy)


def _unchanged_labels(earlier, labels, counts, training):
    """Labels that keep the weights of the earlier model."""
    if earlier is None or training.initialization != "pretrained":
        return {}
    unchanged = labels[earlier.keeps(labels, counts, training.retrain)].tolist()
    return {
        label: make_unsolved_label(Status.TAKEN_OVER, *earlier.weights_of(label))
        for label in unchanged
    }


def _on_threads(jobs, labels, counts, threads):
    """Labels as threads finish them; an error of a thread stops the others and is raised here."""
    queue = _queue_of(jobs, labels, counts, threads)
    results = SimpleQueue()

    def work() -> None:
        try:
            pin_thread()
            for result in LabelWorker(jobs).solve_from(queue):
                results.put(result)
        except BaseException as error:
            results.put(error)

    for _ in range(threads):
        # an interrupted process must not wait for labels that take minutes
        Thread(target=work, daemon=True).start()
    try:
        for _ in range(len(labels)):
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        queue.stop()


def _queue_of(jobs, labels, counts, threads):
    fast = jobs.suits_fast_path(counts)
    parents = jobs.start.parents
    # the longest work must not come last: frequent labels, and those with long paths below them
    below = estimate_work(counts)
    if parents is not None:
        # no label waits for one that was finished earlier
        parents = restrict_parents(parents, labels)
        below = _work_to_leaves(labels, below, parents)
    order = np.argsort(-below, kind="stable")
    return LabelQueue(labels[order].tolist(), fast[order].tolist(), parents, threads)


def _work_to_leaves(labels, work, parents):
    """Work on the longest path from each label down to a leaf."""
    alone = np.zeros(len(parents))
    alone[labels] = work
    below = alone.copy()
    for label in order_parents_first(labels, parents)[::-1].tolist():
        parent = parents[label]
        if parent != ROOT_PARENT:
            below[parent] = max(below[parent], alone[parent] + below[label])
    return below[labels]


def _assemble(labels, results, counts, d, core_seconds):
    statistics = {"positives": counts}
    for name in Outcome._fields:
        statistics[name] = np.array([getattr(result.outcome, name) for result in results])
    statistics["seconds"] = np.array([result.seconds for result in results])
    trained = statistics["status"] != Status.NO_POSITIVES
    parts = labels.astype(np.int32), trained, _join(results, d), cast_statistics(statistics)
    return Shard(*parts, core_seconds, read_peak_rss())


def _join(results, d):
    """Weights of all labels; those of each label are released once they are copied."""
    indptr = offsets([len(result.indices) for result in results])
    data = np.empty(indptr[-1], np.float32)
    indices = np.empty(indptr[-1], np.int32)
    for row in range(len(results)):
        data[indptr[row] : indptr[row + 1]] = results[row].data
        indices[indptr[row] : indptr[row + 1]] = results[row].indices
        results[row] = None
    return CSR(data, indices, indptr, d)
