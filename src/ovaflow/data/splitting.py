"""Which records of texts are for testing where there is no test file: a first pass over them."""

from zlib import crc32

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.hold_out import held_out_together
from ovaflow.data.normalize import row_blocks
from ovaflow.data.tokens import Numbers
from ovaflow.sparse.csr import CSR


def set_aside(records, n, settings):
    """Which of the first n records are for testing, as the settings want: bool (n,)."""
    if settings.split == "last":
        times = records.times[:n]
        if settings.split_column and set(times) <= {None}:
            message = f"no record has a value in the column {settings.split_column}"
            raise InputError(message, remedy="choose another split_column")
        return last(settings.test_fraction, times)
    X = rows_of_tokens(records.tokens.part(0, n))
    groups = None if records.groups is None else records.groups[:n]
    held = held_out_together(X, records.hashes[:n], settings.test_fraction, groups)
    if settings.group_column and (held.all() or not held.any()):
        message = f"{held.sum():,} of {len(held):,} records would be for testing with this group_column"
        raise InputError(message, remedy="choose a column with more values")
    return held


def last(fraction, times):
    """Which records are among the last of their times; those without a time (None) are the first."""
    # near twins and groups are parted: new records, too, are new editions of old ones
    order = np.argsort([-np.inf if time is None else time for time in times], kind="stable")
    held = np.zeros(len(times), bool)
    held[order[len(times) - round(fraction * len(times)) :]] = True
    return held


def group_numbers():
    """Numbers of groups by their names; -1 for the empty name."""
    return Numbers({"": -1})


def rows_of_tokens(tokens):
    """The different tokens of each text as numbers."""
    indices, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    # 31 bits: int32 without a sign
    words = ((word or "").encode("utf-8", "surrogatepass") for word in tokens.words)
    hashes = np.fromiter((crc32(word) >> 1 for word in words), np.int64, len(tokens.words))
    for low, high in row_blocks(tokens.indptr, _TOKENS):
        part = tokens.part(low, high)
        rows = np.repeat(np.arange(high - low), np.diff(part.indptr))
        rows, different = np.divmod(np.unique((rows << 31) + hashes[part.ids]), 1 << 31)
        indices.append(different.astype(np.int32))
        lengths.append(np.bincount(rows, minlength=high - low))
    indptr = np.cumsum(np.concatenate(lengths))
    return CSR(np.empty(0, np.float32), np.concatenate(indices), indptr, 1 << 31)


_TOKENS = 1 << 20
"""Tokens that are worked on together."""
