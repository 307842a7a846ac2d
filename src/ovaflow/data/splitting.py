"""Which records of texts are for testing where there is no test file: a first pass over them."""

from array import array
from zlib import crc32

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.hold_out import hash_of, hash_of_empty, held_out_together
from ovaflow.data.readers.texts import FIELD
from ovaflow.data.tfidf import GrowingVector
from ovaflow.data.tokens import Numbers, tokens_in_batches
from ovaflow.sparse.csr import CSR


def set_aside(instances, settings, threads=1, folder=None):
    """Which instances are for testing, as the settings want: bool (n,)."""
    if settings.split == "last":
        times = [instance.time for instance in instances]
        if settings.split_column and set(times) <= {None}:
            message = f"no record has a value in the column {settings.split_column}"
            raise InputError(message, remedy="choose another split_column")
        return last(settings.test_fraction, times)
    hashes, groups, numbers = array("Q"), array("q"), group_numbers()

    def texts():
        for instance in instances:
            hashes.append(hash_of(instance.text.replace(FIELD, " "), settings.seed))
            groups.append(numbers[instance.group])
            yield instance.text

    X, sets = rows_of_tokens(texts(), threads, folder)
    hashes, groups = np.array(hashes, np.uint64), np.array(groups, np.int64)
    for row in np.flatnonzero(np.diff(X.indptr) == 0).tolist():
        hashes[row] = hash_of_empty(row, settings.seed)
    held = held_out_together(X, hashes, settings.test_fraction, sets, groups)
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


def rows_of_tokens(texts, threads=1, folder=None):
    """The different tokens of each text as numbers, in 4 bytes each, and :func:`word_sets`.

    With a folder tokens are mapped from there.
    """
    indices, lengths, sets = GrowingVector(np.int32, folder), [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
    for tokens in tokens_in_batches(texts, threads=threads, title="comparing texts", sets=sets):
        words = (word.encode("utf-8", "surrogatepass") for word in tokens.words)
        # 31 bits: int32 without a sign
        hashes = np.fromiter((crc32(word) >> 1 for word in words), np.int64, len(tokens.words))
        n = len(tokens.indptr) - 1
        rows = np.repeat(np.arange(n), np.diff(tokens.indptr))
        rows, different = np.divmod(np.unique((rows << 31) + hashes[tokens.ids]), 1 << 31)
        indices.extend(different)
        lengths.append(np.bincount(rows, minlength=n))
    indptr = np.cumsum(np.concatenate(lengths))
    return CSR(np.empty(0, np.float32), indices.mapped(), indptr, 1 << 31), np.concatenate(sets)
