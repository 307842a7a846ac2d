"""From the features of the instances to those of the decoder (Algorithm 3, lines 4 and 5).

phi may be random cosine features, whose inner products approximate a kernel
(Rahimi and Recht 2007). The projected training set is a dataset file of few
dense features without test instances, on which the decoder is trained.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ovaflow.dataset.dataset import DATASET_KIND, Dataset, Split, open_dataset
from ovaflow.methods.rembrandt.panels import (
    from_panels,
    make_row_blocks,
    multiply_panels,
    parallel_map,
    to_panels,
)
from ovaflow.sparse.csr import from_dense, select_rows
from ovaflow.storage.arrays import write_csr, write_strings
from ovaflow.storage.artifact import NOT_STORED, Artifact

BANDWIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Candidates, as shares of the median distance of two instances."""

_MAPPED_ROWS = 1024
_SAMPLE = 4000
_SHRINKAGE = 1e-3
_ROWS = 4096
SOFTMAX = "softmax"
_SKETCH = 32


class RandomFeatures(NamedTuple):
    frequencies: np.ndarray  # float32 (k, D)
    phases: np.ndarray  # float32 (D,)

    def __call__(self, Z):
        """sqrt(2 / D) cos(Z frequencies + phases): float32 (n, D)."""
        angles = Z @ self.frequencies
        angles += self.phases
        np.cos(angles, out=angles)
        angles *= np.float32(np.sqrt(2 / len(self.phases)))
        return angles


def draw_random_features(kernel, k, size, bandwidth, seed=0):
    """Random features of exp(-|x - y|_2^2 / 2 h^2), or of exp(-|x - y|_1 / h), with h the
    bandwidth.
    """
    generator = np.random.default_rng(seed)
    draw = generator.standard_normal if kernel == "gaussian" else generator.standard_cauchy
    frequencies = draw((k, size)) / bandwidth
    return RandomFeatures(
        frequencies.astype(np.float32), generator.uniform(0, 2 * np.pi, size).astype(np.float32)
    )


