"""Instances set aside by a hash of their content, so that repeated ones stay together."""

import hashlib
from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.near_twins import near_twins


def in_test(content, fraction, seed=0):
    """Whether a text, or bytes, is set aside: by its hash, so that repeated ones stay together."""
    return _hash(content, seed) < fraction * 2.0**64


def _hash(content, seed):
    block = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    salt = seed.to_bytes(16, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(block, digest_size=8, salt=salt).digest(), "little")


def held_out(X, fraction, seed=0):
    """Which instances are set aside, decided by their features: bool, shape (n,)."""
    return _hashes(X, seed) < fraction * 2.0**64


def _hashes(X, seed):
    ends = X.indptr

    def content(row):
        entries = slice(ends[row], ends[row + 1])
        return X.indices[entries].tobytes() + X.data[entries].tobytes()

    return np.fromiter((_hash(content(row), seed) for row in range(X.n_rows)), np.uint64, X.n_rows)


def held_out_with_twins(X, fraction, seed=0):
    """The same, decided for each group of near twins by the features of one of them."""
    hashes, groups = _hashes(X, seed), near_twins(X)
    # by the last bytes, which do not say what is set aside; the last assignment of a group stays
    order = np.argsort(hashes.byteswap(), kind="stable")[::-1]
    representatives = np.arange(X.n_rows)
    representatives[groups[order]] = order
    return (hashes < fraction * 2.0**64)[representatives[groups]]


def hold_out(dataset, fraction, seed=0):
    """A dataset whose test set is a share of the training set, its training set the rest."""
    held = np.zeros(dataset.train.X.n_rows, bool)
    n = dataset.n_documents
    held[:n] = held_out_with_twins(dataset.train.X.part(0, n), fraction, seed)
    if held.all() or not held.any():
        message = f"{held.sum():,} of {len(held):,} training instances would be held out"
        raise InputError(message, path=dataset.path, remedy="more instances or another fraction")
    parts = [dataset.train.take(np.flatnonzero(rows)) for rows in (~held, held)]
    settings = dataset.parameters | {"held_out": {"of": dataset.checksum, "fraction": fraction, "seed": seed}}
    return replace(dataset, train=parts[0], test=parts[1], checksum="", parameters=settings)
