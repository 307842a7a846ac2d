"""Which records are for testing where there is no test file: for texts a first pass over them."""

from array import array
from collections import deque
from typing import NamedTuple
from zlib import crc32

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.data.hold_out import drawn, hash_of, hash_of_empty, hashes_of, held_by_hash, is_far
from ovaflow.data.near_twins import FEWEST, near_twins, rows_alike
from ovaflow.data.normalize import is_dense
from ovaflow.data.readers.texts import FIELD
from ovaflow.data.tfidf import GrowingVector
from ovaflow.data.tokens import Numbers, tokens_in_batches
from ovaflow.settings.models import COLUMN_FORMATS
from ovaflow.sparse.csr import CSR

_RECURRING = 0.2
"""Share of records whose short text others have, too, from which on a remark is made."""


class Division(NamedTuple):
    """Which records are for training and for testing: bool (n,); and what the log should say about it."""

    train: np.ndarray
    test: np.ndarray
    counts: dict


def set_aside(instances, settings, threads=1, folder=None):
    """How instances of texts are divided, as the settings want: a :class:`Division`."""
    if settings.split == "last":
        times = [instance.time for instance in instances]
        if settings.split_column and set(times) <= {None}:
            message = f"no record has a value in the column {settings.split_column}"
            raise InputError(message, remedy="choose another split_column")
        return _divided(last(settings.test_fraction, times), settings)
    if settings.split_column and settings.format in COLUMN_FORMATS:
        return _as_told([instance.time for instance in instances], settings.split_column)
    hashes, groups, numbers = array("Q"), array("q"), group_numbers()
    labels, ends, label_numbers = array("q"), array("q", [0]), Numbers()

    def texts():
        for instance in instances:
            hashes.append(hash_of(instance.text.replace(FIELD, " "), settings.seed))
            groups.append(numbers[instance.group])
            if settings.split == "stratified":
                labels.extend([label_numbers[label] for label in instance.labels])
                ends.append(len(labels))
            yield instance.text

    if settings.split == "random":
        deque(texts(), maxlen=0)
        groups = np.array(groups, np.int64)
        held = drawn(groups, settings.test_fraction, settings.seed)
        division = _divided(held, settings, rows_alike(groups))
    else:
        X, sets = rows_of_tokens(texts(), threads, folder)
        hashes = np.array(hashes, np.uint64)
        for row in np.flatnonzero(np.diff(X.indptr) == 0).tolist():
            hashes[row] = hash_of_empty(row, settings.seed)
        alike, Y = near_twins(X, sets, np.array(groups, np.int64)), None
        if settings.split == "stratified":
            parts = np.ones(len(labels)), np.array(labels), np.array(ends)
            Y = scipy.sparse.csr_array(parts, shape=(X.n_rows, len(label_numbers)))
        division = _kept_together(alike, hashes, Y, settings)
        recurring = _short_copies(X, sets)
        if recurring > _RECURRING * X.n_rows:
            division.counts["short_copies"] = recurring
    if settings.group_column and (division.train.all() or division.test.all()):
        message = f"{division.test.sum():,} of {len(groups):,} records would be for testing with this group_column"
        raise InputError(message, remedy="choose a column with more values")
    return division


def set_rows_aside(X, Y, settings):
    """The same of ready-made features, which know no groups."""
    if settings.split == "last":
        return _divided(last(settings.test_fraction, [None] * X.n_rows), settings)
    if settings.split == "random":
        return _divided(drawn(np.full(X.n_rows, -1), settings.test_fraction, settings.seed), settings)
    hashes = hashes_of(X, settings.seed)
    alike = rows_alike(hashes) if is_dense(X) else near_twins(X, hashes)
    return _kept_together(alike, hashes, Y.to_scipy(), settings)


def _divided(held, settings, groups=None):
    """The division, with counts for a remark if the share is far from the one asked for."""
    amount, n, counts = int(np.count_nonzero(held)), len(held), {}
    if is_far(amount, n, settings.test_fraction):
        counts = {"set_aside": amount, "set_aside_of": n, "to_be_set_aside": round(settings.test_fraction * n)}
        counts["largest_part_kept_together"] = int(np.bincount(groups).max())
    return Division(~held, held, counts)


def _kept_together(groups, hashes, Y, settings):
    if settings.split == "stratified":
        held, without, labels = stratified(groups, Y, settings.test_fraction, settings.seed)
        division = _divided(held, settings, groups)
        if without:
            division.counts.update(labels_without_a_test_record=without, labels_of_several_records=labels)
        return division
    return _divided(held_by_hash(groups, hashes, settings.test_fraction), settings, groups)


def _as_told(parts, column):
    parts = np.array(parts, object)
    train, test = parts == "train", parts == "test"
    for name, records in ("train", train), ("test", test):
        if not records.any():
            remedy = "mark some in it, give a test file, or leave out split_column"
            raise InputError(f"no record is {name} in the column {column}", remedy=remedy)
    dev = int(np.count_nonzero(parts == "dev"))
    return Division(train, test, {"dev_records": dev} if dev else {})


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
