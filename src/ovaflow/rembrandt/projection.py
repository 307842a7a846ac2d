"""From the features of the instances to those of the decoder (Algorithm 3, lines 4 and 5)."""

from typing import NamedTuple

import numpy as np

from ovaflow.rembrandt.blocks import row_blocks
from ovaflow.rembrandt.panels import from_panels, product, to_panels
from ovaflow.rembrandt.random_features import RandomFeatures, choose_bandwidth, draw_features, map_rows
from ovaflow.sparse.panel import WIDTH
from ovaflow.storage.arrays import create_array, map_vector, number_of
from ovaflow.storage.damage import damaged

_ROWS = 4096


class Projection(NamedTuple):
    """The map phi(X W), with a constant 1 as last feature."""

    # float32 (ceil(k / 64), d, 64): W, scaled so that features of the training instances are of about the same
    # size
    panels: np.ndarray
    rank: int  # k
    random: RandomFeatures | None = None  # phi; None is the identity

    @property
    def n_features(self):
        """D, the constant included."""
        return (self.rank if self.random is None else len(self.random.phases)) + 1

    def features(self, X, each=map):
        """phi(X W) and the constant: float32 (n, D)."""
        Z = from_panels(product(X, self.panels, each), self.rank, np.float32)
        out = np.ones((len(Z), self.n_features), np.float32)
        if self.random is None:
            out[:, :-1] = Z
        else:
            map_rows(self.random, Z, out, each)
        return out


def make_projection(X, embedding, targets, settings, each=map):
    """Scale W, so that instances have about length 1 in every embedding, and draw the random features."""
    rank = embedding.rank
    Z = from_panels(product(X, embedding.projection, each), rank, np.float32)
    scale = np.zeros(rank)
    for rows in row_blocks(len(Z), _ROWS):
        scale += np.square(Z[rows], dtype=np.float64).sum(axis=0)
    scale = np.sqrt(scale / len(Z))
    factors = np.where(scale > 0, 1 / (np.sqrt(rank) * np.where(scale > 0, scale, 1)), 0)
    panels = (embedding.projection * to_panels(factors[None, :])).astype(np.float32)
    if settings.features == "linear":
        return Projection(panels, rank)
    bandwidth = settings.bandwidth
    if bandwidth is None:
        bandwidth = choose_bandwidth(
            settings.features, Z * factors.astype(np.float32), targets, settings.random_features, settings.seed
        )
    random = draw_features(settings.features, rank, settings.random_features, bandwidth, settings.seed)
    return Projection(panels, rank, RandomFeatures(*random))


def write_projection(group, projection):
    create_array(group, "panels", projection.panels)
    group.attrs["rank"] = np.int64(projection.rank)
    if projection.random is not None:
        create_array(group, "frequencies", projection.random.frequencies)
        create_array(group, "phases", projection.random.phases)


def read_projection(group):
    panels, rank = map_vector(group["panels"], np.float32, ndim=3), number_of(group, "rank", 1)
    random = None
    if "phases" in group:
        frequencies = map_vector(group["frequencies"], np.float32, ndim=2)
        random = RandomFeatures(frequencies, map_vector(group["phases"], np.float32))
        if frequencies.shape != (rank, len(random.phases)):
            raise damaged(group, f"{group.name}: random features of another shape")
    if (len(panels), panels.shape[2]) != (-(-rank // WIDTH), WIDTH):
        raise damaged(group, f"{group.name}: panels of another shape")
    return Projection(panels, rank, random)
