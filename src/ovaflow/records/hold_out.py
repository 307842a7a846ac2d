"""Instances set aside by a hash of their content: repeated ones and near twins stay together."""

import hashlib
from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.features.beginnings import beginnings
from ovaflow.features.columns import of_words
from ovaflow.records.near_twins import near_twins, rows_alike
from ovaflow.sparse.csr import NOWHERE, nonzeros_of_rows

SHORTEST = 8
"""Tokens of the shortest text that is cut."""

_GOLDEN = 0.6180339887498949
"""Multiples of it spread evenly over 0 to 1."""


def in_test(content, fraction, seed=0):
    """Whether a text, or bytes, is set aside: by its hash, so that repeated ones stay together."""
    return hash_of(content, seed) < fraction * 2.0**64


def hash_of(content, seed):
    """A number of 64 bits for a text, or bytes."""
    block = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    salt = seed.to_bytes(16, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(block, digest_size=8, salt=salt).digest(), "little")


def hash_of_empty(row, seed):
    """A number of 64 bits for a row without content, which is no copy of others."""
    return hash_of(row.to_bytes(8, "little"), seed)


def hashes_of(X, seed=0, bias_feature=-1):
    """A number of 64 bits for the features of each row: uint64 (n,)."""
    ends, is_empty = X.indptr, nonzeros_of_rows(X) <= (bias_feature >= 0)

    def hash_of_row(row):
        if is_empty[row]:
            return hash_of_empty(row, seed)
        entries = slice(ends[row], ends[row + 1])
        return hash_of(X.indices[entries].tobytes() + X.data[entries].tobytes(), seed)

    return np.fromiter(map(hash_of_row, range(X.n_rows)), np.uint64, X.n_rows)


def is_far(held, n, fraction):
    """Whether so many of n rows are a quarter more or less than the share, beyond chance, or all or none of them."""
    asked = fraction * n
    if held in (0, n):
        return 0 < round(asked) < n
    return abs(held - asked) > max(min(asked, n - asked) / 4, 3 * (asked * (1 - fraction)) ** 0.5)


def drawn(numbers, fraction, seed=0):
    """Which rows are set aside at random: bool (n,); those with the same number that is not negative together.

    Shares (m, 1) give bool (m, n), as below: what a share sets aside, a larger one does, too.
    """
    n, units = len(numbers), rows_alike(numbers)
    places = np.empty(n)
    places[np.argsort(np.random.default_rng(seed).permutation(n)[units], kind="stable")] = np.arange(n)
    middles = np.bincount(units, places) / np.maximum(np.bincount(units), 1)
    return middles[units] + 0.5 <= fraction * n


def copies_of(X, bias_feature=-1, fewest=1):
    """A number of the features of each row, by which copies are told; -1 with fewer features: int64 (n,)."""
    copies = (hashes_of(X, 0, bias_feature) >> np.uint64(1)).astype(np.int64)
    copies[nonzeros_of_rows(X) < fewest + (bias_feature >= 0)] = -1
    return copies


def held_out_with_twins(X, fraction, seed=0, numbers=None, bias_feature=-1):
    """Which rows are set aside; near twins, and rows with the same number, by the features of one: bool (n,)."""
    hashes = hashes_of(X, seed, bias_feature)
    return held_by_hash(near_twins(X, hashes, numbers), hashes, fraction)


def held_out_documents(dataset, fraction, seed=0):
    """Which training instances of a dataset, names of labels apart, are set aside: bool (n,)."""
    n, groups = dataset.n_documents, dataset.train.groups
    if dataset.parameters.get("split") == "random":
        return drawn(np.full(n, -1) if groups is None else groups, fraction, seed)
    X = of_words(dataset.train.X.part(0, n), dataset.parameters)
    bias_feature = X.n_columns - 1 if dataset.bias_feature >= 0 else -1
    return held_out_with_twins(X, fraction, seed, groups, bias_feature)


def held_by_hash(groups, hashes, fraction):
    """Which rows are set aside, by the hash of one row of each group, whose rows have the number of its first."""
    # by the last bytes, which do not say what is set aside; the last assignment of a group stays
    order = np.argsort(hashes.byteswap(), kind="stable")[::-1]
    representatives = np.arange(len(groups))
    representatives[groups[order]] = order
    return (hashes < fraction * 2.0**64)[..., representatives[groups]]


def truncate_every_third(split, normalized):
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
    X, lengths = beginnings(X, ends, normalized)
    norms = (split.norms * lengths).astype(np.float32) if normalized else split.norms
    cut = split.tokens and split.tokens.beginnings(ends)
    return replace(split, X=X, norms=norms, tokens=cut)


def hold_out(dataset, fraction, seed=0):
    """A dataset whose test set is a share of the training set, its training set the rest."""
    held = np.zeros(dataset.train.X.n_rows, bool)
    held[: dataset.n_documents] = held_out_documents(dataset, fraction, seed)
    if held.all() or not held.any():
        message = f"{held.sum():,} of {len(held):,} training instances would be held out"
        raise InputError(message, path=dataset.path, remedy="more instances or another fraction")
    tested = held
    if dataset.train.extra is not None:
        # of extra instances a share is left out of training, too, near twins of held-out ones with them
        tested = held & ~dataset.train.extra
    # who fits a second stage has the names of the whole dataset
    train = replace(dataset.train, tokens=None).take(np.flatnonzero(~held))
    test = dataset.train.take(np.flatnonzero(tested))
    test = replace(test, tokens=test.tokens and test.tokens.of_used_words())
    test = truncate_every_third(test, dataset.parameters.get("normalize", False))
    settings = dataset.parameters | {"held_out": {"of": dataset.checksum, "fraction": fraction, "seed": seed}}
    return replace(dataset, train=train, test=test, dev=None, checksum="", parameters=settings)
