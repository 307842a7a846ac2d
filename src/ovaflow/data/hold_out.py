"""Instances set aside by a hash of their content: repeated ones and near twins stay together."""

import hashlib
from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.near_twins import near_twins
from ovaflow.sparse.csr import CSR, NOWHERE, offsets

SHORTEST = 8
"""Tokens of the shortest text that is cut."""

_GOLDEN = 0.6180339887498949
"""Multiples of it spread evenly over 0 to 1."""


def in_test(content, fraction, seed=0):
    """Whether a text, or bytes, is set aside: by its hash, so that repeated ones stay together."""
    return hash_of(content, seed) < fraction * 2.0**64


def hash_of(content, seed):
    """A number of 64 bits."""
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

    hashes = (hash_of(content(row), seed) for row in range(X.n_rows))
    return np.fromiter(hashes, np.uint64, X.n_rows)


def held_out_with_twins(X, fraction, seed=0, numbers=None):
    """The same for near twins, and rows with the same number, by the features of one of them."""
    return held_out_together(X, _hashes(X, seed), fraction, numbers)


def held_out_together(X, hashes, fraction, numbers=None):
    """The same by hashes of the rows' content; rows of the same hash stay together, too."""
    groups = near_twins(X, hashes, numbers)
    # by the last bytes, which do not say what is set aside; the last assignment of a group stays
    order = np.argsort(hashes.byteswap(), kind="stable")[::-1]
    representatives = np.arange(X.n_rows)
    representatives[groups[order]] = order
    return (hashes < fraction * 2.0**64)[representatives[groups]]


def cut_some(split, normalized):
    """Texts of which each third ends early, as titles alone do: log-uniformly from :data:`SHORTEST` tokens on."""
    X, n = split.X, split.X.n_rows
    if X.places is None:
        return split
    rows, words = np.repeat(np.arange(n), np.diff(X.indptr)), X.places != NOWHERE
    tokens = np.zeros(n)
    np.maximum.at(tokens, rows[words], X.places[words] + 1.0)
    shares = np.arange(n) * _GOLDEN % 1
    ends = SHORTEST * np.maximum(tokens / SHORTEST, 1) ** shares
    ends[np.arange(n) % 3 > 0] = np.inf
    kept = ~words | (X.places < ends[rows])
    data, rows, words, norms = X.data[kept], rows[kept], words[kept], split.norms
    if normalized:
        squares = np.bincount(rows[words], data[words] ** 2.0, n)
        lengths = np.sqrt(np.where(squares > 0, squares, 1))
        data = np.where(words, data / lengths[rows], data).astype(np.float32)
        norms = (norms * lengths).astype(np.float32)
    indptr = offsets(np.bincount(rows, minlength=n))
    X = CSR(data, X.indices[kept], indptr, X.n_columns, X.places[kept])
    return replace(split, X=X, norms=norms)


def hold_out(dataset, fraction, seed=0):
    """A dataset whose test set is a share of the training set, its training set the rest."""
    held = np.zeros(dataset.train.X.n_rows, bool)
    n = dataset.n_documents
    texts = dataset.train.X.part(0, n)
    held[:n] = held_out_with_twins(texts, fraction, seed, dataset.train.groups)
    if held.all() or not held.any():
        message = f"{held.sum():,} of {len(held):,} training instances would be held out"
        raise InputError(message, path=dataset.path, remedy="more instances or another fraction")
    tested = held
    if dataset.train.extra is not None:
        # of extra instances a share is left out of training, too, near twins of held-out ones with them
        tested = held & ~dataset.train.extra
    train, test = (dataset.train.take(np.flatnonzero(rows)) for rows in (~held, tested))
    test = cut_some(test, dataset.parameters.get("normalize", False))
    settings = dataset.parameters | {"held_out": {"of": dataset.checksum, "fraction": fraction, "seed": seed}}
    return replace(dataset, train=train, test=test, checksum="", parameters=settings)
