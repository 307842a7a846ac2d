"""Solving labels of a dataset in tests: one by one, or on the fast path."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.initialization.pretrained import EarlierModel
from ovaflow.initialization.starts import compute_start_inputs, make_start
from ovaflow.model.training_file import Shard
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.newton import set_up_problem
from ovaflow.solver.problem import Workspace, make_unit_instances, make_workspace
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.training.label_jobs import LabelJobs, LabelQueue, LabelWorker, TrainedLabel
from ovaflow.training.shard_job import train_labels


def make_memory_dataset(X: Any, Y: Any) -> Dataset:
    """Make a dataset of sparse or dense matrices, the same for training and test."""
    split = Split(from_scipy(X), from_scipy(Y))
    return Dataset("memory", split, split, "", {"bias": 1.0})


def make_jobs(dataset: Dataset, **settings: Any) -> LabelJobs:
    """Make the one-vs-all problems of a dataset, nothing pruned."""
    training = TrainLabels(**{"stored_threshold": 0.0} | settings)
    return LabelJobs.from_dataset(dataset, compute_start_inputs(dataset, training), training)


def solve_labels(
    jobs: LabelJobs, labels: Iterable[int], *, fast: bool = True
) -> dict[int, TrainedLabel]:
    """Solve labels, all on the fast path or none."""
    labels = list(labels)
    queue = LabelQueue(labels, [fast] * len(labels))
    return dict(LabelWorker(jobs).solve_from(queue))


def make_work_at(X: CSR, y: np.ndarray, weights: np.ndarray, cost: float = 1.0) -> Workspace:
    """Make the workspace of a problem at some weights; each positive has the cost."""
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = weights
    positives = np.flatnonzero(y > 0).astype(np.int32)
    set_up_problem(X, make_unit_instances(X.n_rows), positives, np.float32(cost), work)
    return work


def train_shard(
    dataset: Dataset,
    labels: Any = None,
    threads: int = 1,
    earlier: EarlierModel | None = None,
    **settings: Any,
) -> Shard:
    """Train the shard of some labels, or of all."""
    training = TrainLabels(**settings)
    inputs = compute_start_inputs(dataset, training, earlier=earlier)
    labels = np.arange(dataset.n_labels) if labels is None else np.asarray(labels)
    return train_labels(dataset, inputs, labels, training, threads=threads)


def compute_starts(
    dataset: Dataset, earlier: EarlierModel | None = None, **settings: Any
) -> np.ndarray:
    """Compute the start of every label, dense."""
    training = TrainLabels(**settings)
    start = make_start(training, compute_start_inputs(dataset, training, earlier=earlier))
    weights = np.full((dataset.n_labels, dataset.n_features), np.nan, np.float32)
    for label in range(dataset.n_labels):
        first, end = dataset.positives.indptr[label : label + 2]
        positives = dataset.positives.indices[first:end]
        start.fill(label, dataset.train.X, positives, weights[label])
    return weights


def make_earlier(dataset: Dataset, labels: np.ndarray, shard: Shard) -> EarlierModel:
    """Make a trained shard the earlier model of the same dataset."""
    rows = np.full(dataset.n_labels, -1)
    rows[labels] = np.where(shard.trained, np.arange(len(labels)), -1)
    d = dataset.n_features
    return EarlierModel(
        weights=shard.weights,
        rows=rows,
        columns=np.arange(d),
        factors=np.ones(d, np.float32),
        counts=shard.statistics["positives"],
    )


def assert_same_bits(ours: Any, theirs: Any) -> None:
    """Compare two sparse matrices, or two solved labels."""
    assert ours.data.tobytes() == theirs.data.tobytes()
    assert ours.indices.tobytes() == theirs.indices.tobytes()


def read_model_bytes(path: str | Path) -> dict[str, bytes]:
    """Read the bytes of every array of a model file."""
    arrays = {}

    def read(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(read)
    return arrays
