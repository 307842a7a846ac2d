"""Units: records that every split keeps together, such as copies, near twins and groups."""

from zlib import crc32

import numpy as np

from ovaflow.features.normalize import is_dense, iterate_row_blocks
from ovaflow.features.tokens import Tokens
from ovaflow.records.drawing import hash_rows
from ovaflow.records.near_twins import group_equal_rows, group_near_twins
from ovaflow.sparse.csr import CSR, count_row_nonzeros

_BLOCK_TOKENS = 1 << 20
"""Tokens that are processed together."""


def find_text_units(
    tokens: Tokens, word_sets: np.ndarray, groups: np.ndarray, split: str
) -> np.ndarray:
    """Find the first record of each record's unit: int64 (n,).

    Parameters
    ----------
    tokens : Tokens
        Tokens of n texts.
    word_sets : int64 (n,)
        Numbers that texts of the same words have in common; -1 without a word.
    groups : int64 (n,)
        Numbers that records of a group have in common; -1 for none.
    split : str
        ``"random"`` keeps only groups together.
    """
    if split == "random":
        return group_equal_rows(groups)
    return group_near_twins(hash_distinct_words(tokens), word_sets, groups)


def find_feature_units(X: CSR, bias_feature: int = -1, *, split: str = "together") -> np.ndarray:
    """Find the first row of each row's unit: int64 (n,)."""
    if split == "random":
        return np.arange(X.n_rows)
    copies = number_copies(X, bias_feature)
    # rows of dense features have all features in common
    if is_dense(X):
        return group_equal_rows(copies)
    return group_near_twins(X, copies)


def select_units(units: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Find the first of some rows of each one's unit, by its place among them: int64 (m,)."""
    _, firsts, numbers = np.unique(units[rows], return_index=True, return_inverse=True)
    return firsts[numbers]


def number_copies(X: CSR, bias_feature: int = -1, fewest: int = 1) -> np.ndarray:
    """Assign numbers to rows by their features, the same to copies: int64 (n,).

    Parameters
    ----------
    X : CSR (n, d)
    bias_feature : int
        The feature of the bias, -1 for none.
    fewest : int
        Rows of fewer features besides the bias have the number -1.
    """
    n_bias_features = 1 if bias_feature >= 0 else 0
    copies = (hash_rows(X, 0, bias_feature) >> np.uint64(1)).astype(np.int64)
    copies[count_row_nonzeros(X) < fewest + n_bias_features] = -1
    return copies


def hash_distinct_words(tokens: Tokens) -> CSR:
    """Hash the distinct words of each text: CSR (n, 2^31) without values."""
    indices = [np.empty(0, np.int32)]
    lengths = [np.zeros(1, np.int64)]
    # 31 bits: int32 without a sign
    words = ((word or "").encode("utf-8", "surrogatepass") for word in tokens.words)
    hashes = np.fromiter((crc32(word) >> 1 for word in words), np.int64, len(tokens.words))
    for low, high in iterate_row_blocks(tokens.indptr, _BLOCK_TOKENS):
        part = tokens.part(low, high)
        rows = np.repeat(np.arange(high - low), np.diff(part.indptr))
        pairs = np.unique((rows << 31) + hashes[part.ids])
        rows, distinct = np.divmod(pairs, 1 << 31)
        indices.append(distinct.astype(np.int32))
        lengths.append(np.bincount(rows, minlength=high - low))
    indptr = np.cumsum(np.concatenate(lengths))
    return CSR(np.empty(0, np.float32), np.concatenate(indices), indptr, 1 << 31)
