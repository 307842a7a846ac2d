"""Training of labels of a one-vs-all model: threads share a queue, and finished labels are kept."""

import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.label_tree import order_parents_first, restrict_parents
from ovaflow.initialization.pretrained import EarlierModel
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.start import Solution
from ovaflow.initialization.starts import StartInputs, compute_start_inputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.machine.pinning import pin_thread
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.model.training_file import Shard, cast_statistics
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.weight_rows import WeightRows, can_round_weights, round_weights
from ovaflow.storage.parts import Parts
from ovaflow.training.label_jobs import (
    LabelJobs,
    LabelQueue,
    LabelWorker,
    TrainedLabel,
    make_unsolved_label,
)
from ovaflow.training.plan import estimate_work

_NO_SOLUTION: Solution = (np.empty(0, np.int32), np.empty(0, np.float32))


def train_labels(
    dataset: Dataset,
    inputs: StartInputs,
    labels: np.ndarray,
    training: TrainLabels,
    *,
    threads: int = 1,
    title: str = "train",
    parts: Parts | None = None,
) -> Shard:
    """Train some labels of a dataset, except those that earlier attempts have kept in ``parts``."""
    parts = parts or Parts()
    jobs = LabelJobs.from_dataset(dataset, inputs.restrict_to(labels), training)
    counts = inputs.means.counts[labels]
    results, solutions = _read_finished_labels(parts, labels, title)
    results |= _take_over_labels(inputs.earlier, labels, dataset.counts[labels], training)
    is_remaining = ~np.isin(labels, list(results))
    remaining = labels[is_remaining]
    jobs.start.resume(remaining, solutions)
    work = estimate_work(counts[is_remaining]).tolist()
    work_by_label = dict(zip(remaining.tolist(), work, strict=True))
    with Progress(title, len(work), "labels", work=sum(work)) as progress:
        for label, result in _solve_on_threads(jobs, remaining, counts[is_remaining], threads):
            _require_finite(label, result, dataset)
            _keep_label(parts, label, result)
            results[label] = result._replace(solution=None)
            progress.advance(work=work_by_label[label])
    core_seconds = parts.core_seconds
    parts.write()
    in_order = [results.pop(label) for label in labels.tolist()]
    return _make_shard(labels, in_order, counts, dataset.n_features, core_seconds)


def train_model(
    dataset: Dataset,
    training: TrainLabels,
    threshold: float,
    threads: int = 1,
    earlier: EarlierModel | None = None,
) -> OneVsAll:
    """Train all labels of a dataset, and drop weights below a threshold.

    The model is the one that shards of the same training are merged into.
    """
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    shard = train_labels(dataset, inputs, labels, training, threads=threads)
    parameters = {"train": training.recorded, "prune": threshold}
    pruned = prune(shard.weights, threshold)
    weights: CSR | WeightRows = pruned
    if can_round_weights(dataset.parameters):
        weights = round_weights(pruned)
    return OneVsAll.in_memory(dataset, shard.trained, parameters, weights=weights)


def _keep_label(parts: Parts, label: int, result: TrainedLabel) -> None:
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


def _read_finished_labels(
    parts: Parts, labels: np.ndarray, title: str
) -> tuple[dict[int, TrainedLabel], dict[int, Solution]]:
    """Read the labels that earlier attempts finished.

    Returns their results, and solutions where other labels may start.
    """
    results = {}
    solutions = {}
    types = Outcome.__annotations__.values()
    for label, piece in parts.read_earlier().items():
        *values, seconds = piece["outcome"].tolist()
        outcome = Outcome._make(kind(value) for kind, value in zip(types, values, strict=True))
        results[label] = TrainedLabel(piece["indices"], piece["data"], outcome, seconds)
        solutions[label] = piece["features"], piece["weights"]
    if results:
        finished = f"{len(results):,} of {len(labels):,} labels were finished"
        print(f"{title}: continues, {finished}", file=sys.stderr)
    return results, solutions


def _require_finite(label: int, result: TrainedLabel, dataset: Dataset) -> None:
    """Refuse a label whose weights overflowed."""
    # pruning drops nan, but the objective still shows it
    if not (np.isfinite(result.outcome).all() and np.isfinite(result.data).all()):
        message = f"label {label}: its weights or their gradient exceed the range of 32-bit numbers"
        remedy = "prepare the dataset with normalize: true, or choose a smaller C"
        raise InputError(message, path=dataset.path, remedy=remedy)


def _take_over_labels(
    earlier: EarlierModel | None, labels: np.ndarray, counts: np.ndarray, training: TrainLabels
) -> dict[int, TrainedLabel]:
    """Take over the labels that keep the weights of the earlier model."""
    if earlier is None or training.initialization != "pretrained":
        return {}
    taken_over = {}
    for label in labels[earlier.find_kept(labels, counts, training.retrain)].tolist():
        features, data = earlier.read_label(label)
        taken_over[label] = make_unsolved_label(Status.TAKEN_OVER, features, data)
    return taken_over


def _solve_on_threads(
    jobs: LabelJobs, labels: np.ndarray, counts: np.ndarray, threads: int
) -> Iterator[tuple[int, TrainedLabel]]:
    """Solve labels on threads, and yield each when it is finished.

    An error of a thread stops the others and is raised here.
    """
    queue = _make_queue(jobs, labels, counts, threads)
    results: SimpleQueue = SimpleQueue()

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


def _make_queue(
    jobs: LabelJobs, labels: np.ndarray, counts: np.ndarray, threads: int
) -> LabelQueue:
    """Order labels so that the longest work comes first.

    That of frequent labels, or where labels start at their parents, of long paths below them.
    """
    fast = jobs.suits_fast_path(counts)
    parents = jobs.start.parents
    work = estimate_work(counts)
    if parents is not None:
        # no label waits for one that was finished earlier
        parents = restrict_parents(parents, labels)
        work = _sum_work_to_leaves(labels, work, parents)
    order = np.argsort(-work, kind="stable")
    return LabelQueue(labels[order].tolist(), fast[order].tolist(), parents, threads)


def _sum_work_to_leaves(labels: np.ndarray, work: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Sum the work on the longest path from each label down to a leaf."""
    own = np.zeros(len(parents))
    own[labels] = work
    below = own.copy()
    for label in order_parents_first(labels, parents)[::-1].tolist():
        parent = parents[label]
        if parent != ROOT_PARENT:
            below[parent] = max(below[parent], own[parent] + below[label])
    return below[labels]


def _make_shard(
    labels: np.ndarray,
    results: list,
    counts: np.ndarray,
    d: int,
    core_seconds: float,
) -> Shard:
    """Make a shard of trained labels; ``results`` is emptied."""
    statistics = {"positives": counts}
    for name in Outcome._fields:
        statistics[name] = np.array([getattr(result.outcome, name) for result in results])
    statistics["seconds"] = np.array([result.seconds for result in results])
    trained = statistics["status"] != Status.NO_POSITIVES
    return Shard(
        labels.astype(np.int32),
        trained,
        _join_weights(results, d),
        cast_statistics(statistics),
        core_seconds,
        read_peak_rss(),
    )


def _join_weights(results: list, d: int) -> CSR:
    """Join the weights of all labels; those of each label are released once they are copied."""
    indptr = offsets([len(result.indices) for result in results])
    data = np.empty(indptr[-1], np.float32)
    indices = np.empty(indptr[-1], np.int32)
    for row in range(len(results)):
        data[indptr[row] : indptr[row + 1]] = results[row].data
        indices[indptr[row] : indptr[row + 1]] = results[row].indices
        results[row] = None
    return CSR(data, indices, indptr, d)
