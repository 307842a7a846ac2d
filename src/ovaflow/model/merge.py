"""Merging: the shards' weights become one model, label by label, in bounded memory."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.model.model_file import write_model
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


@dataclass(frozen=True)
class _Plan:
    """Where each label's weights are."""

    paths: list
    checksums: list
    shard: np.ndarray  # (l,) position in paths
    row: np.ndarray  # (l,) row in that shard
    sizes: np.ndarray  # (l,) number of weights after pruning
    stored: np.ndarray  # (l,) and before


def merge(shards, dataset, threshold, model_path, training_path, piece=PIECE_WEIGHTS):
    """Merge the shards of one training, ``piece`` weights at a time; any division gives the same
    bytes.

    Returns the number of weights, and of those that the shards hold.
    """
    plan, trained, training = _survey([Path(path) for path in shards], dataset, threshold)
    write_model(
        model_path,
        plan.sizes,
        _pieces(plan, threshold, piece, dataset.n_features),
        dataset.n_features,
        trained,
        dataset.counts,
        dataset.names,
        {"train": training.parameters, "prune": threshold, "transform": dataset.parameters},
        {"dataset": dataset.checksum},
        can_round_weights(dataset.parameters),
    )
    training.write(training_path)
    return int(plan.sizes.sum()), int(plan.stored.sum())


def _survey(paths, dataset, threshold):
    """The plan, which labels are trained, and how training went, in one pass over the shards."""
    of_labels = (np.full(dataset.n_labels, NO_SHARD, np.int64) for _ in range(4))
    plan = _Plan(paths, [], *of_labels)
    trained = np.zeros(dataset.n_labels, bool)
    statistics = {name: np.zeros(dataset.n_labels, dtype) for name, dtype in STATISTICS.items()}
    first = None
    seconds = []
    peaks = []
    with Progress("checking shards", len(paths), "shards") as progress:
        for number, path in enumerate(paths):
            shard = Shard.open(path)
            first = first or shard
            _check_shard(shard, first, dataset, threshold)
            _check_duplicates(shard, plan)
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
    _check_cover(plan.shard, dataset)
    costs = sum(seconds), len(paths), max(peaks)
    about = {"parameters": first.parameters, "inputs": first.inputs}
    training = Training(*costs, statistics=statistics, **about)
    return plan, trained, training


def _check_shard(shard, first, dataset, threshold) -> None:
    require_same_training(shard, first, dataset)
    stored = shard.parameters.get("stored_threshold", 0.0)
    if threshold < stored:
        message = f"weights below {stored:g} were not kept, so it cannot be pruned at {threshold:g}"
        remedy = f"prune at {stored:g} or more, or train with --stored-threshold={threshold:g}"
        raise InputError(message, path=shard.path, remedy=remedy)


def _check_duplicates(shard, plan) -> None:
    duplicates = shard.labels[plan.shard[shard.labels] != NO_SHARD]
    if len(duplicates):
        other = plan.paths[plan.shard[duplicates[0]]]
        message = f"label {duplicates[0]} is also in {other}"
        remedy = "give the shards of one plan, each once"
        raise InputError(message, path=shard.path, remedy=remedy)


def _check_cover(owners, dataset) -> None:
    missing = np.flatnonzero(owners == NO_SHARD)
    if len(missing):
        labels = f"{len(missing):,} labels of {dataset.path}, the first {missing[0]},"
        remedy = "run train-shard for the missing shards of the plan, and give all of them to merge"
        raise InputError(f"{labels} are in none of the shards", remedy=remedy)


def _pieces(plan, threshold, piece, n_features):
    n_labels = len(plan.sizes)
    ends = offsets(plan.sizes)
    low = 0
    with Progress("merging", n_labels, "labels") as progress:
        while low < n_labels:
            high = max(low + 1, int(np.searchsorted(ends, ends[low] + piece, "right")) - 1)
            indptr = ends[low : high + 1] - ends[low]
            yield CSR(*_gather(plan, threshold, low, high, indptr), indptr, n_features)
            progress.advance(high - low)
            low = high


def _gather(plan, threshold, low, high, offsets):
    data = np.empty(offsets[-1], np.float32)
    indices = np.empty(offsets[-1], np.int32)
    owners = plan.shard[low:high]
    for number in np.unique(owners):
        places = np.flatnonzero(owners == number)
        weights = read_weights(plan.paths[number], plan.checksums[number])
        copy_kept_weights(
            weights, plan.row[low + places], threshold, data, indices, offsets[places]
        )
    return data, indices
