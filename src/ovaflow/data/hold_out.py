"""Training instances set aside: a dataset whose training set is the rest, and whose test set are they."""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split
from ovaflow.data.split import in_test
from ovaflow.sparse.csr import rows_of


def hold_out(dataset, fraction, seed=0):
    """Divide the training instances of a dataset; its test instances are left out.

    Parameters
    ----------
    dataset : Dataset
    fraction : float
        Expected share of the training instances that is held out. Decided by a
        hash of the features: repeated instances stay together.
    seed : int
        Another seed, other instances.

    Returns
    -------
    Dataset
        In memory. Labels and features are those of ``dataset``; labels whose
        positives are all held out have none in its training set. Its parameter
        ``held_out`` says ``of`` which dataset, by checksum, the ``fraction`` and ``seed``.

    Raises
    ------
    InputError
        If no instance is held out, or none is left.
    """
    held = held_out(dataset.train.X, fraction, seed)
    if held.all() or not held.any():
        raise InputError(
            f"{held.sum():,} of {len(held):,} training instances would be held out",
            path=dataset.path,
            remedy="more instances or another fraction",
        )
    parts = [
        Split(rows_of(dataset.train.X, rows), rows_of(dataset.train.Y, rows))
        for rows in (np.flatnonzero(~held), np.flatnonzero(held))
    ]
    settings = dataset.parameters | {"held_out": {"of": dataset.checksum, "fraction": fraction, "seed": seed}}
    return replace(dataset, train=parts[0], test=parts[1], checksum="", parameters=settings)


def held_out(X, fraction, seed=0):
    """Which instances are held out.

    Parameters
    ----------
    X : CSR, shape (n, d)
    fraction : float
    seed : int

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    ends = X.indptr

    def content(row):
        entries = slice(ends[row], ends[row + 1])
        return X.indices[entries].tobytes() + X.data[entries].tobytes()

    return np.fromiter((in_test(content(row), fraction, seed) for row in range(X.n_rows)), bool, X.n_rows)
