"""Merging of shards into one model, label by label, in bounded memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset
from ovaflow.model.model_file import ModelDescription, write_model
from ovaflow.model.pruning import copy_kept_weights, count_kept_weights
from ovaflow.model.training_file import (
    STATISTICS,
    Shard,
    Training,
    read_weights,
    require_same_training,
)
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.weight_rows import can_round_weights

PIECE_WEIGHTS = 1 << 24
"""Weights gathered before they are written: 128 MiB."""

NO_SHARD = -1
"""Number of the shard of a label that none has."""


@dataclass(frozen=True)
class _Plan:
    """Places of each label's weights."""

    paths: list[Path]
    checksums: list[str]
    shard: np.ndarray  # (l,) position in paths, or NO_SHARD
    row: np.ndarray  # (l,) row in that shard
    sizes: np.ndarray  # (l,) number of weights after pruning
    stored: np.ndarray  # (l,) and before


def merge(
    shards: Sequence[StrPath],
    dataset: Dataset,
    threshold: float,
    model_path: StrPath,
    training_path: StrPath,
    piece: int = PIECE_WEIGHTS,
) -> tuple[int, int]:
    """Merge the shards of one training; any division into shards gives the same bytes.

    Parameters
    ----------
    shards
        Shard files.
    dataset
        The dataset that they were trained on.
    threshold
        Smaller weights are dropped.
    model_path, training_path
        The files to write: the model, and the statistics of its training.
    piece
        Number of weights that are gathered at a time.

    Returns
    -------
    n_weights, n_stored : int
        Number of weights of the model, and of those that the shards hold.
    """
    plan, trained, training = _survey_shards([Path(path) for path in shards], dataset, threshold)
    parameters = {
        "train": training.parameters,
        "prune": threshold,
        "transform": dataset.parameters,
    }
    inputs = {"dataset": dataset.checksum}
    write_model(
        model_path,
        plan.sizes,
        _gather_pieces(plan, threshold, piece, dataset.n_features),
        dataset.n_features,
        ModelDescription(trained, dataset.counts, dataset.names, parameters, inputs),
        rounds=can_round_weights(dataset.parameters),
    )
    training.write(training_path)
    return int(plan.sizes.sum()), int(plan.stored.sum())


def _survey_shards(
    paths: list[Path], dataset: Dataset, threshold: float
) -> tuple[_Plan, np.ndarray, Training]:
    """Read all shards once: the plan, the labels that are trained, and statistics."""
    n_labels = dataset.n_labels
    plan = _Plan(
        paths=paths,
        checksums=[],
        shard=np.full(n_labels, NO_SHARD, np.int64),
        row=np.full(n_labels, NO_SHARD, np.int64),
        sizes=np.full(n_labels, NO_SHARD, np.int64),
        stored=np.full(n_labels, NO_SHARD, np.int64),
    )
    trained = np.zeros(n_labels, bool)
    statistics = {name: np.zeros(n_labels, dtype) for name, dtype in STATISTICS.items()}
    first = None
    seconds = []
    peaks = []
    with Progress("checking shards", len(paths), "shards") as progress:
        for number, path in enumerate(paths):
            shard = Shard.open(path)
            first = first or shard
            _require_fitting_shard(shard, first, dataset, threshold)
            _require_new_labels(shard, plan)
            plan.shard[shard.labels] = number
            plan.row[shard.labels] = np.arange(len(shard.labels))
            plan.sizes[shard.labels] = count_kept_weights(shard.weights, threshold)
            plan.stored[shard.labels] = np.diff(shard.weights.indptr)
            trained[shard.labels] = shard.trained
            for name, values in statistics.items():
                values[shard.labels] = shard.statistics[name]
            seconds.append(shard.core_seconds)
            peaks.append(shard.peak_rss_bytes)
            plan.checksums.append(shard.checksum)
            progress.advance()
    _require_all_labels(plan.shard, dataset)
    assert first is not None
    training = Training(
        core_seconds=sum(seconds),
        shards=len(paths),
        peak_rss_bytes=max(peaks),
        statistics=statistics,
        parameters=first.parameters,
        inputs=first.inputs,
    )
    return plan, trained, training


def _require_fitting_shard(shard: Shard, first: Shard, dataset: Dataset, threshold: float) -> None:
    """Refuse a shard of another training, or one that lacks weights above the threshold."""
    require_same_training(shard, first, dataset)
    stored = shard.parameters.get("stored_threshold", 0.0)
    if threshold < stored:
        message = f"weights below {stored:g} were not kept, so it cannot be pruned at {threshold:g}"
        remedy = f"prune at {stored:g} or more, or train with --stored-threshold={threshold:g}"
        raise InputError(message, path=shard.path, remedy=remedy)


def _require_new_labels(shard: Shard, plan: _Plan) -> None:
    """Refuse a shard with labels of an earlier one."""
    duplicates = shard.labels[plan.shard[shard.labels] != NO_SHARD]
    if len(duplicates):
        other = plan.paths[plan.shard[duplicates[0]]]
        message = f"label {duplicates[0]} is also in {other}"
        remedy = "give the shards of one plan, each once"
        raise InputError(message, path=shard.path, remedy=remedy)


def _require_all_labels(shard_of_label: np.ndarray, dataset: Dataset) -> None:
    """Refuse shards that lack a label."""
    missing = np.flatnonzero(shard_of_label == NO_SHARD)
    if len(missing):
        labels = f"{len(missing):,} labels of {dataset.path}, the first {missing[0]},"
        remedy = "run train-shard for the missing shards of the plan, and give all of them to merge"
        raise InputError(f"{labels} are in none of the shards", remedy=remedy)


def _gather_pieces(plan: _Plan, threshold: float, piece: int, n_features: int) -> Iterator[CSR]:
    """Gather weights of consecutive labels, about ``piece`` at a time."""
    n_labels = len(plan.sizes)
    ends = offsets(plan.sizes)
    low = 0
    with Progress("merging", n_labels, "labels") as progress:
        while low < n_labels:
            high = max(low + 1, int(np.searchsorted(ends, ends[low] + piece, "right")) - 1)
            indptr = ends[low : high + 1] - ends[low]
            yield _gather_labels(
                plan,
                threshold,
                low,
                high,
                CSR(
                    np.empty(indptr[-1], np.float32),
                    np.empty(indptr[-1], np.int32),
                    indptr,
                    n_features,
                ),
            )
            progress.advance(high - low)
            low = high


def _gather_labels(plan: _Plan, threshold: float, low: int, high: int, piece: CSR) -> CSR:
    """Fill a piece with the weights of labels low..high, shard by shard."""
    shard_of_label = plan.shard[low:high]
    for number in np.unique(shard_of_label):
        rows = np.flatnonzero(shard_of_label == number)
        weights = read_weights(plan.paths[number], plan.checksums[number])
        copy_kept_weights(
            weights,
            plan.row[low + rows],
            threshold,
            piece.data,
            piece.indices,
            piece.indptr[rows],
        )
    return piece
