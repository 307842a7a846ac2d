"""Which records are for testing where there is no test file."""

from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.features.tokens import Numbering
from ovaflow.reading.formats import FORMATS
from ovaflow.records.drawing import (
    draw_at_random,
    draw_by_hash,
    hash_empty_row,
    hash_rows,
    is_far_from_share,
)
from ovaflow.records.near_twins import MIN_COMMON_FEATURES
from ovaflow.records.units import hash_distinct_words
from ovaflow.sparse.csr import count_row_nonzeros

_RECURRING = 0.2
"""Share of records whose short text others have, too, from which on a remark is made."""


class RecordSplit(NamedTuple):
    """Which records are for training, testing and validation: bool (n,); and what the log should
    say about it.
    """

    train: np.ndarray
    test: np.ndarray
    counts: dict
    dev: np.ndarray | None = None  # None where there are none


def split_records(records, n, settings):
    """Divide the first n records of texts as the settings want."""
    times = records.column("time")[:n]
    column = settings.split_column
    if column and settings.split != "last" and FORMATS[settings.format].has_columns:
        return _as_told(records.texts("part")[:n], column)
    if column and settings.split == "last" and np.isnan(times).all():
        raise InputError(
            f"no record has a value in the column {column}", remedy="choose another split_column"
        )

    word_sets = records.word_sets[:n]

    def hashes():
        hashes = records.column("text_hash")[:n]
        for row in np.flatnonzero(word_sets < 0).tolist():
            hashes[row] = hash_empty_row(row, settings.seed)
        return hashes

    Y = records.labels.take(np.arange(n)).given()
    division = _divided(records.units[:n], times, hashes, Y, settings)
    if settings.split in ("together", "stratified"):
        recurring = _count_short_copies(records.tokens, word_sets)
        if recurring > _RECURRING * n:
            division.counts["short_copies"] = recurring
    if (
        settings.group_column
        and settings.split != "last"
        and (division.train.all() or division.test.all())
    ):
        message = (
            f"{division.test.sum():,} of {n:,} records would be for testing with this group_column"
        )
        raise InputError(message, remedy="choose a column with more values")
    return division


def split_rows(X, Y, units, settings):
    """Divide rows of ready-made features."""
    return _divided(
        units, np.full(X.n_rows, np.nan), lambda: hash_rows(X, settings.seed), Y, settings
    )


def _divided(units, times, hashes, Y, settings):
    """Divide records, given their units; ``hashes`` gives a number of 64 bits for each."""
    fraction = settings.test_fraction
    seed = settings.seed
    counts = {}
    if settings.split == "last":
        held = hold_out_last(fraction, times)
        return RecordSplit(~held, held, counts)
    if settings.split == "random":
        held = draw_at_random(units, fraction, seed)
    elif settings.split == "stratified":
        held, without, labels = hold_out_stratified(units, Y.to_scipy(), fraction, seed)
        if without:
            counts = {"labels_without_a_test_record": without, "labels_of_several_records": labels}
    else:
        held = draw_by_hash(units, hashes(), fraction)
    amount = int(np.count_nonzero(held))
    n = len(held)
    if is_far_from_share(amount, n, fraction):
        counts |= {"set_aside": amount, "set_aside_of": n, "to_be_set_aside": round(fraction * n)}
        counts["largest_part_kept_together"] = int(np.bincount(units).max())
    return RecordSplit(~held, held, counts)


def _as_told(parts, column):
    parts = np.array(parts, object)
    train, test, dev = (parts == name for name in ("train", "test", "dev"))
    for name, records in ("train", train), ("test", test):
        if not records.any():
            remedy = "mark some in it, give a test file, or leave out split_column"
            raise InputError(f"no record is {name} in the column {column}", remedy=remedy)
    return RecordSplit(train, test, {}, dev if dev.any() else None)


def hold_out_last(fraction, times):
    """Which records are among the last of their times; those without a time (nan) are the first."""
    # near twins and groups are parted: new records, too, are new editions of old ones
    order = np.argsort(np.where(np.isnan(times), -np.inf, times), kind="stable")
    held = np.zeros(len(times), bool)
    held[order[len(times) - round(fraction * len(times)) :]] = True
    return held


def hold_out_stratified(groups, Y, fraction, seed):
    """Which records are set aside, so that rare labels are on both sides; labels without a test
    record, and labels.

    Labels take one group of records that stay together for testing in turn, the rarest first, and
    then their share, as in iterative stratification (Sechidis et al. 2011); never the last one of
    another label. Only labels of two groups or more count.
    """
    n = len(groups)
    random = np.random.default_rng(seed)
    _, units, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    members = scipy.sparse.csr_array((np.ones(n), (units, np.arange(n))), shape=(len(sizes), n))
    labels = scipy.sparse.csr_array(members @ Y)
    of_label = scipy.sparse.csr_array(labels.T)
    amounts = np.diff(of_label.indptr)
    several = amounts > 1
    tested = np.zeros(len(amounts), np.int64)
    most = amounts - several
    held = np.zeros(len(sizes), bool)
    places = random.permutation(len(sizes))
    room = round(fraction * n)

    def take(candidates, amount) -> None:
        nonlocal room
        for unit in candidates[np.argsort(places[candidates])].tolist():
            if room == 0 or amount < 1:
                return
            its = labels.indices[labels.indptr[unit] : labels.indptr[unit + 1]]
            if not held[unit] and sizes[unit] <= room and (tested[its] < most[its]).all():
                held[unit] = True
                room = room - sizes[unit]
                amount = amount - 1
                tested[its] += 1

    rarest_first = np.lexsort((random.permutation(len(amounts)), amounts)).tolist()
    for wanted in (several, several * np.rint(fraction * amounts)):
        for label in rarest_first:
            take(
                of_label.indices[of_label.indptr[label] : of_label.indptr[label + 1]],
                wanted[label] - tested[label],
            )
    take(np.arange(len(sizes)), len(sizes))
    return (
        held[units],
        int(np.count_nonzero(several & (tested == 0))),
        int(np.count_nonzero(several)),
    )


def _count_short_copies(tokens, sets):
    """Count the records that have a short text whose words another record has, too."""
    _, numbers, amounts = np.unique(sets, return_inverse=True, return_counts=True)
    copies = np.flatnonzero((amounts[numbers] > 1) & (sets >= 0))
    n_words = count_row_nonzeros(hash_distinct_words(tokens.take(copies)))
    return int(np.count_nonzero(n_words < MIN_COMMON_FEATURES))


def make_group_numbers():
    """Numbers of groups by their names; -1 for the empty name."""
    return Numbering({"": -1})
