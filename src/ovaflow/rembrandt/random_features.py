"""Random cosine features: inner products that approximate a kernel (Rahimi and Recht 2007)."""

from typing import NamedTuple

import numpy as np

from ovaflow.rembrandt.blocks import row_blocks

MAPS = ("gaussian", "laplacian")
"""Kernels exp(-|x - y|_2^2 / 2 h^2) and exp(-|x - y|_1 / h), with h the bandwidth."""

BANDWIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Candidates, as shares of the median distance of two instances."""

_ROWS = 1024
_SAMPLE = 4000
_SHRINKAGE = 1e-3


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


def draw_features(kernel, k, size, bandwidth, seed=0):
    """Frequencies normal for the Gaussian kernel, Cauchy for the Laplacian; one draw, scaled by bandwidth."""
    generator = np.random.default_rng(seed)
    draw = generator.standard_normal if kernel == "gaussian" else generator.standard_cauchy
    frequencies = draw((k, size)) / bandwidth
    return RandomFeatures(frequencies.astype(np.float32), generator.uniform(0, 2 * np.pi, size).astype(np.float32))


def choose_bandwidth(kernel, Z, targets, size, seed=0):
    """Bandwidth with which least squares on features predicts ``targets(rows)`` of held-out instances best."""
    generator = np.random.default_rng(seed)
    rows = generator.choice(len(Z), min(len(Z), _SAMPLE), replace=False)
    train, held_out = rows[len(rows) // 4 :], rows[: len(rows) // 4]
    scale = _median_distance(kernel, Z[train])
    errors = {}
    for share in BANDWIDTHS:
        features = draw_features(kernel, Z.shape[1], min(size, 1000), share * scale, seed)
        errors[share] = _held_out_error(features(Z[train]), targets(train), features(Z[held_out]), targets(held_out))
    return min(errors, key=errors.get) * scale


def _median_distance(kernel, Z):
    pairs = np.abs(Z[: len(Z) // 2] - Z[len(Z) // 2 : 2 * (len(Z) // 2)])
    distances = pairs.sum(axis=1) if kernel == "laplacian" else np.sqrt(np.square(pairs).sum(axis=1))
    return float(np.median(distances)) or 1.0


def _held_out_error(train, train_targets, held_out, held_out_targets):
    train, held_out = train.astype(np.float64), held_out.astype(np.float64)
    gram = train.T @ train
    gram.flat[:: len(gram) + 1] += _SHRINKAGE * np.trace(gram) / len(gram)
    fitted = np.linalg.solve(gram, train.T @ train_targets)
    return float(np.square(held_out @ fitted - held_out_targets).sum())


def map_rows(features, Z, out, each=map):
    """Fill the first D columns of ``out`` with the features of all instances, block by block."""
    size = len(features.phases)

    def fill(rows):
        out[rows, :size] = features(Z[rows])

    for _ in each(fill, row_blocks(len(Z), _ROWS)):
        pass
