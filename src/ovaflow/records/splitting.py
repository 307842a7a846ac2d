"""Which records are for testing where there is no test file."""

from typing import NamedTuple
from zlib import crc32

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.features.normalize import is_dense, row_blocks
from ovaflow.features.tokens import Numbers
from ovaflow.reading.formats import FORMATS
from ovaflow.records.hold_out import drawn, hash_of_empty, hashes_of, held_by_hash, is_far
from ovaflow.records.near_twins import FEWEST, near_twins, rows_alike
from ovaflow.sparse.csr import CSR

_RECURRING = 0.2
"""Share of records whose short text others have, too, from which on a remark is made."""


class Division(NamedTuple):
    """Which records are for training, testing and validation: bool (n,); and what the log should say about it."""

    train: np.ndarray
    test: np.ndarray
    counts: dict
    dev: np.ndarray | None = None  # None where there are none


def set_aside(records, n, settings):
    """How the first n records of texts are divided, as the settings want: a :class:`Division`."""
    times, column = records.times[:n], settings.split_column
    if column and settings.split != "last" and FORMATS[settings.format].has_columns:
        return _as_told(times, column)
    if column and settings.split == "last" and set(times) <= {None}:
        raise InputError(f"no record has a value in the column {column}", remedy="choose another split_column")
    groups = np.full(n, -1) if records.groups is None else records.groups[:n]
    told = {}

    def alike():
        X, sets, hashes = rows_of_tokens(records.tokens.part(0, n)), records.sets[:n], records.hashes[:n].copy()
        for row in np.flatnonzero(np.diff(X.indptr) == 0).tolist():
            hashes[row] = hash_of_empty(row, settings.seed)
        recurring = _short_copies(X, sets)
        if recurring > _RECURRING * n:
            told["short_copies"] = recurring
        return near_twins(X, sets, groups), hashes

    division = _divided(groups, times, alike, records.labels.take(np.arange(n)).given(), settings)
    division.counts.update(told)
    if settings.group_column and settings.split != "last" and (division.train.all() or division.test.all()):
        message = f"{division.test.sum():,} of {n:,} records would be for testing with this group_column"
        raise InputError(message, remedy="choose a column with more values")
    return division


def set_rows_aside(X, Y, settings):
    """How rows of ready-made features, which know no groups, are divided."""

    def alike():
        hashes = hashes_of(X, settings.seed)
        return rows_alike(hashes) if is_dense(X) else near_twins(X, hashes), hashes

    return _divided(np.full(X.n_rows, -1), [None] * X.n_rows, alike, Y, settings)


def _divided(groups, times, alike, Y, settings):
    """The division; ``alike`` gives the first of the rows that are to stay together with each, and their hashes."""
    fraction, seed, counts = settings.test_fraction, settings.seed, {}
    if settings.split == "last":
        held = last(fraction, times)
        return Division(~held, held, counts)
    if settings.split == "random":
        held, firsts = drawn(groups, fraction, seed), rows_alike(groups)
    else:
        firsts, hashes = alike()
        if settings.split == "stratified":
            held, without, labels = stratified(firsts, Y.to_scipy(), fraction, seed)
            if without:
                counts = {"labels_without_a_test_record": without, "labels_of_several_records": labels}
        else:
            held = held_by_hash(firsts, hashes, fraction)
    amount, n = int(np.count_nonzero(held)), len(held)
    if is_far(amount, n, fraction):
        counts |= {"set_aside": amount, "set_aside_of": n, "to_be_set_aside": round(fraction * n)}
        counts["largest_part_kept_together"] = int(np.bincount(firsts).max())
    return Division(~held, held, counts)


def _as_told(parts, column):
    parts = np.array(parts, object)
    train, test, dev = (parts == name for name in ("train", "test", "dev"))
    for name, records in ("train", train), ("test", test):
        if not records.any():
            remedy = "mark some in it, give a test file, or leave out split_column"
            raise InputError(f"no record is {name} in the column {column}", remedy=remedy)
    return Division(train, test, {}, dev if dev.any() else None)


def last(fraction, times):
    """Which records are among the last of their times; those without a time (None) are the first."""
    # near twins and groups are parted: new records, too, are new editions of old ones
    order = np.argsort([-np.inf if time is None else time for time in times], kind="stable")
    held = np.zeros(len(times), bool)
    held[order[len(times) - round(fraction * len(times)) :]] = True
    return held


def stratified(groups, Y, fraction, seed):
    """Which records are set aside, so that rare labels are on both sides; labels without a test record, and labels.

    Labels take one group of records that stay together for testing in turn, the rarest first, and then their share, as
    in iterative stratification (Sechidis et al. 2011); never the last one of another label. Only labels of two groups
    or more count.
    """
    n, random = len(groups), np.random.default_rng(seed)
    _, units, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    members = scipy.sparse.csr_array((np.ones(n), (units, np.arange(n))), shape=(len(sizes), n))
    labels = scipy.sparse.csr_array(members @ Y)
    of_label = scipy.sparse.csr_array(labels.T)
    amounts = np.diff(of_label.indptr)
    several = amounts > 1
    tested, most = np.zeros(len(amounts), np.int64), amounts - several
    held, places, room = np.zeros(len(sizes), bool), random.permutation(len(sizes)), round(fraction * n)

    def take(candidates, amount):
        nonlocal room
        for unit in candidates[np.argsort(places[candidates])].tolist():
            if room == 0 or amount < 1:
                return
            its = labels.indices[labels.indptr[unit] : labels.indptr[unit + 1]]
            if not held[unit] and sizes[unit] <= room and (tested[its] < most[its]).all():
                held[unit], room, amount = True, room - sizes[unit], amount - 1
                tested[its] += 1

    rarest_first = np.lexsort((random.permutation(len(amounts)), amounts)).tolist()
    for wanted in (several, several * np.rint(fraction * amounts)):
        for label in rarest_first:
            take(of_label.indices[of_label.indptr[label] : of_label.indptr[label + 1]], wanted[label] - tested[label])
    take(np.arange(len(sizes)), len(sizes))
    return held[units], int(np.count_nonzero(several & (tested == 0))), int(np.count_nonzero(several))


def _short_copies(X, sets):
    """How many records have a short text whose words another record has, too."""
    _, numbers, amounts = np.unique(sets, return_inverse=True, return_counts=True)
    return int(np.count_nonzero((amounts[numbers] > 1) & (sets >= 0) & (np.diff(X.indptr) < FEWEST)))


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
