"""The features of the decoder, made from those of the instances (Algorithm 3, lines 4 and 5).

phi may be random cosine features, whose inner products approximate a kernel (Rahimi and Recht
2007). The projected training set is a dataset file of few dense features without test instances,
on which the decoder is trained.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import h5py
import numpy as np

from ovaflow.dataset.dataset import DATASET_KIND, Dataset, Split, open_dataset
from ovaflow.methods.rembrandt.embedding import Embedding
from ovaflow.methods.rembrandt.panels import (
    Map,
    from_panels,
    make_row_blocks,
    multiply_panels,
    parallel_map,
    run_blocks,
    to_panels,
)
from ovaflow.methods.rembrandt.settings import ProjectInstances
from ovaflow.sparse.csr import CSR, from_dense, select_rows
from ovaflow.storage.arrays import write_csr, write_strings
from ovaflow.storage.artifact import NOT_STORED, Artifact

BANDWIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Candidates for the bandwidth, relative to the median distance of two instances."""

SOFTMAX = "softmax"
"""The decoder of instances with one label each."""

_RANDOM_FEATURE_ROWS = 1024
"""Rows of a block for which random features are computed."""

_SQUARE_ROWS = 4096
"""Rows of a block whose squares are summed."""

_BANDWIDTH_SAMPLE = 4000
"""Instances on which the bandwidth is chosen, at most."""

_BANDWIDTH_FEATURES = 1000
"""Random features with which the bandwidth is chosen, at most."""

_BANDWIDTH_RIDGE = 1e-3
"""Ridge with which bandwidths are compared, relative to the mean diagonal entry of the Gram matrix.
"""

_SKETCH_COLUMNS = 32
"""Random sums of labels that are predicted where the labels have no embedding."""

Targets = Callable[[np.ndarray], np.ndarray]
"""Returns the targets of some instances, given by their rows, by which bandwidths are compared."""


class RandomFeatures(NamedTuple):
    """Random cosine features."""

    frequencies: np.ndarray  # float32 (k, D)
    phases: np.ndarray  # float32 (D,)

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        """Compute sqrt(2 / D) cos(Z frequencies + phases): float32 (n, D)."""
        angles = Z @ self.frequencies
        angles += self.phases
        np.cos(angles, out=angles)
        angles *= np.float32(np.sqrt(2 / len(self.phases)))
        return angles


def draw_random_features(
    kernel: str, k: int, size: int, bandwidth: float, seed: int = 0
) -> RandomFeatures:
    """Draw random features of a kernel.

    With the bandwidth h, the gaussian kernel is exp(-|x - y|_2^2 / 2 h^2), and the laplacian one
    exp(-|x - y|_1 / h).

    Parameters
    ----------
    kernel : str
        ``"gaussian"`` or ``"laplacian"``.
    k : int
        Number of dimensions of the instances.
    size : int
        Number of random features, D.
    bandwidth : float
    seed : int, default=0

    Returns
    -------
    RandomFeatures
    """
    generator = np.random.default_rng(seed)
    if kernel == "gaussian":
        frequencies = generator.standard_normal((k, size))
    else:
        frequencies = generator.standard_cauchy((k, size))
    frequencies = (frequencies / bandwidth).astype(np.float32)
    phases = generator.uniform(0, 2 * np.pi, size).astype(np.float32)
    return RandomFeatures(frequencies, phases)


