"""Merging: the shards' weights become one model, label by label, in bounded memory."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.model.model_file import write_model
from ovaflow.model.pruning import copy_kept, kept_per_row
from ovaflow.model.shard_file import STATISTICS, read_shard, read_weights
from ovaflow.model.training_file import Training, write_training

PIECE = 1 << 24
"""Weights that are gathered before they are written: 128 MiB."""

NO_SHARD = -1


@dataclass(frozen=True)
class _Plan:
    """Where each label stands and what is known of it, from one look at every shard."""

    paths: list
    checksums: list
    shard: np.ndarray  # (l,) position in paths
    row: np.ndarray  # (l,) row in that shard
    kept: np.ndarray  # (l,) weights left by pruning
    trained: np.ndarray
    statistics: dict
    core_seconds: float
    peak_rss_bytes: int
    parameters: dict
    inputs: dict


def merge(shards, dataset, threshold, model_path, training_path, piece=PIECE):
    """Join all shards of one training, ``piece`` weights at a time; the division into shards changes no byte."""
    plan = _survey([Path(path) for path in shards], dataset, threshold)
    write_model(
        model_path,
        plan.kept,
        _pieces(plan, threshold, piece),
        dataset.n_features,
        plan.trained,
        np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels),
        dataset.names,
        {"train": plan.parameters, "prune": threshold, "transform": dataset.parameters},
        {"dataset": dataset.checksum},
    )
    training = Training(plan.statistics, plan.core_seconds, len(plan.paths), plan.peak_rss_bytes)
    write_training(training_path, training, plan.parameters, plan.inputs)
    return int(plan.kept.sum())


def _survey(paths, dataset, threshold):
    n_labels = dataset.n_labels
    places = {name: np.full(n_labels, NO_SHARD, np.int64) for name in ("shard", "row", "kept")}
    trained = np.zeros(n_labels, bool)
    statistics = {name: np.zeros(n_labels, dtype) for name, dtype in STATISTICS.items()}
    first, seconds, peaks, checksums = None, [], [], []
    with Progress("checking shards", len(paths), "shards") as progress:
        for number, path in enumerate(paths):
            shard = read_shard(path)
            first = first or shard
            _check_shard(shard, first, dataset, threshold)
            _check_labels(shard, places["shard"], paths)
            places["shard"][shard.labels] = number
            places["row"][shard.labels] = np.arange(len(shard.labels))
            places["kept"][shard.labels] = kept_per_row(shard.weights, threshold)
            trained[shard.labels] = shard.trained
            for name, values in statistics.items():
                values[shard.labels] = shard.statistics[name]
            seconds.append(shard.core_seconds)
            peaks.append(shard.peak_rss_bytes)
            checksums.append(shard.checksum)
            progress.advance()
    _check_cover(places["shard"], dataset)
    return _Plan(
        paths, checksums, **places, trained=trained, statistics=statistics, core_seconds=sum(seconds),
        peak_rss_bytes=max(peaks), parameters=first.parameters, inputs=first.inputs,
    )  # fmt: skip


def _check_shard(shard, first, dataset, threshold):
    again = "run train-shard again for it"
    if shard.inputs.get("dataset") != dataset.checksum:
        raise InputError(f"was not trained on {dataset.path}", path=shard.path, remedy=again)
    if shard.weights.n_columns != dataset.n_features:
        raise InputError(
            f"{shard.weights.n_columns} features, the dataset has {dataset.n_features}", path=shard.path, remedy=again
        )
    stored = shard.parameters.get("stored_threshold", 0.0)
    if threshold < stored:
        raise InputError(
            f"weights below {stored:g} were not kept, so it cannot be pruned at {threshold:g}",
            path=shard.path,
            remedy=f"prune at {stored:g} or more, or train again with --stored-threshold={threshold:g}",
        )
    differing = _differing(shard.parameters, first.parameters) + _differing(shard.inputs, first.inputs)
    if differing:
        raise InputError(
            f"differs from {first.path} in {', '.join(differing)}", path=shard.path, remedy="train both alike"
        )


def _differing(left, right):
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))


def _check_labels(shard, owners, paths):
    labels = shard.labels
    if len(labels) and not 0 <= labels.min() <= labels.max() < len(owners):
        raise InputError(
            f"label {labels.max()} where the dataset has {len(owners)}", path=shard.path, remedy="train it again"
        )
    ids, counts = np.unique(labels, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"label {ids[counts > 1][0]} stands in it twice", path=shard.path, remedy="train it again")
    taken = labels[owners[labels] != NO_SHARD]
    if len(taken):
        raise InputError(
            f"label {taken[0]} stands in {paths[owners[taken[0]]]} too",
            path=shard.path,
            remedy="give merge the shards of one plan, each once",
        )


def _check_cover(owners, dataset):
    missing = np.flatnonzero(owners == NO_SHARD)
    if len(missing):
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(
            f"label {missing[0]}{more} of {dataset.path} stand in no shard given",
            remedy="run train-shard for the missing shards of the plan and give all of them to merge",
        )


def _pieces(plan, threshold, piece):
    n_labels = len(plan.kept)
    ends = np.zeros(n_labels + 1, np.int64)
    np.cumsum(plan.kept, out=ends[1:])
    low = 0
    with Progress("merging", n_labels, "labels") as progress:
        while low < n_labels:
            high = max(low + 1, int(np.searchsorted(ends, ends[low] + piece, "right")) - 1)
            yield _gather(plan, threshold, low, high, ends[low : high + 1] - ends[low])
            progress.advance(high - low)
            low = high


def _gather(plan, threshold, low, high, offsets):
    data, indices = np.empty(offsets[-1], np.float32), np.empty(offsets[-1], np.int32)
    owners = plan.shard[low:high]
    for number in np.unique(owners):
        places = np.flatnonzero(owners == number)
        weights = read_weights(plan.paths[number], plan.checksums[number])
        copy_kept(weights, plan.row[low + places], threshold, data, indices, offsets[places])
    return data, indices
