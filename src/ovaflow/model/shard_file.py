"""The shard file: the pruned weights of some labels and how their training went."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import amount_of, create_array, map_vector, number_of, read_csr, write_csr
from ovaflow.storage.artifact import checksum_of, create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.refusals import damaged

KIND = "shard"

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
    core_seconds: float  # threads times wall seconds of the solver
    peak_rss_bytes: int  # largest resident memory of the job
    parameters: dict  # settings of the training
    inputs: dict  # checksums of the artifacts used, by kind
    checksum: str


def write_shard(path, labels, weights, trained, statistics, parameters, inputs, core_seconds, peak_rss_bytes):
    """Write a shard file, with ``weights`` pruned at ``parameters["stored_threshold"]``."""
    _check_lengths(len(labels), weights.n_rows, trained, statistics)
    _require_finite(path, labels, weights)
    with create_artifact(path, KIND, parameters, inputs) as file:
        create_array(file, "labels", np.asarray(labels, np.int32))
        create_array(file, "trained", np.asarray(trained, bool))
        write_csr(file.create_group("weights"), weights)
        write_statistics(file.create_group("statistics"), statistics)
        file.attrs["core_seconds"] = float(core_seconds)
        file.attrs["peak_rss_bytes"] = int(peak_rss_bytes)


def _require_finite(path, labels, weights):
    finite = np.isfinite(weights.data)
    if not finite.all():
        row = np.searchsorted(weights.indptr, finite.argmin(), "right") - 1
        raise InputError(
            f"not written: a weight of label {labels[row]} is {weights.data[finite.argmin()]}",
            path=path,
            remedy="scale the features, or lower C",
        )


def read_shard(path):
    with open_artifact(path, KIND) as file:
        shard = Shard(
            path=Path(path),
            labels=map_vector(file["labels"], np.int32, 0),
            weights=read_csr(file["weights"]),
            trained=map_vector(file["trained"], bool),
            statistics=read_statistics(file["statistics"]),
            core_seconds=amount_of(file),
            peak_rss_bytes=number_of(file, "peak_rss_bytes", 0),
            parameters=parameters_of(file),
            inputs=inputs_of(file),
            checksum=checksum_of(file),
        )
        try:
            _check_lengths(len(shard.labels), shard.weights.n_rows, shard.trained, shard.statistics)
        except ValueError as error:
            raise damaged(file, error) from None
    return shard


def read_weights(path, known):
    """Weights of a shard file; if its checksum is the one known, it has been read before and is not compared again."""
    with open_artifact(path, KIND) as file:
        return read_csr(file["weights"], compare=checksum_of(file) != known)


def write_statistics(group, statistics):
    for name, dtype in STATISTICS.items():
        create_array(group, name, np.asarray(statistics[name], dtype))


def read_statistics(group):
    return {name: map_vector(group[name], dtype) for name, dtype in STATISTICS.items() if name in group}


def _check_lengths(n_labels, n_rows, trained, statistics):
    missing = sorted(set(STATISTICS) - set(statistics))
    unknown = sorted(set(statistics) - set(STATISTICS))
    if missing or unknown:
        raise ValueError(f"statistics missing: {missing}, unknown: {unknown}")
    lengths = {"weights": n_rows, "trained": len(trained)} | {name: len(array) for name, array in statistics.items()}
    wrong = {name: length for name, length in lengths.items() if length != n_labels}
    if wrong:
        raise ValueError(f"{n_labels} labels, but lengths {wrong}")
