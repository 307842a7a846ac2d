"""Files of training: shards with the pruned weights of some labels, and statistics of all labels."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import require_finite
from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import create_array, map_array, read_csr, write_csr
from ovaflow.storage.artifact import checksum_of, cost_of, create_artifact, open_artifact, origin_of

SHARD, TRAINING = "shard", "training"

STATISTICS = {
    "positives": np.int64,
    "newton_steps": np.int64,
    "cg_steps": np.int64,
    "line_search_halvings": np.int64,
    "full_passes": np.int64,
    "active_start": np.int64,
    "active_end": np.int64,
    "objective": np.float64,
    "gradient_norm": np.float64,
    "gradient_target": np.float64,
    "seconds": np.float64,
    "status": np.int8,
}
"""Names and dtypes of the per-label statistics."""


@dataclass(frozen=True)
class Shard:
    """An open shard file; the weights are mapped, not copied."""

    path: Path
    labels: np.ndarray  # int32 (m,); label of each row of the weights, in the order of training
    weights: CSR  # (m, d); weights below ``parameters["stored_threshold"]`` are dropped
    trained: np.ndarray  # bool (m,); false where a label has no classifier
    statistics: dict  # arrays (m,); see :data:`STATISTICS`
    core_seconds: float  # processor time of the solver
    peak_rss_bytes: int  # largest resident memory of the job
    parameters: dict  # settings of the training
    inputs: dict  # checksums of the artifacts used, by kind
    checksum: str


def write_shard(path, labels, weights, trained, statistics, parameters, inputs, core_seconds, peak_rss_bytes):
    """Write a shard file, with ``weights`` pruned at ``parameters["stored_threshold"]``."""
    require_finite(weights.data, 0, weights.indptr, labels, path)
    with create_artifact(path, SHARD, parameters, inputs) as file:
        create_array(file, "labels", np.asarray(labels, np.int32))
        create_array(file, "trained", np.asarray(trained, bool))
        write_csr(file.create_group("weights"), weights)
        write_statistics(file.create_group("statistics"), statistics)
        file.attrs.update(core_seconds=float(core_seconds), peak_rss_bytes=int(peak_rss_bytes))


def read_shard(path):
    with open_artifact(path, SHARD) as file:
        return Shard(
            path=Path(path),
            labels=map_array(file["labels"]),
            weights=read_csr(file["weights"]),
            trained=map_array(file["trained"]),
            statistics=read_statistics(file["statistics"]),
            checksum=checksum_of(file),
            **cost_of(file),
            **origin_of(file),
        )


def read_weights(path, checksum):
    """Weights of a shard file, not compared again with their checksum if the file's is the one given."""
    with open_artifact(path, SHARD) as file:
        return read_csr(file["weights"], compare=checksum_of(file) != checksum)


def require_alike(shard, first, dataset):
    """Refuse a shard of another dataset, or with other settings or inputs than the first one."""
    if shard.inputs.get("dataset") != dataset.checksum:
        raise InputError(f"was not trained on {dataset.path}", path=shard.path, remedy="train it again")
    ours, theirs = shard.parameters | shard.inputs, first.parameters | first.inputs
    names = sorted(ours.keys() | theirs.keys())
    differences = ", ".join(name for name in names if ours.get(name) != theirs.get(name))
    if differences:
        message = f"differs from {first.path} in {differences}"
        raise InputError(message, path=shard.path, remedy="train both alike")


def write_statistics(group, statistics):
    for name, dtype in STATISTICS.items():
        create_array(group, name, np.asarray(statistics[name], dtype))


def read_statistics(group):
    return {name: map_array(group[name]) for name in STATISTICS if name in group}


@dataclass(frozen=True)
class Training:
    """What a finished training took."""

    # arrays (l,), see :data:`STATISTICS`; empty for methods without a problem per label
    statistics: dict
    core_seconds: float  # processor time of the solver, over all shards
    shards: int  # number of shards
    peak_rss_bytes: int  # largest resident memory of a shard's job
    # arrays (T,): statistics of each tree, for methods that grow some
    trees: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)  # settings of the training
    inputs: dict = field(default_factory=dict)  # checksums of the artifacts used, by kind


def write_training(path, training):
    with create_artifact(path, TRAINING, training.parameters, training.inputs) as file:
        if training.statistics:
            write_statistics(file, training.statistics)
        for name, values in training.trees.items():
            create_array(file, f"trees/{name}", values)
        for name in ("core_seconds", "shards", "peak_rss_bytes"):
            file.attrs[name] = getattr(training, name)


def read_training(path):
    with open_artifact(path, TRAINING) as file:
        return Training(
            read_statistics(file),
            shards=int(file.attrs["shards"]),
            trees={name: map_array(values) for name, values in file.get("trees", {}).items()},
            **cost_of(file),
            **origin_of(file),
        )