def choose_bandwidth(kernel, Z, targets, size, seed=0):
    """Bandwidth with which least squares on features predicts ``targets(rows)`` of held-out
    instances best.
    """
    generator = np.random.default_rng(seed)
    rows = generator.choice(len(Z), min(len(Z), _SAMPLE), replace=False)
    train = rows[len(rows) // 4 :]
    held_out = rows[: len(rows) // 4]
    scale = _median_distance(kernel, Z[train])
    errors = {}
    for share in BANDWIDTHS:
        features = draw_random_features(kernel, Z.shape[1], min(size, 1000), share * scale, seed)
        errors[share] = _held_out_error(
            features(Z[train]), targets(train), features(Z[held_out]), targets(held_out)
        )
    return min(errors, key=errors.get) * scale


def _median_distance(kernel, Z):
    pairs = np.abs(Z[: len(Z) // 2] - Z[len(Z) // 2 : 2 * (len(Z) // 2)])
    distances = (
        pairs.sum(axis=1) if kernel == "laplacian" else np.sqrt(np.square(pairs).sum(axis=1))
    )
    return float(np.median(distances)) or 1.0


def _held_out_error(train, train_targets, held_out, held_out_targets):
    train = train.astype(np.float64)
    held_out = held_out.astype(np.float64)
    gram = train.T @ train
    gram.flat[:: len(gram) + 1] += _SHRINKAGE * np.trace(gram) / len(gram)
    fitted = np.linalg.solve(gram, train.T @ train_targets)
    return float(np.square(held_out @ fitted - held_out_targets).sum())


class Projection(NamedTuple):
    """The map phi(X W), with a constant 1 as last feature."""

    # float32 (ceil(k / 64), d, 64): W, scaled so that features of the training instances are of
    # about the same size
    panels: np.ndarray
    rank: int  # k
    frequencies: np.ndarray | None = (
        None  # of the random features that are phi; without them it is the identity
    )
    phases: np.ndarray | None = None

    @property
    def random(self):
        """phi; None is the identity."""
        return None if self.phases is None else RandomFeatures(self.frequencies, self.phases)

    @property
    def n_features(self):
        """D, the constant included."""
        return (self.rank if self.phases is None else len(self.phases)) + 1

    def features(self, X, each=map):
        """phi(X W) and the constant: float32 (n, D)."""
        Z = from_panels(multiply_panels(X, self.panels, each), self.rank, np.float32)
        out = np.ones((len(Z), self.n_features), np.float32)
        random = self.random
        if random is None:
            out[:, :-1] = Z
            return out

        def fill(rows) -> None:
            out[rows, :-1] = random(Z[rows])

        for _ in each(fill, make_row_blocks(len(Z), _MAPPED_ROWS)):
            pass
        return out


def make_projection(X, embedding, targets, settings, each=map):
    """Scale W, so that instances have about length 1 in every embedding, and draw the random
    features.
    """
    rank = embedding.rank
    Z = from_panels(multiply_panels(X, embedding.projection, each), rank, np.float32)
    blocks = make_row_blocks(len(Z), _ROWS)
    squares = sum(np.square(Z[rows], dtype=np.float64).sum(axis=0) for rows in blocks)
    scale = np.sqrt(squares / len(Z))
    factors = np.where(scale > 0, 1 / (np.sqrt(rank) * np.where(scale > 0, scale, 1)), 0)
    panels = (embedding.projection * to_panels(factors[None, :])).astype(np.float32)
    if settings.features == "linear":
        return Projection(panels, rank)
    bandwidth = settings.bandwidth
    if bandwidth is None:
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
    return Projection(panels, rank, *random)


@dataclass(frozen=True)
class Projected(
    Artifact, kind=DATASET_KIND, made_from=("dataset",), remedy="run `ovaflow project` again"
):
    """A dataset file of what the decoder is trained on, and how its features are made."""

    dataset: Dataset = field(metadata=NOT_STORED)  # the features of the decoder, the constant last
    projection: Projection
    core_seconds: float = field(default=0.0, kw_only=True)  # of the embedding and the projection
    peak_rss_bytes: int = field(default=0, kw_only=True)

    def store(self, file) -> None:
        X = self.dataset.train.X
        Y = self.dataset.train.Y
        matrices = {"train/X": X, "train/Y": Y, "test/X": X.part(0, 0), "test/Y": Y.part(0, 0)}
        for name, matrix in matrices.items():
            write_csr(file.create_group(name), matrix)
        write_strings(file, "label_names", [])
        super().store(file)

    @classmethod
    def read_fields(cls, file):
        return {"dataset": open_dataset(file.filename), **super().read_fields(file)}

    @property
    def decoder(self):
        """``"softmax"`` or ``"logistic"``."""
        return self.parameters["decoder"]

    @property
    def features(self):
        """The features in full, float32 (n, D)."""
        X = self.dataset.train.X
        return X.data.reshape(X.n_rows, X.n_columns)


def project_instances(dataset, embedding, settings, threads=1):
    """The training instances of a dataset as features of the decoder."""
    Y = dataset.train.Y
    with parallel_map(threads) as each:
        targets = _targets(Y, embedding.vectors, settings.seed)
        projection = make_projection(dataset.train.X, embedding, targets, settings, each)
        split = Split(from_dense(projection.features(dataset.train.X, each)), Y)
    parameters = (
        {"bias": 1.0}
        | embedding.parameters
        | settings.relevant
        | {"decoder": resolve_decoder(Y, settings.decoder)}
    )
    made = Dataset(dataset.path, split, split, "", parameters)
    return Projected(made, projection, parameters=parameters, inputs={"dataset": dataset.checksum})


def _targets(Y, vectors, seed):
    """Embedded labels of some instances; where labels were not embedded, random sums of them."""
    if not vectors.shape[1]:
        vectors = np.random.default_rng(seed).standard_normal((Y.n_columns, _SKETCH))
    return lambda rows: select_rows(Y, rows).to_scipy() @ vectors


def resolve_decoder(Y, decoder):
    """A decoder of the settings; ``auto``: softmax where every instance has one label."""
    if decoder != "auto":
        return decoder
    return SOFTMAX if (np.diff(Y.indptr) == 1).all() else "logistic"
