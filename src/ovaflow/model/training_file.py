"""Files of training: shards with the pruned weights of some labels, and statistics of all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Dataset
from ovaflow.model.model_file import require_finite
from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import read_csr
from ovaflow.storage.artifact import AT_ROOT, Artifact
from ovaflow.storage.hdf5 import open_artifact, read_checksum

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


def cast_statistics(statistics: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Bring statistics into their order and dtypes."""
    return {name: np.asarray(statistics[name], dtype) for name, dtype in STATISTICS.items()}


@dataclass(frozen=True)
class Shard(Artifact, kind="shard", made_from=("dataset",), remedy="train it again"):
    """Labels of a shard after training, in the order they were asked for."""

    labels: np.ndarray  # int32 (m,); label of each row of the weights
    trained: np.ndarray  # bool (m,); false where a label has no classifier
    weights: CSR  # (m, d); weights below ``parameters["stored_threshold"]`` are dropped
    statistics: dict  # arrays (m,); see :data:`STATISTICS`
    core_seconds: float  # processor time of the solver, of all attempts
    peak_rss_bytes: int  # largest resident memory of the job

    def write(self, path: StrPath, **made_from: Any) -> None:
        require_finite(self.weights.data, 0, self.weights.indptr, self.labels, path)
        super().write(path, **made_from)


def read_weights(path: StrPath, checksum: str) -> CSR:
    """Read the weights of a shard file.

    They are compared with their checksum again only if the file's is no longer the one given.
    """
    with open_artifact(path, Shard.kind) as file:
        return read_csr(file["weights"], compare=read_checksum(file) != checksum)


def require_same_training(shard: Any, first: Any, dataset: Dataset) -> None:
    """Refuse a shard of another dataset, or with other settings or inputs than the first one."""
    shard.require(dataset=dataset)
    ours = shard.parameters | shard.inputs
    theirs = first.parameters | first.inputs
    names = sorted(ours.keys() | theirs.keys())
    differences = ", ".join(name for name in names if ours.get(name) != theirs.get(name))
    if differences:
        message = f"differs from {first.path} in {differences}"
        raise InputError(message, path=shard.path, remedy="train both alike")


@dataclass(frozen=True)
class Training(Artifact, kind="training", made_from=("dataset",)):
    """Time, memory and statistics of a finished training."""

    # arrays (l,), see :data:`STATISTICS`; empty for methods without a problem per label
    statistics: dict = field(default_factory=dict, kw_only=True, metadata=AT_ROOT)
    # arrays (T,): statistics of each tree, for methods that grow some
    trees: dict = field(default_factory=dict, kw_only=True)
    core_seconds: float  # processor time of the solver, over all shards
    shards: int  # number of shards
    peak_rss_bytes: int  # largest resident memory of a shard's job
