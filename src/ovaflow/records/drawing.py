"""Records drawn for testing, by a hash of their content or at random; those of a unit together."""

import hashlib
from collections.abc import Iterator

import numpy as np

from ovaflow.sparse.csr import CSR, count_row_nonzeros


def is_drawn_for_test(content: str | bytes, fraction: float, seed: int = 0) -> bool:
    """Tell whether a content is for testing: by its hash, so that repeated ones stay together."""
    return hash_content(content, seed) < fraction * 2.0**64


def hash_content(content: str | bytes, seed: int) -> int:
    """Hash a content to a number of 64 bits."""
    block = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    salt = seed.to_bytes(16, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(block, digest_size=8, salt=salt).digest(), "little")


def hash_empty_row(row: int, seed: int) -> int:
    """Hash the number of a row without content, which is no copy of others."""
    return hash_content(row.to_bytes(8, "little"), seed)


def hash_rows(X: CSR, seed: int = 0, bias_feature: int = -1) -> np.ndarray:
    """Hash the features of each row: uint64 (n,).

    Parameters
    ----------
    X : CSR (n, d)
    seed : int
    bias_feature : int
        The feature of the bias, -1 for none: a row of it alone counts as empty.
    """
    n_bias_features = 1 if bias_feature >= 0 else 0
    is_empty = count_row_nonzeros(X) <= n_bias_features

    def hash_each_row() -> Iterator[int]:
        for row in range(X.n_rows):
            if is_empty[row]:
                yield hash_empty_row(row, seed)
            else:
                entries = slice(X.indptr[row], X.indptr[row + 1])
                content = X.indices[entries].tobytes() + X.data[entries].tobytes()
                yield hash_content(content, seed)

    return np.fromiter(hash_each_row(), np.uint64, X.n_rows)


def is_far_from_share(n_held: int, n: int, fraction: float) -> bool:
    """Tell whether a drawn number of n rows differs from the share by a quarter, beyond chance.

    None or all of the rows are far from a share that is neither.
    """
    expected = fraction * n
    if n_held in (0, n):
        return 0 < round(expected) < n
    quarter = min(expected, n - expected) / 4
    chance = 3 * (expected * (1 - fraction)) ** 0.5
    return abs(n_held - expected) > max(quarter, chance)


def draw_at_random(units: np.ndarray, fraction: float | np.ndarray, seed: int = 0) -> np.ndarray:
    """Draw rows at random, those of a unit together.

    Parameters
    ----------
    units : int64 (n,)
        The first row of each row's unit.
    fraction : float or (m, 1)
        Shares; what a share draws, a larger one draws, too.
    seed : int

    Returns
    -------
    bool (n,), or (m, n) for several shares
    """
    n = len(units)
    permutation = np.random.default_rng(seed).permutation(n)
    places = np.empty(n)
    places[np.argsort(permutation[units], kind="stable")] = np.arange(n)
    middles = np.bincount(units, places) / np.maximum(np.bincount(units), 1)
    return middles[units] + 0.5 <= fraction * n


def draw_by_hash(units: np.ndarray, hashes: np.ndarray, fraction: float | np.ndarray) -> np.ndarray:
    """Draw rows by the hash of one row of each unit.

    Parameters
    ----------
    units : int64 (n,)
        The first row of each row's unit.
    hashes : uint64 (n,)
    fraction : float or (m, 1)

    Returns
    -------
    bool (n,), or (m, n) for several shares
    """
    # sorted by the last bytes, which do not decide the draw; a unit's last assignment stays
    order = np.argsort(hashes.byteswap(), kind="stable")[::-1]
    representatives = np.arange(len(units))
    representatives[units[order]] = order
    return (hashes < fraction * 2.0**64)[..., representatives[units]]
