"""The projected training set: a dataset file of few dense features, on which the decoder is trained.

It has the form of dataset.h5, so whatever reads that reads this. The labels of
the training instances go with it; there are no test instances in it.
"""

from dataclasses import dataclass

import numpy as np

from ovaflow.data.dataset import KIND, Dataset, open_dataset
from ovaflow.rembrandt.blocks import in_blocks
from ovaflow.rembrandt.projection import Projection, make_projection, read_projection, write_projection
from ovaflow.sparse.csr import CSR, rows_of
from ovaflow.storage.arrays import amount_of, number_of, write_csr, write_strings
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact

SOFTMAX, LOGISTIC = "softmax", "logistic"

_SKETCH = 32


@dataclass(frozen=True)
class Projected:
    """An open projected training set."""

    dataset: Dataset  # the features of the decoder, the constant last
    projection: Projection
    decoder: str  # ``"softmax"`` or ``"logistic"``
    source: str  # checksum of the dataset that was projected
    core_seconds: float  # of the embedding and the projection
    peak_rss_bytes: int


def project(dataset, embedding, settings, threads=1):
    """The projection of a dataset, and its training instances as features of the decoder, float32 (n, D)."""
    with in_blocks(threads) as each:
        targets = _targets(dataset.train.Y, embedding.vectors, settings.seed)
        projection = make_projection(dataset.train.X, embedding, targets, settings, each)
        return projection, projection.features(dataset.train.X, each)


def _targets(Y, vectors, seed):
    """Embedded labels of some instances; where labels were not embedded, random sums of them."""
    if not vectors.shape[1]:
        vectors = np.random.default_rng(seed).standard_normal((Y.n_columns, _SKETCH))
    return lambda rows: rows_of(Y, rows).to_scipy() @ vectors


def decoder_of(Y, asked):
    """The decoder asked for; ``auto``: softmax where every instance has one label."""
    if asked != "auto":
        return asked
    return SOFTMAX if (np.diff(Y.indptr) == 1).all() else LOGISTIC


def full_matrix(features):
    """Dense features (n, D) as a CSR that stores every entry."""
    n, d = features.shape
    return CSR(features.reshape(-1), np.tile(np.arange(d, dtype=np.int32), n), d * np.arange(n + 1, dtype=np.int64), d)


def write_projected(path, dataset, projection, features, parameters, core_seconds, peak_rss_bytes):
    X = full_matrix(features)
    empty = CSR(np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(1, np.int64), X.n_columns)
    with create_artifact(path, KIND, {"bias": 1.0, **parameters}, {"dataset": dataset.checksum}) as file:
        write_csr(file.create_group("train/X"), X)
        write_csr(file.create_group("train/Y"), dataset.train.Y)
        write_csr(file.create_group("test/X"), empty)
        write_csr(file.create_group("test/Y"), empty._replace(n_columns=dataset.n_labels))
        write_strings(file, "label_names", [])
        write_projection(file.create_group("projection"), projection)
        file.attrs["core_seconds"] = float(core_seconds)
        file.attrs["peak_rss_bytes"] = int(peak_rss_bytes)


def open_projected(path):
    dataset = open_dataset(path)
    with open_artifact(path, KIND) as file:
        projection = read_projection(file["projection"])
        source = inputs_of(file)["dataset"]
        seconds, peak = amount_of(file), number_of(file, "peak_rss_bytes", 0)
    return Projected(dataset, projection, dataset.parameters["decoder"], source, seconds, peak)