def choose_bandwidth(
    kernel: str, Z: np.ndarray, targets: Targets, size: int, seed: int = 0
) -> float:
    """Choose the bandwidth with which least squares predicts the targets of held-out instances
    best.

    Parameters
    ----------
    kernel : str
        ``"gaussian"`` or ``"laplacian"``.
    Z : ndarray, shape (n, k)
        Embedded instances.
    targets : callable
        Returns the targets of instances, given by their rows.
    size : int
        Number of random features.
    seed : int, default=0

    Returns
    -------
    float
    """
    generator = np.random.default_rng(seed)
    rows = generator.choice(len(Z), min(len(Z), _BANDWIDTH_SAMPLE), replace=False)
    train = rows[len(rows) // 4 :]
    held_out = rows[: len(rows) // 4]
    scale = _compute_median_distance(kernel, Z[train])
    errors = {}
    for share in BANDWIDTHS:
        random_features = draw_random_features(
            kernel, Z.shape[1], min(size, _BANDWIDTH_FEATURES), share * scale, seed
        )
        errors[share] = _compute_held_out_error(
            random_features(Z[train]),
            targets(train),
            random_features(Z[held_out]),
            targets(held_out),
        )
    return min(errors, key=errors.__getitem__) * scale


def _compute_median_distance(kernel: str, Z: np.ndarray) -> float:
    """Compute the median distance of rows of the first and the second half; 1 instead of 0."""
    half = len(Z) // 2
    differences = np.abs(Z[:half] - Z[half : 2 * half])
    if kernel == "laplacian":
        distances = differences.sum(axis=1)
    else:
        distances = np.sqrt(np.square(differences).sum(axis=1))
    return float(np.median(distances)) or 1.0


def _compute_held_out_error(
    train: np.ndarray,
    train_targets: np.ndarray,
    held_out: np.ndarray,
    held_out_targets: np.ndarray,
) -> float:
    """Fit targets by ridge regression, and sum the squared errors of held-out ones."""
    train = train.astype(np.float64)
    held_out = held_out.astype(np.float64)
    gram = train.T @ train
    gram.flat[:: len(gram) + 1] += _BANDWIDTH_RIDGE * np.trace(gram) / len(gram)
    fitted = np.linalg.solve(gram, train.T @ train_targets)
    return float(np.square(held_out @ fitted - held_out_targets).sum())


class Projection(NamedTuple):
    """The map phi(X W), with a constant 1 as last feature."""

    # float32 (ceil(k / 64), d, 64): W, scaled so that features of the training instances are of
    # about the same size
    panels: np.ndarray
    rank: int  # k
    # random features that are phi, or None for both, where phi is the identity
    frequencies: np.ndarray | None = None
    phases: np.ndarray | None = None

    @property
    def random(self) -> RandomFeatures | None:
        """The random features phi; None for the identity."""
        if self.frequencies is None or self.phases is None:
            return None
        return RandomFeatures(self.frequencies, self.phases)

    @property
    def n_features(self) -> int:
        """D, including the constant."""
        size = self.rank if self.phases is None else len(self.phases)
        return size + 1

    def features(self, X: CSR, parallel: Map = map) -> np.ndarray:
        """Compute phi(X W) and the constant: float32 (n, D)."""
        Z = from_panels(multiply_panels(X, self.panels, parallel), self.rank, np.float32)
        out = np.ones((len(Z), self.n_features), np.float32)
        random = self.random
        if random is None:
            out[:, :-1] = Z
            return out

        def fill(rows: slice) -> None:
            out[rows, :-1] = random(Z[rows])

        run_blocks(parallel, fill, make_row_blocks(len(Z), _RANDOM_FEATURE_ROWS))
        return out


def make_projection(
    X: CSR,
    embedding: Embedding,
    targets: Targets | None,
    settings: ProjectInstances,
    parallel: Map = map,
) -> Projection:
    """Scale W and draw the random features.

    After scaling, instances have about length 1 in every embedding. ``targets`` are used where a
    bandwidth has to be chosen.
    """
    rank = embedding.rank
    Z = from_panels(multiply_panels(X, embedding.projection, parallel), rank, np.float32)
    blocks = make_row_blocks(len(Z), _SQUARE_ROWS)
    squares = sum(np.square(Z[rows], dtype=np.float64).sum(axis=0) for rows in blocks)
    scale = np.sqrt(squares / len(Z))
    factors = np.where(scale > 0, 1 / (np.sqrt(rank) * np.where(scale > 0, scale, 1)), 0)
    panels = (embedding.projection * to_panels(factors[None, :])).astype(np.float32)
    if settings.features == "linear":
        return Projection(panels, rank)
    bandwidth = settings.bandwidth
    if bandwidth is None:
        assert targets is not None
        bandwidth = choose_bandwidth(
            settings.features,
            Z * factors.astype(np.float32),
            targets,
            settings.random_features,
            settings.seed,
        )
    random = draw_random_features(
        settings.features, rank, settings.random_features, bandwidth, settings.seed
    )
    return Projection(panels, rank, random.frequencies, random.phases)


@dataclass(frozen=True)
class Projected(
    Artifact, kind=DATASET_KIND, made_from=("dataset",), remedy="run `ovaflow project` again"
):
    """A dataset file of the decoder's training instances, and the projection that made it."""

    dataset: Dataset = field(metadata=NOT_STORED)  # the features of the decoder, the constant last
    projection: Projection
    core_seconds: float = field(default=0.0, kw_only=True)  # of the embedding and the projection
    peak_rss_bytes: int = field(default=0, kw_only=True)

    def store(self, file: h5py.File) -> None:
        """Write the dataset and the projection."""
        X = self.dataset.train.X
        Y = self.dataset.train.Y
        matrices = {"train/X": X, "train/Y": Y, "test/X": X.part(0, 0), "test/Y": Y.part(0, 0)}
        for name, matrix in matrices.items():
            write_csr(file.create_group(name), matrix)
        write_strings(file, "label_names", [])
        super().store(file)

    @classmethod
    def read_fields(cls, file: h5py.File) -> dict[str, Any]:
        """Read the fields of a file."""
        return {"dataset": open_dataset(file.filename), **super().read_fields(file)}

    @property
    def decoder(self) -> str:
        """``"softmax"`` or ``"logistic"``."""
        return self.parameters["decoder"]

    @property
    def features(self) -> np.ndarray:
        """The features as a dense matrix, float32 (n, D)."""
        X = self.dataset.train.X
        return X.data.reshape(X.n_rows, X.n_columns)


def project_instances(
    dataset: Dataset, embedding: Embedding, settings: ProjectInstances, threads: int = 1
) -> Projected:
    """Turn the training instances of a dataset into features of the decoder."""
    Y = dataset.train.Y
    with parallel_map(threads) as parallel:
        targets = _make_targets(Y, embedding.vectors, settings.seed)
        projection = make_projection(dataset.train.X, embedding, targets, settings, parallel)
        features = projection.features(dataset.train.X, parallel)
    split = Split(from_dense(features), Y)
    parameters = (
        {"bias": 1.0}
        | embedding.parameters
        | settings.relevant
        | {"decoder": resolve_decoder(Y, settings.decoder)}
    )
    projected = Dataset(dataset.path, split, split, "", parameters)
    inputs = {"dataset": dataset.checksum}
    return Projected(projected, projection, parameters=parameters, inputs=inputs)


def _make_targets(Y: CSR, vectors: np.ndarray, seed: int) -> Targets:
    """Return a function for the embedded labels of instances.

    Where labels were not embedded, it returns random sums of labels.
    """
    if not vectors.shape[1]:
        generator = np.random.default_rng(seed)
        vectors = generator.standard_normal((Y.n_columns, _SKETCH_COLUMNS))

    def embed_labels(rows: np.ndarray) -> np.ndarray:
        return select_rows(Y, rows).to_scipy() @ vectors

    return embed_labels


def resolve_decoder(Y: CSR, decoder: str) -> str:
    """Replace ``auto``: softmax if every instance has one label, otherwise logistic."""
    if decoder != "auto":
        return decoder
    if (np.diff(Y.indptr) == 1).all():
        return SOFTMAX
    return "logistic"
