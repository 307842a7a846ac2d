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
    """The map phi(X W), with a constant 1 as last feature.

    Attributes
    ----------
    panels : ndarray of float32, shape (ceil(k / 64), d, 64)
        W, scaled so that features of the training instances are of about the same size.
    rank : int
        k.
    random : RandomFeatures or None
        phi; None is the identity.
    """

    panels: np.ndarray
    rank: int
    random: RandomFeatures | None = None

    @property
    def n_features(self):
        """D, the constant included."""
        return (self.rank if self.random is None else len(self.random.phases)) + 1

    def features(self, X, each=map):
        """Bring instances into the decoder's space.

        Parameters
        ----------
        X : CSR, shape (n, d)
        each : callable
            Such as :func:`ovaflow.rembrandt.blocks.in_blocks` gives.

        Returns
        -------
        ndarray of float32, shape (n, D)
        """
        Z = from_panels(product(X, self.panels, each), self.rank, np.float32)
        out = np.ones((len(Z), self.n_features), np.float32)
        if self.random is None:
            out[:, :-1] = Z
        else:
            map_rows(self.random, Z, out, each)
        return out


def make_projection(X, embedding, targets, settings, each=map):
    """Scale W, and draw the random features.

    Each dimension is divided by the root mean square of the training instances
    in it, and all by the square root of k, so that instances have about length
    1, as they have before: the regularisation of the decoder then means the
    same for all embeddings and ranks.

    Parameters
    ----------
    X : CSR, shape (n, d)
        Training instances.
    embedding : Embedding
    targets : callable
        The embedded labels of some instances, by their numbers; for the bandwidth.
    settings : Project
    each : callable

    Returns
    -------
    Projection
    """
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
    """Store a projection.

    Parameters
    ----------
    group : h5py.Group
    projection : Projection
    """
    create_array(group, "panels", projection.panels)
    group.attrs["rank"] = np.int64(projection.rank)
    if projection.random is not None:
        create_array(group, "frequencies", projection.random.frequencies)
        create_array(group, "phases", projection.random.phases)


def read_projection(group):
    """Projection stored by :func:`write_projection`.

    Parameters
    ----------
    group : h5py.Group

    Returns
    -------
    Projection
        Arrays are mapped.

    Raises
    ------
    InputError
        If they do not fit together.
    """
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
