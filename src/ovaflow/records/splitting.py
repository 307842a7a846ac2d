"""Division of records into training, test and dev records where there is no test file."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.features.tokens import Tokens
from ovaflow.reading.formats import FORMATS
from ovaflow.records.collected import CollectedRecords
from ovaflow.records.drawing import (
    draw_at_random,
    draw_by_hash,
    hash_empty_row,
    hash_rows,
    is_far_from_share,
)
from ovaflow.records.near_twins import MIN_COMMON_FEATURES
from ovaflow.records.units import hash_distinct_words
from ovaflow.settings.prepare import PrepareSource
from ovaflow.sparse.csr import CSR, count_row_nonzeros

_MANY_SHORT_COPIES = 0.2
"""Share of records with a short text that others have, too, above which they are counted."""


class RecordSplit(NamedTuple):
    """Masks of the training, test and dev records, bool (n,), and counts for the log."""

    train: np.ndarray
    test: np.ndarray
    counts: dict[str, Any]
    dev: np.ndarray | None = None  # None where there are none


def split_records(records: CollectedRecords, n: int, settings: PrepareSource) -> RecordSplit:
    """Divide the first n of some records of texts."""
    times = records.column("time")[:n]
    column = settings.split_column
    if column and settings.split != "last" and FORMATS[settings.format].has_columns:
        return _split_by_column(records.texts("part")[:n], column)
    if column and settings.split == "last" and np.isnan(times).all():
        raise InputError(
            f"no record has a value in the column {column}", remedy="choose another split_column"
        )
    word_sets = records.word_sets[:n]

    def get_hashes() -> np.ndarray:
        hashes = records.column("text_hash")[:n]
        for row in np.flatnonzero(word_sets < 0).tolist():
            hashes[row] = hash_empty_row(row, settings.seed)
        return hashes

    Y = records.labels.take(np.arange(n)).given()
    assert records.units is not None
    split = _split_units(records.units[:n], times, get_hashes, Y, settings)
    if settings.split in ("together", "stratified"):
        n_copies = _count_short_copies(records.tokens, word_sets)
        if n_copies > _MANY_SHORT_COPIES * n:
            split.counts["short_copies"] = n_copies
    is_one_sided = split.train.all() or split.test.all()
    if settings.group_column and settings.split != "last" and is_one_sided:
        message = (
            f"{split.test.sum():,} of {n:,} records would be for testing with this group_column"
        )
        raise InputError(message, remedy="choose a column with more values")
    return split


def split_rows(X: CSR, Y: CSR, units: np.ndarray, settings: PrepareSource) -> RecordSplit:
    """Divide rows of ready-made features."""
    no_times = np.full(X.n_rows, np.nan)
    return _split_units(units, no_times, lambda: hash_rows(X, settings.seed), Y, settings)


def _split_units(
    units: np.ndarray,
    times: np.ndarray,
    get_hashes: Callable[[], np.ndarray],
    Y: CSR,
    settings: PrepareSource,
) -> RecordSplit:
    """Divide records.

    Parameters
    ----------
    units : int64 (n,)
        The first record of each record's unit.
    times : float64 (n,)
        Times, nan for none; needed for ``split: last``.
    get_hashes : callable
        Returns uint64 (n,), a hash of each record; called for ``split: together``.
    Y : CSR (n, l)
        Labels; needed for ``split: stratified``.
    settings : PrepareSource
    """
    fraction = settings.test_fraction
    seed = settings.seed
    counts: dict[str, Any] = {}
    if settings.split == "last":
        held = hold_out_last(fraction, times)
        return RecordSplit(~held, held, counts)
    if settings.split == "random":
        held = draw_at_random(units, fraction, seed)
    elif settings.split == "stratified":
        held, n_untested, n_several = hold_out_stratified(units, Y.to_scipy(), fraction, seed)
        if n_untested:
            counts["labels_without_a_test_record"] = n_untested
            counts["labels_of_several_records"] = n_several
    else:
        held = draw_by_hash(units, get_hashes(), fraction)
    n_held = int(np.count_nonzero(held))
    n = len(held)
    if is_far_from_share(n_held, n, fraction):
        counts["set_aside"] = n_held
        counts["set_aside_of"] = n
        counts["to_be_set_aside"] = round(fraction * n)
        counts["largest_part_kept_together"] = int(np.bincount(units).max())
    return RecordSplit(~held, held, counts)


def _split_by_column(texts: Sequence[str], column: str) -> RecordSplit:
    """Divide records by a column of train, test and dev."""
    parts = np.array(texts, object)
    train = parts == "train"
    test = parts == "test"
    dev = parts == "dev"
    for name, records in (("train", train), ("test", test)):
        if not records.any():
            remedy = "mark some in it, give a test file, or leave out split_column"
            raise InputError(f"no record is {name} in the column {column}", remedy=remedy)
    return RecordSplit(train, test, {}, dev if dev.any() else None)


def hold_out_last(fraction: float, times: np.ndarray) -> np.ndarray:
    """Mark the share of records of the last times, bool (n,); those without a time are first.

    Near twins and groups are parted: new records, too, are new editions of old ones.
    """
    order = np.argsort(np.where(np.isnan(times), -np.inf, times), kind="stable")
    n = len(times)
    held = np.zeros(n, bool)
    held[order[n - round(fraction * n) :]] = True
    return held


class _Stratification:
    """Units that are held out one by one, while labels keep a unit for training.

    Parameters
    ----------
    labels : csr_array (u, l)
        Labels of each unit.
    sizes : int64 (u,)
        Number of records of each unit.
    places : int64 (u,)
        The order in which units are tried.
    n_wanted : int
        Number of records to hold out.
    """

    def __init__(
        self,
        labels: "scipy.sparse.csr_array",
        sizes: np.ndarray,
        places: np.ndarray,
        n_wanted: int,
    ) -> None:
        self._labels = labels
        self._sizes = sizes
        self._places = places
        self._n_left = n_wanted
        self.units_by_label = scipy.sparse.csr_array(labels.T)
        self.n_units = np.diff(self.units_by_label.indptr)
        self.has_several = self.n_units > 1
        # the last unit of a label of several is for training
        self._most = self.n_units - self.has_several
        self.n_held = np.zeros(len(self.n_units), np.int64)
        self.held = np.zeros(len(sizes), bool)

    def hold_out(self, candidates: np.ndarray, amount: float) -> None:
        """Hold out an amount of the candidates, or as many as labels and records allow."""
        for unit in candidates[np.argsort(self._places[candidates])].tolist():
            if self._n_left == 0 or amount < 1:
                return
            low, high = self._labels.indptr[unit : unit + 2]
            labels = self._labels.indices[low:high]
            fits = not self.held[unit] and self._sizes[unit] <= self._n_left
            if fits and (self.n_held[labels] < self._most[labels]).all():
                self.held[unit] = True
                self._n_left -= self._sizes[unit]
                amount -= 1
                self.n_held[labels] += 1

    def hold_out_of_label(self, label: int, amount: float) -> None:
        """Hold out units of a label until there is an amount of them."""
        low, high = self.units_by_label.indptr[label : label + 2]
        units = self.units_by_label.indices[low:high]
        self.hold_out(units, amount - self.n_held[label])


def hold_out_stratified(
    groups: np.ndarray, Y: "scipy.sparse.csr_array", fraction: float, seed: int
) -> tuple[np.ndarray, int, int]:
    """Hold out records so that rare labels are on both sides.

    Labels take one group of records that stay together for testing in turn, the rarest first, and
    then their share, as in iterative stratification (Sechidis et al. 2011); never the last one of
    another label. Only labels of two groups or more count.

    Parameters
    ----------
    groups : int64 (n,)
        Numbers that records of a group have in common.
    Y : csr_array (n, l)
    fraction : float
    seed : int

    Returns
    -------
    held : bool (n,)
    n_untested : int
        Number of labels of several groups without a record that is held out.
    n_several : int
        Number of labels of several groups.
    """
    n = len(groups)
    random = np.random.default_rng(seed)
    _, units, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    members = scipy.sparse.csr_array((np.ones(n), (units, np.arange(n))), shape=(len(sizes), n))
    labels = scipy.sparse.csr_array(members @ Y)
    places = random.permutation(len(sizes))
    strata = _Stratification(labels, sizes, places, round(fraction * n))
    n_units = strata.n_units
    rarest_first = np.lexsort((random.permutation(len(n_units)), n_units)).tolist()
    shares = np.where(strata.has_several, np.rint(fraction * n_units), 0)
    for label in rarest_first:
        strata.hold_out_of_label(label, 1 if strata.has_several[label] else 0)
    for label in rarest_first:
        strata.hold_out_of_label(label, shares[label])
    strata.hold_out(np.arange(len(sizes)), len(sizes))
    is_untested = strata.has_several & (strata.n_held == 0)
    n_untested = int(np.count_nonzero(is_untested))
    n_several = int(np.count_nonzero(strata.has_several))
    return strata.held[units], n_untested, n_several


def _count_short_copies(tokens: Tokens, word_sets: np.ndarray) -> int:
    """Count the records that have a short text whose words another record has, too."""
    _, numbers, amounts = np.unique(word_sets, return_inverse=True, return_counts=True)
    copies = np.flatnonzero((amounts[numbers] > 1) & (word_sets >= 0))
    n_words = count_row_nonzeros(hash_distinct_words(tokens.take(copies)))
    return int(np.count_nonzero(n_words < MIN_COMMON_FEATURES))
