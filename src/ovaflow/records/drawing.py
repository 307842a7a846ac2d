"""Records drawn for testing by a hash of their content, or at random; those of a unit together."""

import hashlib

import numpy as np

from ovaflow.sparse.csr import count_row_nonzeros


def is_drawn_for_test(content, fraction, seed=0):
    """Whether a text, or bytes, is set aside: by its hash, so that repeated ones stay together."""
    return hash_content(content, seed) < fraction * 2.0**64


def hash_content(content, seed):
    """A number of 64 bits for a text, or bytes."""
    block = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    salt = seed.to_bytes(16, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(block, digest_size=8, salt=salt).digest(), "little")


def hash_empty_row(row, seed):
    """A number of 64 bits for a row without content, which is no copy of others."""
    return hash_content(row.to_bytes(8, "little"), seed)


def hash_rows(X, seed=0, bias_feature=-1):
    """A number of 64 bits for the features of each row: uint64 (n,)."""
    ends = X.indptr
    is_empty = count_row_nonzeros(X) <= (bias_feature >= 0)

    def hash_of_row(row):
        if is_empty[row]:
            return hash_empty_row(row, seed)
        entries = slice(ends[row], ends[row + 1])
        return hash_content(X.indices[entries].tobytes() + X.data[entries].tobytes(), seed)

    return np.fromiter(map(hash_of_row, range(X.n_rows)), np.uint64, X.n_rows)


def is_far_from_share(held, n, fraction):
    """Whether so many of n rows are a quarter more or less than the share, beyond chance, or all or
    none of them.
    """
    asked = fraction * n
    if held in (0, n):
        return 0 < round(asked) < n
    return abs(held - asked) > max(min(asked, n - asked) / 4, 3 * (asked * (1 - fraction)) ** 0.5)


def draw_at_random(units, fraction, seed=0):
    """Return which rows are drawn at random, those of a unit together: bool (n,); units are their
    first rows.

    Shares (m, 1) give bool (m, n): what a share draws, a larger one does, too.
    """
    n = len(units)
    places = np.empty(n)
    places[np.argsort(np.random.default_rng(seed).permutation(n)[units], kind="stable")] = (
        np.arange(n)
    )
    middles = np.bincount(units, places) / np.maximum(np.bincount(units), 1)
    return middles[units] + 0.5 <= fraction * n


def draw_by_hash(units, hashes, fraction):
    """Return which rows are drawn by the hash of one row of each unit: bool (n,); units are their
    first rows.
    """
    # by the last bytes, which do not say what is drawn; the last assignment of a unit stays
    order = np.argsort(hashes.byteswap(), kind="stable")[::-1]
    representatives = np.arange(len(units))
    representatives[units[order]] = order
    return (hashes < fraction * 2.0**64)[..., representatives[units]]
